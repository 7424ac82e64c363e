//! Counts and log of requests: metrics for Prometheus, and the access log. Neither has
//! bodies or credentials.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::{Context, Poll};
use std::thread;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::ledger::RollingLog;
use serde::Serialize;
use tokio::time::Instant;

use super::body::{AnswerBody, BodyError};
use super::report::{CacheReport, CacheStatus};
use super::status::RequestTotals;
use super::traces::{TraceExporter, TraceFacts};

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];
/// Most reasons that are counted by themselves.
const MOST_REASONS: usize = 40;
/// Lines that wait for the disk; more are dropped.
const WAITING_LINES: usize = 10_000;
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
}

/// Counters since the start.
#[derive(Debug, Default)]
pub(super) struct GatewayMetrics {
    counts: Mutex<MetricCounts>,
    pub(super) stored: AtomicU64,
    pub(super) unstored: AtomicU64,
    open: AtomicU64,
    dropped_lines: AtomicU64,
    pub(super) store_errors: Arc<AtomicU64>,
    pub(super) dropped_spans: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct MetricCounts {
    /// By outcome, upstream and status.
    requests: BTreeMap<(&'static str, String, u16), u64>,
    /// By outcome and reason.
    reasons: BTreeMap<(&'static str, String), u64>,
    /// Counts of the buckets, their sum and number, by outcome.
    durations: BTreeMap<&'static str, ([u64; BUCKETS.len()], f64, u64)>,
    saved_tokens: u64,
    saved_micro_dollars: u64,
}

/// Counts and logs requests.
#[derive(Debug)]
pub(super) struct RequestObserver {
    pub(super) metrics: GatewayMetrics,
    log: Option<SyncSender<String>>,
    pub(super) traces: Option<TraceExporter>,
}

impl RequestObserver {
    /// An observer that writes the access log to `log`, if there is one.
    pub(super) fn new(log: Option<&std::path::Path>) -> Self {
        let log = log.map(|dir| {
            let (lines, waiting) = sync_channel(WAITING_LINES);
            let log = RollingLog::new(dir, "gateway", "jsonl", LOG_BYTES, LOG_FILES);
            thread::spawn(move || write_lines(&waiting, &log));
            lines
        });
        Self { metrics: GatewayMetrics::default(), log, traces: None }
    }

    fn observe(&self, record: &ResponseRecord) {
        let ResponseRecord { facts, report, status, started, first, bytes, .. } = record;
        let (outcome, elapsed) = (report.status.as_str(), started.elapsed());
        self.metrics.count(outcome, facts, report, *status, elapsed.as_secs_f64());
        if let Some(traces) = &self.traces {
            traces.record(facts, report, *status, *started);
        }
        let Some(log) = &self.log else { return };
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let line = AccessLine {
            at: SystemClock.now().to_string(),
            facts,
            status: *status,
            cache: outcome,
            reason: report.reason.as_deref(),
            key: report.key.as_ref().map(recoup_core::key::Key::as_str),
            first_ms: millis(first.duration_since(*started)),
            ms: millis(elapsed),
            bytes: *bytes,
            saved_tokens: report.saved_tokens,
        };
        let line = serde_json::to_string(&line).unwrap_or_default();
        if log.try_send(line).is_err() {
            self.metrics.dropped_lines.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Appends lines, all that wait at once.
fn write_lines(waiting: &Receiver<String>, log: &RollingLog) {
    while let Ok(first) = waiting.recv() {
        let mut lines = first + "\n";
        for line in waiting.try_iter() {
            lines.push_str(&line);
            lines.push('\n');
        }
        // Best effort: a full disk must not stop the gateway.
        let _ = log.append(lines.as_bytes());
    }
}

impl GatewayMetrics {
    fn count(
        &self,
        outcome: &'static str,
        facts: &RequestFacts,
        report: &CacheReport,
        status: u16,
        seconds: f64,
    ) {
        let mut counts = self.counts.lock();
        let upstream = facts.upstream.clone().unwrap_or_default();
        *counts.requests.entry((outcome, upstream, status)).or_default() += 1;
        if let Some(reason) = &report.reason {
            let key = (outcome, reason.clone());
            let is_known = counts.reasons.len() < MOST_REASONS || counts.reasons.contains_key(&key);
            let key = if is_known { key } else { (outcome, "other".to_owned()) };
            *counts.reasons.entry(key).or_default() += 1;
        }
        let (buckets, sum, number) = counts.durations.entry(outcome).or_default();
        for (bucket, bound) in buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
        *sum += seconds;
        *number += 1;
        if matches!(report.status, CacheStatus::Hit | CacheStatus::Stale) {
            counts.saved_tokens += report.saved_tokens;
            counts.saved_micro_dollars += report.saved_micro_dollars.unwrap_or_default();
        }
    }

    /// Totals of the requests to upstreams.
    pub(super) fn totals(&self) -> RequestTotals {
        let counts = self.counts.lock();
        let mut by_outcome = BTreeMap::new();
        // Those without an upstream are the gateway's own: probes, and refusals.
        for ((outcome, ..), count) in
            counts.requests.iter().filter(|((_, name, _), _)| !name.is_empty())
        {
            *by_outcome.entry((*outcome).to_owned()).or_default() += count;
        }
        RequestTotals {
            by_outcome,
            open_answers: self.open.load(Ordering::Relaxed),
            stored: self.stored.load(Ordering::Relaxed),
            saved_tokens: counts.saved_tokens,
            saved_micro_dollars: counts.saved_micro_dollars,
        }
    }

    /// In Prometheus' text format.
    pub(super) fn to_text(&self) -> String {
        const STRINGS_GROW: &str = "a String takes any text";
        let counts = self.counts.lock();
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            writeln!(
                text,
                "# HELP recoup_gateway_{name} {help}\n# TYPE recoup_gateway_{name} {kind}"
            )
            .expect(STRINGS_GROW);
        };
        head(&mut text, "requests_total", "counter", "Requests by outcome, upstream and status.");
        for ((outcome, upstream, status), count) in &counts.requests {
            let labels =
                format!("outcome=\"{outcome}\",upstream=\"{upstream}\",status=\"{status}\"");
            writeln!(text, "recoup_gateway_requests_total{{{labels}}} {count}")
                .expect(STRINGS_GROW);
        }
        head(&mut text, "reasons_total", "counter", "Reasons of misses and bypasses.");
        for ((outcome, reason), count) in &counts.reasons {
            let reason = reason.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
            let labels = format!("outcome=\"{outcome}\",reason=\"{reason}\"");
            writeln!(text, "recoup_gateway_reasons_total{{{labels}}} {count}").expect(STRINGS_GROW);
        }
        head(&mut text, "request_seconds", "histogram", "Time to the last byte, by outcome.");
        for (outcome, (buckets, sum, number)) in &counts.durations {
            let name = "recoup_gateway_request_seconds";
            for (bound, count) in BUCKETS.iter().zip(buckets) {
                writeln!(text, "{name}_bucket{{outcome=\"{outcome}\",le=\"{bound}\"}} {count}")
                    .expect(STRINGS_GROW);
            }
            writeln!(
                text,
                "{name}_bucket{{outcome=\"{outcome}\",le=\"+Inf\"}} {number}\n\
                 {name}_sum{{outcome=\"{outcome}\"}} {sum}\n{name}_count{{outcome=\"{outcome}\"}} {number}"
            )
            .expect(STRINGS_GROW);
        }
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            (
                "saved_tokens_total", "counter", "Tokens that hits did not cost.",
                counts.saved_tokens,
            ),
            ("stored_total", "counter", "Answers that were stored.", load(&self.stored)),
            ("unstored_total", "counter", "Answers that were not stored.", load(&self.unstored)),
            ("open_answers", "gauge", "Answers on their way to clients.", load(&self.open)),
            (
                "log_lines_dropped_total",
                "counter",
                "Lines of the access log that were dropped.",
                load(&self.dropped_lines),
            ),
            (
                "store_errors_total",
                "counter",
                "Operations of the store that failed.",
                load(&self.store_errors),
            ),
            (
                "spans_dropped_total",
                "counter",
                "Requests whose spans did not reach the collector.",
                load(&self.dropped_spans),
            ),
        ] {
            head(&mut text, name, kind, help);
            writeln!(text, "recoup_gateway_{name} {value}").expect(STRINGS_GROW);
        }
        head(&mut text, "saved_usd_total", "counter", "Dollars that hits did not cost.");
        let micros = counts.saved_micro_dollars;
        writeln!(
            text,
            "recoup_gateway_saved_usd_total {}.{:06}",
            micros / 1_000_000,
            micros % 1_000_000
        )
        .expect(STRINGS_GROW);
        text
    }
}

/// Facts about an answer, told when it has ended.
#[derive(Debug)]
struct ResponseRecord {
    observer: Arc<RequestObserver>,
    facts: RequestFacts,
    report: CacheReport,
    status: u16,
    started: Instant,
    first: Instant,
    bytes: u64,
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
    pub(super) fn new(
        body: AnswerBody,
        observer: &Arc<RequestObserver>,
        facts: RequestFacts,
        report: CacheReport,
        status: u16,
        started: Instant,
    ) -> Self {
        observer.metrics.open.fetch_add(1, Ordering::Relaxed);
        let (observer, first) = (Arc::clone(observer), Instant::now());
        let record = ResponseRecord { observer, facts, report, status, started, first, bytes: 0 };
        Self { body, error: None, record }
    }
}

impl Drop for ObservedBody {
    fn drop(&mut self) {
        let observer = &self.record.observer;
        observer.metrics.open.fetch_sub(1, Ordering::Relaxed);
        observer.observe(&self.record);
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
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Err(error))) => {
                // hyper drops what it has not sent yet. If there is nothing to poll, it sends it.
                self.error = Some(error);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Ready(Some(Ok(frame))) => {
                self.record.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                Poll::Ready(Some(Ok(frame)))
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
