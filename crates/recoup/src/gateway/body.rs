//! Bodies of requests and answers.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use super::meter::MeteredBody;
use super::recording::RecordedEvent;
use super::shared_response::SharedReader;

/// Largest piece of a body that is known whole.
const WHOLE_PIECE: usize = 64 << 10;

/// Error of a body: what it is does not matter to the client, whose connection ends.
pub(super) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Body of a request that is not read here: what was read already, and the rest.
#[derive(Debug)]
pub(super) struct ClientBody {
    pub(super) begun: Option<Bytes>,
    pub(super) rest: Incoming,
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(begun) = self.begun.take().filter(|begun| !begun.is_empty()) {
            return Poll::Ready(Some(Ok(Frame::data(begun))));
        }
        Pin::new(&mut self.rest).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.begun.as_ref().is_none_or(Bytes::is_empty) && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let begun = self.begun.as_ref().map_or(0, |begun| begun.len() as u64);
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(begun));
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(begun)) {
            hint.set_upper(upper);
        }
        hint
    }
}

/// Body of an answer to a client.
#[derive(Debug)]
pub(super) enum AnswerBody {
    /// Known whole.
    Whole(Option<Bytes>),
    /// Read while it arrives, by several clients.
    Shared(SharedReader),
    /// Passed through from an upstream.
    Passed(Box<PassedBody>),
    /// A recorded stream, as fast as it was.
    Paced(Box<PacedBody>),
}

impl AnswerBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self.get_mut() {
            Self::Whole(bytes) => {
                Poll::Ready(next_piece(bytes).map(|piece| Ok(Frame::data(piece))))
            }
            Self::Shared(reader) => Pin::new(reader).poll_frame(context).map_err(Into::into),
            Self::Passed(body) => Pin::new(&mut **body).poll_frame(context),
            Self::Paced(body) => {
                body.poll_event(context).map(|event| event.map(|it| Ok(Frame::data(it))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Passed(body) => body.begun.is_none() && body.body.is_end_stream(),
            Self::Shared(_) | Self::Paced(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Passed(body) if body.begun.is_none() => body.body.size_hint(),
            Self::Passed(_) | Self::Shared(_) | Self::Paced(_) => SizeHint::default(),
        }
    }
}

/// Takes the next piece. HTTP/2 buffers what it is given, so that a client which takes nothing is noticed
/// only where something is left.
fn next_piece(left: &mut Option<Bytes>) -> Option<Bytes> {
    let bytes = left.as_mut()?;
    if bytes.len() > WHOLE_PIECE { Some(bytes.split_to(WHOLE_PIECE)) } else { left.take() }
}

/// An upstream's answer, which must not be silent for too long.
#[derive(Debug)]
pub(super) struct PassedBody {
    /// Bytes that were read of it before.
    begun: Option<Bytes>,
    body: MeteredBody,
    silence: Duration,
    timer: Pin<Box<Sleep>>,
}

impl PassedBody {
    pub(super) fn new(begun: Bytes, body: MeteredBody, silence: Duration) -> Self {
        let timer = Box::pin(tokio::time::sleep(silence));
        let begun = Some(begun).filter(|begun| !begun.is_empty());
        Self { begun, body, silence, timer }
    }
}

impl Body for PassedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(begun) = self.begun.take() {
            return Poll::Ready(Some(Ok(Frame::data(begun))));
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let until = Instant::now() + self.silence;
            self.timer.as_mut().reset(until);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        match self.timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err("the upstream has fallen silent".into()))),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// A recorded stream, each event at its time.
#[derive(Debug)]
pub(super) struct PacedBody {
    body: Bytes,
    events: std::vec::IntoIter<RecordedEvent>,
    next: Option<RecordedEvent>,
    started: Instant,
    timer: Pin<Box<Sleep>>,
}

impl PacedBody {
    pub(super) fn new(body: Bytes, events: Vec<RecordedEvent>) -> Self {
        let started = Instant::now();
        let timer = Box::pin(tokio::time::sleep_until(started));
        Self { body, events: events.into_iter(), next: None, started, timer }
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let next = self.next.take().or_else(|| self.events.next());
        let Some(RecordedEvent(at, length)) = next else { return Poll::Ready(None) };
        let due = self.started + Duration::from_millis(at);
        if Instant::now() < due {
            self.timer.as_mut().reset(due);
            if self.timer.as_mut().poll(context).is_pending() {
                self.next = Some(RecordedEvent(at, length));
                return Poll::Pending;
            }
        }
        Poll::Ready(Some(self.body.split_to(length.min(self.body.len()))))
    }
}
