//! Logs of requests: the access log, the log of requests, and what tenants have spent. None has bodies or
//! credentials. A thread of its own writes them, after answers have gone to their clients.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::key::{KeyPart, KeyRecipe as _, Scope};
use recoup_core::ledger::RollingLog;
use serde::Serialize;
use tokio::time::Instant;

use super::LiveSettings;
use super::body::{AnswerBody, BodyError};
use super::budgets::SpendTable;
use super::endpoint::{AnswerTokens, ApiEndpoint};
use super::meter::PaidAnswer;
use super::metrics::GatewayMetrics;
use super::plan::CachePlan;
use super::prompt_cache::PromptOutline;
use super::recorder::{AnswerCopy, AwaitedExchange};
use super::report::{CacheReport, CacheStatus};
use super::request_log::{LoggedRequest, request_log};
use super::stream_limit::note_polled;
use super::traces::{TraceExporter, TraceFacts};

/// Requests that wait to be logged, and the bytes of their bodies; more are dropped.
const WAITING_REQUESTS: usize = 10_000;
const WAITING_BYTES: usize = 64 << 20;
/// Requests that are logged with one write.
const MOST_AT_ONCE: usize = 1000;
/// Longest wait for the logs at the end.
const FLUSH_WAIT: Duration = Duration::from_secs(5);
/// Size of a file of the log, and number of files.
const LOG_BYTES: u64 = 16 << 20;
const LOG_FILES: usize = 5;

/// Facts about a request.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct RequestFacts {
    pub(super) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) tenant: String,
    pub(super) method: String,
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upstream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(skip)]
    pub(super) trace: TraceFacts,
    /// True if the access log has a line for it.
    #[serde(skip)]
    pub(super) is_logged: bool,
    /// The request itself, where it is known what it asks for.
    #[serde(skip)]
    pub(super) asked: Option<AskedRequest>,
    /// The exchange that is recorded.
    #[serde(skip)]
    pub(super) awaited: Option<AwaitedExchange>,
}

/// A request to an endpoint that is known.
#[derive(Debug, Clone)]
pub(super) struct AskedRequest {
    pub(super) endpoint: ApiEndpoint,
    pub(super) scope: Scope,
    pub(super) body: Bytes,
    pub(super) live: Arc<LiveSettings>,
    /// Name of the sub-agent that asks; empty if it is none.
    pub(super) agent: String,
    /// None if it passes by the cache.
    pub(super) plan: Option<Arc<CachePlan>>,
}

/// Line of the access log.
#[derive(Debug, Serialize)]
struct AccessLine<'a> {
    at: String,
    #[serde(flatten)]
    facts: &'a RequestFacts,
    status: u16,
    cache: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    first_ms: u64,
    ms: u64,
    bytes: u64,
    saved_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<AnswerTokens>,
}

/// Counts and logs requests.
#[derive(Debug)]
pub(super) struct RequestObserver {
    pub(super) metrics: Arc<GatewayMetrics>,
    log: SyncSender<LogMessage>,
    /// Bytes of bodies that wait for the thread.
    waiting: Arc<AtomicUsize>,
    pub(super) traces: Option<TraceExporter>,
    spend: Arc<SpendTable>,
}

/// Message to the thread that logs.
enum LogMessage {
    Paid(Box<PaidAnswer>),
    Ended(Box<EndedRequest>),
    /// Everything before it is to be written; the sender goes when it is.
    Flush(SyncSender<()>),
}

impl RequestObserver {
    /// An observer with its logs in a directory.
    pub(super) fn new(
        metrics: Arc<GatewayMetrics>,
        log_dir: &Path,
        spend: Arc<SpendTable>,
        traces: Option<TraceExporter>,
    ) -> Self {
        let (log, messages) = sync_channel(WAITING_REQUESTS);
        let waiting = Arc::new(AtomicUsize::new(0));
        let writer = LogWriter {
            access: RollingLog::new(log_dir, "gateway", "jsonl", LOG_BYTES, LOG_FILES),
            requests: request_log(log_dir),
            metrics: Arc::clone(&metrics),
            waiting: Arc::clone(&waiting),
            spend: Arc::clone(&spend),
        };
        thread::spawn(move || writer.run(&messages));
        Self { metrics, log, waiting, traces, spend }
    }

    fn observe(&self, mut ended: Box<EndedRequest>, started: Instant) {
        self.metrics.count(&ended.facts, &ended.report, ended.status, ended.seconds);
        if let Some(traces) = &self.traces {
            traces.record(&ended.facts, &ended.report, ended.status, started);
        }
        let mut size = ended.body_bytes();
        if !self.has_room(size) {
            (ended.facts.asked, size) = (None, 0);
        }
        if self.log.try_send(LogMessage::Ended(ended)).is_err() {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
            self.metrics.dropped_lines.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts what an answer cost. Nothing is dropped: if too much waits, it is counted here and now.
    pub(super) fn charge(&self, answer: Box<PaidAnswer>) {
        let size = answer.size();
        let unsent = if self.has_room(size) {
            self.log.try_send(LogMessage::Paid(answer)).err().map(|error| {
                self.waiting.fetch_sub(size, Ordering::Relaxed);
                match error {
                    TrySendError::Full(unsent) | TrySendError::Disconnected(unsent) => unsent,
                }
            })
        } else {
            Some(LogMessage::Paid(answer))
        };
        if let Some(LogMessage::Paid(answer)) = unsent {
            settle(*answer, &self.spend, &self.metrics);
        }
    }

    /// Takes room for bodies that wait; false if there is none.
    fn has_room(&self, size: usize) -> bool {
        let has_room = self.waiting.fetch_add(size, Ordering::Relaxed) + size <= WAITING_BYTES;
        if !has_room {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
        }
        has_room
    }

    /// Waits until everything is written.
    pub(super) fn flush(&self) {
        let (done, is_done) = sync_channel(0);
        if self.log.send(LogMessage::Flush(done)).is_ok() {
            // Ends with the sender; a disk that hangs must not keep the process alive.
            let _ = is_done.recv_timeout(FLUSH_WAIT);
        }
    }
}

/// Writes the logs, and counts what was spent.
struct LogWriter {
    access: RollingLog,
    requests: RollingLog,
    metrics: Arc<GatewayMetrics>,
    waiting: Arc<AtomicUsize>,
    spend: Arc<SpendTable>,
}

impl LogWriter {
    /// Logs requests as they come, all that wait at once.
    fn run(&self, messages: &Receiver<LogMessage>) {
        while let Ok(first) = messages.recv() {
            let (mut access, mut requests) = (String::new(), String::new());
            let mut flushed = Vec::new();
            for message in std::iter::once(first).chain(messages.try_iter().take(MOST_AT_ONCE)) {
                match message {
                    LogMessage::Paid(answer) => {
                        self.waiting.fetch_sub(answer.size(), Ordering::Relaxed);
                        settle(*answer, &self.spend, &self.metrics);
                    }
                    LogMessage::Ended(mut ended) => {
                        self.waiting.fetch_sub(ended.body_bytes(), Ordering::Relaxed);
                        ended.log_to(&mut access, &mut requests);
                    }
                    LogMessage::Flush(done) => flushed.push(done),
                }
            }
            // Best effort: a full disk must not stop the gateway.
            for (log, lines) in [(&self.access, access), (&self.requests, requests)] {
                if !lines.is_empty() {
                    let _ = log.append(lines.as_bytes());
                }
            }
            let _ = self.spend.save(SystemClock.now());
        }
    }
}

/// A request whose answer has gone to the client.
#[derive(Debug)]
struct EndedRequest {
    at: Timestamp,
    facts: RequestFacts,
    report: CacheReport,
    status: u16,
    first_ms: u64,
    ms: u64,
    seconds: f64,
    bytes: u64,
}

impl EndedRequest {
    fn body_bytes(&self) -> usize {
        self.facts.asked.as_ref().map_or(0, |asked| asked.body.len())
    }

    fn log_to(&mut self, access: &mut String, requests: &mut String) {
        let asked = self.facts.asked.take();
        let costs = matches!(self.report.status, CacheStatus::Miss | CacheStatus::Bypass);
        let tokens = self.report.tokens.get().copied().filter(|_| costs);
        if self.facts.is_logged {
            let line = AccessLine {
                at: self.at.to_string(),
                facts: &self.facts,
                status: self.status,
                cache: self.report.status.as_str(),
                reason: self.report.reason.as_deref(),
                key: self.report.key.as_ref().map(recoup_core::key::Key::as_str),
                first_ms: self.first_ms,
                ms: self.ms,
                bytes: self.bytes,
                saved_tokens: self.report.saved_tokens,
                tokens,
            };
            add_line(access, &line);
        }
        if let Some(asked) = asked.filter(|asked| asked.live.settings.logs.requests) {
            add_line(requests, &self.logged(&asked, tokens));
        }
    }

    fn logged(&self, asked: &AskedRequest, usage: Option<AnswerTokens>) -> LoggedRequest {
        let started = self.at.as_millis().saturating_sub_unsigned(self.ms);
        let scope = asked.scope.as_str().to_owned();
        let mut logged = LoggedRequest::new(self.facts.id.clone(), scope, started, self.ms);
        logged.upstream = self.facts.upstream.clone().unwrap_or_default();
        logged.model = self.facts.model.clone().unwrap_or_default();
        self.report.status.as_str().clone_into(&mut logged.cache);
        logged.reason.clone_from(&self.report.reason);
        logged.usage = usage.filter(|usage| !usage.is_estimated);
        // That of the entry which was served, if its answer had another form.
        let planned = asked.plan.as_ref().map(|plan| &plan.id.key);
        logged.key = self.report.key.as_ref().or(planned).map(|key| key.as_str().to_owned());
        if self.report.status == CacheStatus::Hit {
            // It needs no explanation, and the provider has not seen it.
            return logged;
        }
        let without_text = |part: KeyPart| KeyPart { preview: None, ..part };
        let parts = asked.plan.as_ref().map(|plan| plan.recipe.parts()).unwrap_or_default();
        logged.parts = parts.into_iter().map(without_text).collect();
        let body = serde_json::from_slice(&asked.body).ok();
        logged.prompt =
            body.and_then(|body| PromptOutline::of(asked.endpoint, &body, &asked.agent));
        logged
    }
}

fn settle(answer: PaidAnswer, spend: &SpendTable, metrics: &GatewayMetrics) {
    let tenant = answer.tenant().to_owned();
    let cost = answer.settle();
    spend.add(&tenant, cost, SystemClock.now());
    metrics.add_spend(cost);
}

fn add_line(lines: &mut String, line: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(line) {
        lines.push_str(&text);
        lines.push('\n');
    }
}

/// Facts about an answer, told when it has ended.
#[derive(Debug)]
struct ResponseRecord {
    observer: Arc<RequestObserver>,
    facts: RequestFacts,
    report: Option<CacheReport>,
    status: u16,
    started: Instant,
    first: Instant,
    bytes: u64,
    copy: Option<AnswerCopy>,
}

/// An answer's body that is observed until it ends, or until its client goes away.
#[derive(Debug)]
pub(super) struct ObservedBody {
    body: AnswerBody,
    /// An error that is told once everything before it is sent.
    error: Option<BodyError>,
    record: ResponseRecord,
}

impl ObservedBody {
    /// Observes an answer from here on.
    pub(super) fn observe(
        response: hyper::Response<AnswerBody>,
        observer: &Arc<RequestObserver>,
        mut facts: RequestFacts,
        report: CacheReport,
        started: Instant,
    ) -> hyper::Response<Self> {
        observer.metrics.open.fetch_add(1, Ordering::Relaxed);
        let record = ResponseRecord {
            observer: Arc::clone(observer),
            copy: facts.awaited.take().map(|awaited| AnswerCopy::new(awaited, &response)),
            facts,
            report: Some(report),
            status: response.status().as_u16(),
            started,
            first: Instant::now(),
            bytes: 0,
        };
        response.map(|body| Self { body, error: None, record })
    }
}

impl ResponseRecord {
    fn take_piece(&mut self, data: &Bytes, is_last: bool) {
        if let Some(copy) = &mut self.copy {
            copy.push(data, is_last);
        }
        self.bytes += data.len() as u64;
    }
}

impl Drop for ResponseRecord {
    fn drop(&mut self) {
        self.observer.metrics.open.fetch_sub(1, Ordering::Relaxed);
        let Some(report) = self.report.take() else { return };
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let elapsed = self.started.elapsed();
        let ended = Box::new(EndedRequest {
            at: SystemClock.now(),
            facts: std::mem::take(&mut self.facts),
            report,
            status: self.status,
            first_ms: millis(self.first.duration_since(self.started)),
            ms: millis(elapsed),
            seconds: elapsed.as_secs_f64(),
            bytes: self.bytes,
        });
        self.observer.observe(ended, self.started);
    }
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        note_polled(&polled);
        match polled {
            Poll::Ready(Some(Err(error))) => {
                // hyper drops what it has not sent yet. If there is nothing to poll, it sends it.
                self.error = Some(error);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    let is_last = self.body.is_end_stream();
                    self.record.take_piece(data, is_last);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(None) => {
                if let Some(copy) = &mut self.record.copy {
                    copy.end();
                }
                Poll::Ready(None)
            }
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
