//! Connections. Whoever has not shown a token yet has little time and few places, and makes room
//! for whoever comes next: nobody without one keeps out those who have it.

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

/// How many connections there are at once of those who have shown the token.
const KNOWN: usize = 256;
/// How many of those who have not.
const STRANGERS: usize = 64;
/// How long these may take to.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// How long the head of a request may take, also the next one's of a connection.
const HEAD: Duration = Duration::from_secs(30);
/// How long to wait when nothing can be accepted, because all files are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves whoever connects, until the process ends.
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
                // How a connection ends is the client's business.
                _ = builder.serve_connection(TokioIo::new(stream), service) => {}
                () = guest.is_unwelcome() => {}
            }
        });
    }
}

/// Who is connected.
#[derive(Debug, Clone, Default)]
struct Guests(Arc<Mutex<Seats>>);

#[derive(Debug, Default)]
struct Seats {
    came: u64,
    known: usize,
    /// In the order in which they came.
    strangers: BTreeMap<u64, CancellationToken>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Guests,
    number: u64,
    /// Cancelled when somebody else has taken the place.
    displaced: CancellationToken,
}

impl Guests {
    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more stranger, in the place of the first of them where there are too many.
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
    /// They have shown the token. Whether there is a place for them: else they are too many.
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

    /// Waits until they have to go.
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
