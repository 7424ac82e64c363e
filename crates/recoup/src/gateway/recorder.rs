//! `--record`: copies of answers on their way to clients become exchanges in a cassette. A thread of its own writes
//! them as they end; at the end the file gets its stable order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use http_body::Body as _;
use hyper::header::{CONTENT_LENGTH, HeaderMap};
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result};

use super::body::AnswerBody;
use super::decoder::PieceDecoder;
use super::exchanges::{ExchangeIdentity, readable_answer};
use super::recording::{EventSplitter, cassette_headers, is_event_stream};
use super::tenants::credentials_of;
use crate::llm::{
    Cassette, CassetteFile, ExchangeRequest, ExchangeResponse, HOLDS_SECRET, HttpExchange,
};

/// Records exchanges in a file.
#[derive(Debug)]
pub(crate) struct ExchangeRecorder {
    path: PathBuf,
    /// Beside it: the file of an earlier recording stays until this one has ended.
    partial: PathBuf,
    cassette: Arc<Cassette>,
    /// Number of requests so far.
    started: AtomicU64,
    /// None once it has ended.
    writer: Mutex<Option<RecorderThread>>,
}

/// The thread that writes, and the way to it.
type RecorderThread = (Sender<CopiedExchange>, JoinHandle<Vec<WrittenExchange>>);

/// Result of a recording.
#[derive(Debug)]
pub(crate) struct RecordingSummary {
    pub(crate) exchanges: usize,
    /// Exchanges that were left out, each with the reason.
    pub(crate) omissions: Vec<String>,
    /// False if nothing was recorded, and an earlier recording was left as it was.
    pub(crate) is_written: bool,
}

/// A request whose answer is awaited.
#[derive(Debug, Clone)]
pub(super) struct AwaitedExchange {
    recorder: Arc<ExchangeRecorder>,
    request: ExchangeRequest,
    credentials: SecretValues,
    /// Place among all requests.
    number: u64,
    /// Largest answer that is kept.
    limit: usize,
}

/// An exchange that came to its end.
struct CopiedExchange {
    exchange: AwaitedExchange,
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// An exchange in the file.
struct WrittenExchange {
    order: String,
    number: u64,
    answer: Sha256Digest,
    text: String,
}

impl ExchangeRecorder {
    /// Begins a file, and replaces one that is there.
    pub(crate) fn start(path: &Path, withheld: &SecretValues) -> Result<Arc<Self>> {
        let partial = fsx::with_suffix(path, ".partial");
        let cassette = Arc::new(Cassette::record_beside(path, &partial, withheld)?);
        let (sender, copied) = channel();
        let writing = Arc::clone(&cassette);
        let thread = thread::spawn(move || write_exchanges(&writing, &copied));
        Ok(Arc::new(Self {
            path: path.to_owned(),
            partial,
            cassette,
            started: AtomicU64::new(0),
            writer: Mutex::new(Some((sender, thread))),
        }))
    }

    /// Begins an exchange.
    pub(super) fn await_answer(
        self: &Arc<Self>,
        request: ExchangeRequest,
        headers: &HeaderMap,
        limit: usize,
    ) -> AwaitedExchange {
        AwaitedExchange {
            recorder: Arc::clone(self),
            request,
            credentials: credentials_of(headers),
            number: self.started.fetch_add(1, Ordering::Relaxed),
            limit,
        }
    }

    /// Notes a request that is not recorded.
    pub(super) fn omit(&self, request: &ExchangeRequest, why: &str) {
        self.omit_numbered(self.started.fetch_add(1, Ordering::Relaxed), request, why);
    }

    fn omit_numbered(&self, number: u64, request: &ExchangeRequest, why: &str) {
        // Not in its own words if they are why.
        let what = if why.starts_with(HOLDS_SECRET) {
            format!("request {}", number + 1)
        } else {
            format!("request {} ({})", number + 1, request.describe())
        };
        self.cassette.omit(&what, why);
    }

    /// Writes what waits, and puts the file in its order: by upstream, path and request, then by time. An answer that
    /// only repeats the last one to the same request is left out: a replay repeats it anyway.
    pub(crate) fn finish(&self) -> Result<RecordingSummary> {
        let writer = self.writer.lock().take();
        let mut written = match writer {
            Some((sender, thread)) => {
                drop(sender);
                thread.join().map_err(|_| {
                    let message = format!(
                        "the recording was given up; what was written is in {}",
                        self.partial.display()
                    );
                    Error::new(ErrorKind::Io, message)
                })?
            }
            None => Vec::new(),
        };
        written.sort_by(|a, b| (&a.order, a.number).cmp(&(&b.order, b.number)));
        let groups = written.chunk_by(|a, b| a.order == b.order);
        let kept: Vec<&str> = groups
            .flat_map(|group| {
                let last = group.last().map(|it| it.answer);
                let same = group.iter().rev().take_while(|it| Some(it.answer) == last).count();
                group.iter().take(group.len() + 1 - same).map(|it| it.text.as_str())
            })
            .collect();
        let had_some = fsx::read_regular(&self.path, u64::MAX)?.is_some_and(|it| !it.is_empty());
        // A run that failed at once must not empty a good file.
        let is_written = !(kept.is_empty() && had_some);
        if is_written {
            CassetteFile::write(&self.path, kept.iter().copied())?;
        }
        fsx::remove(&self.partial)?;
        let (exchanges, omissions) = (kept.len(), self.cassette.omissions());
        Ok(RecordingSummary { exchanges, omissions, is_written })
    }
}

fn write_exchanges(cassette: &Cassette, copied: &Receiver<CopiedExchange>) -> Vec<WrittenExchange> {
    let mut written = Vec::new();
    for copied in copied {
        let exchange = copied.exchange.clone();
        match copied.write_to(cassette) {
            Ok(Ok(copied)) => written.push(copied),
            Ok(Err(why)) => exchange.omit(&why),
            Err(error) => exchange.omit(&error.to_string()),
        }
    }
    written
}

impl CopiedExchange {
    /// Writes it; the inner error says why it is left out.
    fn write_to(self, cassette: &Cassette) -> Result<Result<WrittenExchange, String>> {
        let Self { exchange, status, headers, body } = self;
        let AwaitedExchange { request, credentials, number, .. } = exchange;
        let kept = cassette_headers(&headers);
        let response = if is_event_stream(&headers) && !body.is_empty() {
            let lengths = EventSplitter::new().push(&body);
            ExchangeResponse::stream(status, kept, &body, lengths)
        } else {
            ExchangeResponse::plain(status, kept, &body)
        };
        let answer = serde_json::to_vec(&response).unwrap_or_default();
        let exchange = HttpExchange::new(request, response);
        // A stream may cut a secret in two.
        let whole = readable_answer(&exchange);
        let text = cassette.keep_http(&exchange, whole.as_bytes(), &credentials)?;
        let order = ExchangeIdentity::of(&exchange.request, &[]).order;
        Ok(text.map(|text| WrittenExchange {
            order,
            number,
            answer: Sha256Digest::of(&answer),
            text,
        }))
    }
}

impl AwaitedExchange {
    /// Notes that it is not recorded.
    pub(super) fn omit(&self, why: &str) {
        self.recorder.omit_numbered(self.number, &self.request, why);
    }
}

/// Copy of an answer on its way to the client.
#[derive(Debug)]
pub(super) struct AnswerCopy {
    /// None once it was recorded or given up.
    exchange: Option<AwaitedExchange>,
    status: StatusCode,
    headers: HeaderMap,
    decoder: PieceDecoder,
    body: Vec<u8>,
    /// Bytes that are still to come, if that is known.
    missing: Option<u64>,
    has_ended: bool,
}

impl AnswerCopy {
    pub(super) fn new(exchange: AwaitedExchange, response: &Response<AnswerBody>) -> Self {
        let headers = response.headers();
        let announced = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        let body = response.body();
        let missing = body.size_hint().exact().or(announced);
        Self {
            status: response.status(),
            decoder: PieceDecoder::of(headers, exchange.limit),
            missing,
            has_ended: body.is_end_stream() || missing == Some(0),
            headers: headers.clone(),
            body: Vec::new(),
            exchange: Some(exchange),
        }
    }

    /// Takes a piece. `is_last` if the body says so.
    pub(super) fn push(&mut self, piece: &Bytes, is_last: bool) {
        let Some(exchange) = &self.exchange else { return };
        self.missing = self.missing.map(|missing| missing.saturating_sub(piece.len() as u64));
        self.has_ended |= is_last || self.missing == Some(0);
        let why = match self.decoder.push(piece) {
            Some(plain) if self.body.len() + plain.len() <= exchange.limit => {
                self.body.extend_from_slice(&plain);
                return;
            }
            Some(_) => "the answer is larger than gateway.max_answer_mb",
            None => "the answer can't be decoded, or is larger than gateway.max_answer_mb",
        };
        exchange.omit(why);
        self.exchange = None;
    }

    /// Notes that the body came to its end.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }
}

impl Drop for AnswerCopy {
    fn drop(&mut self) {
        let Some(exchange) = self.exchange.take() else { return };
        if self.status == StatusCode::SWITCHING_PROTOCOLS {
            return exchange.omit("upgraded connections are not recorded");
        }
        if !self.has_ended {
            return exchange.omit("the answer was cut, or its client went away");
        }
        let recorder = Arc::clone(&exchange.recorder);
        let copied = CopiedExchange {
            exchange,
            status: self.status.as_u16(),
            headers: std::mem::take(&mut self.headers),
            body: std::mem::take(&mut self.body),
        };
        if let Some((writer, _)) = &*recorder.writer.lock() {
            // Fails only if the thread has died; the end tells that nothing was written.
            let _ = writer.send(copied);
        }
    }
}
