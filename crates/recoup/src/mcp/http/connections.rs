//! Connections and sessions. Connections that have not shown the token yet get little time and few
//! places, and newcomers displace them: they cannot keep out clients that have it. Sessions are
//! often not ended: beyond the limit, the least recently used are closed; idle ones are kept.

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Maximum number of authenticated connections.
const MAX_AUTHENTICATED: usize = 256;
/// Maximum number of unauthenticated connections.
const MAX_UNAUTHENTICATED: usize = 64;
/// Time limit for authentication.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for the head of each request.
const HEAD: Duration = Duration::from_secs(30);
/// Pause after a failed accept, for example when all file descriptors are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until the process ends.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let guests = ConnectionRegistry::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // Small answers must not wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let guest = Arc::new(guests.register());
        let service = TowerToHyperService::new(router.clone().layer(Extension(guest.clone())));
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
            tokio::select! {
                // Errors of a connection are the client's business.
                _ = builder.serve_connection(TokioIo::new(stream), service) => {}
                () = guest.wait_until_rejected() => {}
            }
        });
    }
}

/// The open connections.
#[derive(Debug, Clone, Default)]
struct ConnectionRegistry(Arc<Mutex<ConnectionCounts>>);

#[derive(Debug, Default)]
struct ConnectionCounts {
    came: u64,
    known: usize,
    /// In order of arrival.
    strangers: BTreeMap<u64, CancellationToken>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct HttpConnection {
    guests: ConnectionRegistry,
    number: u64,
    /// Cancelled when a newcomer has taken its place.
    displaced: CancellationToken,
}

impl ConnectionRegistry {
    /// Registers a connection as unauthenticated; displaces the oldest such if there are too many.
    fn register(&self) -> HttpConnection {
        let displaced = CancellationToken::new();
        let mut seats = self.0.lock();
        seats.came += 1;
        let number = seats.came;
        seats.strangers.insert(number, displaced.clone());
        if seats.strangers.len() > MAX_UNAUTHENTICATED
            && let Some((_, oldest)) = seats.strangers.pop_first()
        {
            oldest.cancel();
        }
        HttpConnection { guests: self.clone(), number, displaced }
    }
}

impl HttpConnection {
    /// Marks the connection as authenticated. False if there are too many of these.
    pub(super) fn admit(&self) -> bool {
        let mut seats = self.guests.0.lock();
        if !seats.strangers.contains_key(&self.number) {
            return !self.displaced.is_cancelled();
        }
        if seats.known >= MAX_AUTHENTICATED {
            return false;
        }
        seats.known += 1;
        seats.strangers.remove(&self.number);
        true
    }

    /// Waits until the connection has to be closed.
    async fn wait_until_rejected(&self) {
        tokio::select! {
            () = self.displaced.cancelled() => {}
            () = sleep(AUTHENTICATION_TIMEOUT) => {
                if !self.guests.0.lock().strangers.contains_key(&self.number) {
                    pending::<()>().await;
                }
            }
        }
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        let mut seats = self.guests.0.lock();
        let was_stranger = seats.strangers.remove(&self.number).is_some();
        if !was_stranger && !self.displaced.is_cancelled() {
            seats.known -= 1;
        }
    }
}

/// Maximum number of sessions.
const MAX_SESSIONS: usize = 64;
const SESSION_HEADER: &str = "mcp-session-id";

/// The open sessions.
#[derive(Debug, Clone)]
pub(super) struct HttpSessions {
    pub(super) manager: Arc<LocalSessionManager>,
    /// Ids, least recently used first.
    used: Arc<Mutex<VecDeque<Arc<str>>>>,
}

impl HttpSessions {
    pub(super) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = None;
        Self { manager: Arc::new(manager), used: Arc::default() }
    }

    /// Marks a session as used; headers of the request or response name it.
    pub(super) async fn mark_used(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()) else { return };
        let id: Arc<str> = id.into();
        let is_known = self.manager.has_session(&id).await.unwrap_or(false);
        let oldest = {
            let mut used = self.used.lock();
            used.retain(|other| *other != id);
            // Unknown ids must not displace sessions of ours.
            if is_known {
                used.push_back(id);
            }
            if used.len() > MAX_SESSIONS { used.pop_front() } else { None }
        };
        if let Some(oldest) = oldest {
            let _ = self.manager.close_session(&oldest).await;
        }
    }
}
