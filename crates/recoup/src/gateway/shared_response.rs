//! An answer of an upstream that several clients read while it arrives, each at its own place.
//!
//! One task pulls the answer and pushes its pieces, and waits for the fastest reader. While the answer
//! is being recorded, all pieces stay. Otherwise pieces go as soon as all have read them, and readers
//! that are too far behind are cut off. So a slow client holds up nobody who is faster.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::StatusCode;
use hyper::http::{Extensions, HeaderMap};
use parking_lot::Mutex;

use super::report::CacheReport;

/// Bytes that may be ahead of the reader for whom the task waits.
const WINDOW: usize = 256 << 10;

/// Bytes that a reader may be behind where pieces are not kept.
const FURTHEST_BEHIND: usize = 8 << 20;

/// Head of an answer.
#[derive(Debug, Clone)]
pub(super) struct SharedHead {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Spelling of the headers.
    pub(super) extensions: Extensions,
    pub(super) report: CacheReport,
    /// True if others than the leader may read it.
    pub(super) is_shareable: bool,
}

/// Reason why there is no answer.
#[derive(Debug, Clone)]
pub(super) struct UpstreamFault {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

/// Encoded as it came, and decoded: the same bytes if it came plain, none if it can't be decoded.
#[derive(Debug, Clone)]
pub(super) struct SharedPiece {
    pub(super) raw: Bytes,
    pub(super) plain: Option<Bytes>,
}

/// An answer that several clients read.
#[derive(Debug, Default)]
pub(super) struct SharedResponse {
    state: Mutex<SharedState>,
}

#[derive(Debug, Default)]
struct SharedState {
    head: Option<Result<Arc<SharedHead>, UpstreamFault>>,
    pieces: VecDeque<SharedPiece>,
    /// Number of pieces that are gone.
    dropped: usize,
    /// Bytes of all pieces so far.
    pushed_bytes: usize,
    end: Option<ResponseEnd>,
    keeps_all: bool,
    readers: Vec<ReaderPlace>,
    next_reader: u64,
    task: Option<Waker>,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseEnd {
    Whole,
    Cut,
}

#[derive(Debug)]
struct ReaderPlace {
    id: u64,
    piece: usize,
    bytes: usize,
    waker: Option<Waker>,
}

/// Answer to the question whether the task goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderDemand {
    /// Somebody waits for more.
    Wanted,
    /// All readers have gone.
    Abandoned,
}

impl SharedResponse {
    /// An answer of which all pieces are kept for later readers.
    pub(super) fn recorded() -> Arc<Self> {
        let state = SharedState { keeps_all: true, ..SharedState::default() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// An answer with its leader, who reads it as it comes.
    pub(super) fn with_leader() -> Option<(SharedReader, Arc<Self>)> {
        let shared = Self::recorded();
        Some((shared.reader(true)?, shared))
    }

    /// Adds a reader at the beginning; none if that is gone. `is_raw` if it reads what came encoded.
    pub(super) fn reader(self: &Arc<Self>, is_raw: bool) -> Option<SharedReader> {
        let mut state = self.state.lock();
        if state.dropped > 0 {
            return None;
        }
        let id = state.next_reader;
        state.next_reader += 1;
        state.readers.push(ReaderPlace { id, piece: 0, bytes: 0, waker: None });
        Some(SharedReader { response: Arc::clone(self), id, is_raw })
    }

    /// Sets the head, once.
    pub(super) fn begin(&self, head: Result<SharedHead, UpstreamFault>) {
        let mut state = self.state.lock();
        state.head = Some(head.map(Arc::new));
        state.wake_readers();
    }

    /// Adds a piece.
    pub(super) fn push(&self, piece: SharedPiece) {
        let mut state = self.state.lock();
        state.pushed_bytes += piece.raw.len();
        state.pieces.push_back(piece);
        state.wake_readers();
        if !state.keeps_all {
            // What is not kept can't wait for those who are far behind.
            let pushed = state.pushed_bytes;
            state.readers.retain(|reader| pushed - reader.bytes <= FURTHEST_BEHIND);
            state.drop_read();
        }
    }

    /// Ends the answer.
    pub(super) fn finish(&self, end: ResponseEnd) {
        let mut state = self.state.lock();
        state.end = Some(end);
        state.wake_readers();
    }

    /// Ends an answer that has not ended yet.
    pub(super) fn abort(&self) {
        let mut state = self.state.lock();
        let (status, message) = (StatusCode::BAD_GATEWAY, "the request was given up".to_owned());
        state.head.get_or_insert(Err(UpstreamFault { status, message }));
        state.end.get_or_insert(ResponseEnd::Cut);
        state.wake_readers();
    }

    /// Lets pieces go once they have been read: the answer is not recorded any more.
    pub(super) fn stop_keeping(&self) {
        let mut state = self.state.lock();
        state.keeps_all = false;
        state.drop_read();
    }

    /// Waits until a reader has room, or until all have gone.
    pub(super) async fn wait_for_room(&self) -> ReaderDemand {
        std::future::poll_fn(|context| {
            let mut state = self.state.lock();
            let places = state.readers.iter().map(|reader| reader.bytes);
            match places.max() {
                None => Poll::Ready(ReaderDemand::Abandoned),
                Some(read) if state.pushed_bytes - read <= WINDOW => {
                    Poll::Ready(ReaderDemand::Wanted)
                }
                Some(_) => {
                    state.task = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl SharedState {
    fn wake_readers(&mut self) {
        for waker in self.readers.iter_mut().filter_map(|reader| reader.waker.take()) {
            waker.wake();
        }
    }

    fn wake_task(&mut self) {
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }

    fn drop_read(&mut self) {
        let slowest = self.readers.iter().map(|reader| reader.piece).min();
        let slowest = slowest.unwrap_or(self.dropped + self.pieces.len());
        while self.dropped < slowest && self.pieces.pop_front().is_some() {
            self.dropped += 1;
        }
    }

    fn place(&mut self, id: u64) -> Option<&mut ReaderPlace> {
        self.readers.iter_mut().find(|reader| reader.id == id)
    }
}

/// One reader of a shared answer; a response body.
#[derive(Debug)]
pub(super) struct SharedReader {
    response: Arc<SharedResponse>,
    id: u64,
    is_raw: bool,
}

impl SharedReader {
    /// True if it reads what came encoded.
    pub(super) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Waits for the head.
    pub(super) async fn head(&self) -> Result<Arc<SharedHead>, UpstreamFault> {
        std::future::poll_fn(|context| {
            let mut state = self.response.state.lock();
            if let Some(head) = &state.head {
                return Poll::Ready(head.clone());
            }
            if let Some(place) = state.place(self.id) {
                place.waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

impl Body for SharedReader {
    type Data = Bytes;
    type Error = CutAnswer;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutAnswer>>> {
        let mut state = self.response.state.lock();
        let state = &mut *state;
        loop {
            let (dropped, end) = (state.dropped, state.end);
            let Some(place) = state.readers.iter_mut().find(|reader| reader.id == self.id) else {
                // It was too slow.
                return Poll::Ready(Some(Err(CutAnswer)));
            };
            let Some(piece) = state.pieces.get(place.piece - dropped) else {
                return match end {
                    Some(ResponseEnd::Whole) => Poll::Ready(None),
                    Some(ResponseEnd::Cut) => Poll::Ready(Some(Err(CutAnswer))),
                    None => {
                        place.waker = Some(context.waker().clone());
                        Poll::Pending
                    }
                };
            };
            place.piece += 1;
            place.bytes += piece.raw.len();
            let Some(data) =
                (if self.is_raw { Some(piece.raw.clone()) } else { piece.plain.clone() })
            else {
                return Poll::Ready(Some(Err(CutAnswer)));
            };
            if !state.keeps_all {
                state.drop_read();
            }
            state.wake_task();
            // A decoder may need more before it gives anything.
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
    }
}

impl Drop for SharedReader {
    fn drop(&mut self) {
        let mut state = self.response.state.lock();
        state.readers.retain(|reader| reader.id != self.id);
        if !state.keeps_all {
            state.drop_read();
        }
        state.wake_task();
    }
}

/// The upstream ended its answer before its end: the connection to the client is closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct CutAnswer;

impl std::fmt::Display for CutAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the upstream ended its answer before its end")
    }
}

impl std::error::Error for CutAnswer {}
