//! Connections. Those that have not shown the token yet get little time and few places, and
//! newcomers displace them: they cannot keep out clients that have it.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
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
    fn lock_counts(&self) -> MutexGuard<'_, ConnectionCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection as unauthenticated; displaces the oldest such if there are too many.
    fn register(&self) -> HttpConnection {
        let displaced = CancellationToken::new();
        let mut seats = self.lock_counts();
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
        let mut seats = self.guests.lock_counts();
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

    fn is_unauthenticated(&self) -> bool {
        self.guests.lock_counts().strangers.contains_key(&self.number)
    }

    /// Waits until the connection has to be closed.
    async fn wait_until_rejected(&self) {
        tokio::select! {
            () = self.displaced.cancelled() => {}
            () = sleep(AUTHENTICATION_TIMEOUT) => if !self.is_unauthenticated() { pending().await },
        }
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        let mut seats = self.guests.lock_counts();
        let was_stranger = seats.strangers.remove(&self.number).is_some();
        if !was_stranger && !self.displaced.is_cancelled() {
            seats.known -= 1;
        }
    }
}
