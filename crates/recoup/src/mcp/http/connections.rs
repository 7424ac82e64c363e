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
const KNOWN: usize = 256;
/// Maximum number of unauthenticated connections.
const STRANGERS: usize = 64;
/// Time limit for authentication.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// Time limit for the head of each request.
const HEAD: Duration = Duration::from_secs(30);
/// Pause after a failed accept, for example when all file descriptors are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until the process ends.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let guests = Guests::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // Small answers must not wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let guest = Arc::new(guests.welcome());
        let service = TowerToHyperService::new(router.clone().layer(Extension(guest.clone())));
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
            tokio::select! {
                // Errors of a connection are the client's business.
                _ = builder.serve_connection(TokioIo::new(stream), service) => {}
                () = guest.is_unwelcome() => {}
            }
        });
    }
}

/// The open connections.
#[derive(Debug, Clone, Default)]
struct Guests(Arc<Mutex<Seats>>);

#[derive(Debug, Default)]
struct Seats {
    came: u64,
    known: usize,
    /// In order of arrival.
    strangers: BTreeMap<u64, CancellationToken>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Guests,
    number: u64,
    /// Cancelled when a newcomer has taken its place.
    displaced: CancellationToken,
}

impl Guests {
    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection as unauthenticated; displaces the oldest such if there are too many.
    fn welcome(&self) -> Guest {
        let displaced = CancellationToken::new();
        let mut seats = self.seats();
        seats.came += 1;
        let number = seats.came;
        seats.strangers.insert(number, displaced.clone());
        if seats.strangers.len() > STRANGERS
            && let Some((_, oldest)) = seats.strangers.pop_first()
        {
            oldest.cancel();
        }
        Guest { guests: self.clone(), number, displaced }
    }
}

impl Guest {
    /// Marks the connection as authenticated. False if there are too many of these.
    pub(super) fn is_seated(&self) -> bool {
        let mut seats = self.guests.seats();
        if !seats.strangers.contains_key(&self.number) {
            return !self.displaced.is_cancelled();
        }
        if seats.known >= KNOWN {
            return false;
        }
        seats.known += 1;
        seats.strangers.remove(&self.number);
        true
    }

    fn is_stranger(&self) -> bool {
        self.guests.seats().strangers.contains_key(&self.number)
    }

    /// Waits until the connection has to be closed.
    async fn is_unwelcome(&self) {
        tokio::select! {
            () = self.displaced.cancelled() => {}
            () = sleep(INTRODUCTION) => if !self.is_stranger() { pending().await },
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut seats = self.guests.seats();
        let was_stranger = seats.strangers.remove(&self.number).is_some();
        if !was_stranger && !self.displaced.is_cancelled() {
            seats.known -= 1;
        }
    }
}
