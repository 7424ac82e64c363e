//! Limit for HTTP/2 streams whose clients take nothing: they grant no window, so that nothing waits in the
//! socket. hyper asks a body for its next piece only when the window has room for the last one, and runs
//! each stream as a task of its own. So that task can see how long a piece has been waiting.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::{Instant, sleep};

tokio::task_local! {
    /// Time at which the body of this stream gave its last piece; none while it has none to give.
    static OFFERED: Cell<Option<Instant>>;
}

/// Notes for its stream that a body was asked for a piece, and what came of it.
pub(super) fn note_polled<T>(piece: &Poll<T>) {
    // HTTP/1 has no streams.
    let _ = OFFERED.try_with(|offered| offered.set(piece.is_ready().then(Instant::now)));
}

/// Runs streams, and resets those whose client takes nothing for too long.
#[derive(Debug, Clone)]
pub(super) struct StreamExecutor {
    pub(super) patience: Duration,
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for StreamExecutor {
    fn execute(&self, stream: F) {
        let patience = self.patience;
        let limited = async move {
            let (mut stream, mut timer) = (pin!(stream), pin!(sleep(patience)));
            poll_fn(|context| {
                if stream.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                let Some(offered) = OFFERED.with(Cell::get) else { return Poll::Pending };
                timer.as_mut().reset(offered + patience);
                timer.as_mut().poll(context)
            })
            .await;
        };
        tokio::spawn(OFFERED.scope(Cell::new(None), limited));
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::Context;

    use bytes::Bytes;
    use http_body::{Body, Frame};
    use hyper::{Request, Response};
    use hyper_util::rt::TokioIo;
    use hyper_util::server::conn::auto;
    use tokio::io::duplex;
    use tokio::time::timeout;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(300);
    const WINDOW: u32 = 1_000;

    /// A body without end.
    struct EndlessBody;

    impl Body for EndlessBody {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let piece = Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 100])))));
            note_polled(&piece);
            piece
        }
    }

    // Time stands still while anybody is busy: a loaded machine fails nothing.
    #[tokio::test(start_paused = true)]
    async fn a_stream_is_reset_when_its_client_grants_no_window() {
        let (ours, theirs) = duplex(64 << 10);
        let builder = auto::Builder::new(StreamExecutor { patience: PATIENCE });
        let service = hyper::service::service_fn(|_| async {
            Ok::<_, Infallible>(Response::new(EndlessBody))
        });
        let served = builder.serve_connection(TokioIo::new(ours), service).into_owned();
        tokio::spawn(async move { drop(served.await) });
        let mut client = h2::client::Builder::new();
        let handshake = client.initial_window_size(WINDOW).handshake::<_, Bytes>(theirs);
        let (mut sender, connection) = handshake.await.expect("a connection");
        tokio::spawn(async move { drop(connection.await) });
        let (answer, _) = sender.send_request(Request::new(()), true).expect("a request");
        let mut body = answer.await.expect("an answer").into_body();
        let (started, mut taken) = (Instant::now(), 0);
        let ended = loop {
            let piece = timeout(Duration::from_secs(30), body.data()).await;
            match piece.expect("it does not wait for ever").expect("it has no end") {
                Ok(piece) => {
                    taken += piece.len();
                    // A slow client is not a stalled one.
                    if started.elapsed() < PATIENCE * 3 {
                        sleep(PATIENCE / 10).await;
                        body.flow_control().release_capacity(piece.len()).expect("a window");
                    }
                }
                Err(error) => break error,
            }
        };
        assert_eq!(ended.reason(), Some(h2::Reason::CANCEL));
        assert!(taken > WINDOW as usize, "{taken}");
        assert!(started.elapsed() >= PATIENCE * 4, "{:?}", started.elapsed());
    }
}
