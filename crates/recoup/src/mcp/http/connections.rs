//! Connections, before anybody has shown a token: how many there are, and how long each may
//! take to say what it wants.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// How many connections there are at once; more wait until one ends.
const CONNECTIONS: usize = 256;
/// How long the head of a request may take, also the next one's of a connection.
const HEAD: Duration = Duration::from_secs(30);
/// How long to wait when nothing can be accepted, because all files are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves whoever connects, until the process ends.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // Small answers must not wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // How a connection ends is the client's business.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}
