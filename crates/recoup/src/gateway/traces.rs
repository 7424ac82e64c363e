//! Traces for OpenTelemetry: a span for each request, and one for the call of its upstream, sent in
//! batches to a collector (OTLP over HTTP, as JSON). They have neither bodies nor credentials. A request
//! never waits for the collector: what it does not take is dropped, and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::header::HeaderMap;
use recoup_core::Result;
use recoup_core::base::clock::{Clock as _, SystemClock};
use reqwest::{Client, redirect};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::observed::RequestFacts;
use super::report::CacheReport;
use crate::config::env;
use crate::http::{client_builder, client_error};

/// Spans that wait for the collector; more are dropped.
const WAITING_SPANS: usize = 2_048;
/// Requests of one batch, and the time in which they are collected.
const BATCH_SPANS: usize = 512;
const BATCH_TIME: Duration = Duration::from_secs(1);
/// Longest time for the collector's answer, and for the last batch at the end.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Kinds of spans, and the status of a failed one, as OTLP numbers them.
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const FAILED: u8 = 2;

/// Facts about a request that only its span has.
#[derive(Debug, Clone, Default)]
pub(super) struct TraceFacts {
    pub(super) parent: Option<TraceParent>,
    /// API of the upstream.
    pub(super) system: Option<&'static str>,
}

/// The client's own span, from the header `traceparent` (W3C Trace Context).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TraceParent {
    trace: String,
    span: String,
    is_sampled: bool,
}

impl TraceParent {
    /// The parent of a request; none if the header is missing or not valid.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all("traceparent").iter();
        let text = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
        let mut fields = text.split('-');
        let mut field = |length: usize| {
            let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            fields.next().filter(|it| it.len() == length && it.bytes().all(is_digit))
        };
        let (version, trace, span, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        let has_more = fields.next().is_some();
        if version == "ff" || (version == "00" && has_more) || is_zero(trace) || is_zero(span) {
            return None;
        }
        let is_sampled = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
        Some(Self { trace: trace.to_owned(), span: span.to_owned(), is_sampled })
    }
}

/// A request that has ended.
#[derive(Debug)]
struct RequestSpan {
    facts: RequestFacts,
    report: CacheReport,
    status: u16,
    /// Nanoseconds since 1970.
    ended: u128,
    started: Instant,
    elapsed: Duration,
}

#[derive(Debug)]
enum TraceMessage {
    Span(Box<RequestSpan>),
    /// Asks for everything before it to be sent now.
    Flush(oneshot::Sender<()>),
}

/// Sends spans to a collector.
#[derive(Debug)]
pub(super) struct TraceExporter {
    queue: Sender<TraceMessage>,
    dropped: Arc<AtomicU64>,
}

impl TraceExporter {
    /// Starts the task that sends spans to the collector at `url`. Opens no connection yet.
    pub(super) fn start(url: &str, dropped: &Arc<AtomicU64>) -> Result<Self> {
        let client = client_builder(url.starts_with("https:"), env::proxy().as_ref())?
            .redirect(redirect::Policy::none())
            .timeout(EXPORT_TIMEOUT)
            .build()
            .map_err(client_error)?;
        let (queue, waiting) = channel(WAITING_SPANS);
        let url = format!("{url}/v1/traces");
        tokio::spawn(export_spans(client, url, waiting, Arc::clone(dropped)));
        Ok(Self { queue, dropped: Arc::clone(dropped) })
    }

    /// Queues the span of a request that has just ended.
    pub(super) fn record(
        &self,
        facts: &RequestFacts,
        report: &CacheReport,
        status: u16,
        started: Instant,
    ) {
        // Those of nobody are probes of the gateway itself, or were not let in.
        let is_unsampled = facts.trace.parent.as_ref().is_some_and(|parent| !parent.is_sampled);
        if facts.tenant.is_empty() || is_unsampled {
            return;
        }
        let now = u128::try_from(SystemClock.now().as_millis()).unwrap_or_default();
        let span = RequestSpan {
            facts: RequestFacts { asked: None, ..facts.clone() },
            report: report.clone(),
            status,
            ended: now * 1_000_000,
            started,
            elapsed: started.elapsed(),
        };
        if self.queue.try_send(TraceMessage::Span(Box::new(span))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends what waits, before the process ends.
    pub(super) async fn flush(&self) {
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if self.queue.send(TraceMessage::Flush(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        // Best effort: a collector that does not answer must not hold up the end.
        let _ = timeout(FLUSH_TIMEOUT, flushed).await;
    }
}

/// Collects spans, and sends them in batches until the gateway ends.
async fn export_spans(
    client: Client,
    url: String,
    mut waiting: Receiver<TraceMessage>,
    dropped: Arc<AtomicU64>,
) {
    let mut next = waiting.recv().await;
    while next.is_some() {
        let until = Instant::now() + BATCH_TIME;
        let (mut batch, mut flushed) = (Vec::new(), None);
        while let Some(message) = next.take() {
            match message {
                TraceMessage::Span(span) => batch.push(span),
                TraceMessage::Flush(done) => flushed = Some(done),
            }
            if batch.len() < BATCH_SPANS && flushed.is_none() {
                next = timeout_at(until, waiting.recv()).await.ok().flatten();
            }
        }
        let count = batch.len() as u64;
        let is_taken = count == 0 || {
            let body = to_otlp(&batch).to_string();
            let request = client.post(&url).header("content-type", "application/json").body(body);
            request.send().await.is_ok_and(|answer| answer.status().is_success())
        };
        if !is_taken {
            dropped.fetch_add(count, Ordering::Relaxed);
        }
        if let Some(done) = flushed {
            let _ = done.send(());
        }
        next = waiting.recv().await;
    }
}

/// The body of an export, as OTLP's JSON has it: ids in hexadecimal, and 64-bit numbers as text.
fn to_otlp(batch: &[Box<RequestSpan>]) -> Value {
    let spans: Vec<Value> = batch.iter().flat_map(|span| span.to_json()).collect();
    let version = env!("CARGO_PKG_VERSION");
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            text("service.name", "recoup-gateway"), text("service.version", version),
        ] },
        "scopeSpans": [{ "scope": { "name": "recoup", "version": version }, "spans": spans }],
    }] })
}

impl RequestSpan {
    /// The span of the request, and that of its upstream if it was asked.
    fn to_json(&self) -> Vec<Value> {
        let RequestFacts { id, tenant, method, path, upstream, model, trace, .. } = &self.facts;
        let new_id = || format!("{:016x}", fastrand::u64(1..));
        let trace_id = trace
            .parent
            .as_ref()
            .map_or_else(|| format!("{:032x}", fastrand::u128(1..)), |parent| parent.trace.clone());
        let mut attributes = vec![
            text("http.request.method", method),
            number("http.response.status_code", u64::from(self.status)),
            text("url.path", path),
            text("recoup.cache.outcome", self.report.status.as_str()),
            text("recoup.request.id", id),
            text("recoup.tenant", tenant),
        ];
        let key = self.report.key.as_ref().map(recoup_core::key::Key::as_str);
        attributes.extend(key.map(|key| text("recoup.cache.key", key)));
        attributes.extend(trace.system.map(|system| text("gen_ai.system", system)));
        attributes.extend(model.as_ref().map(|model| text("gen_ai.request.model", model)));
        if let Some(tokens) = self.report.tokens.get() {
            attributes.push(number("gen_ai.usage.input_tokens", tokens.input));
            attributes.push(number("gen_ai.usage.output_tokens", tokens.output));
        }
        let span_id = new_id();
        let begun = self.ended.saturating_sub(self.elapsed.as_nanos());
        let mut span = json!({
            "traceId": trace_id, "spanId": span_id, "name": format!("{method} {path}"),
            "kind": SERVER, "startTimeUnixNano": begun.to_string(),
            "endTimeUnixNano": self.ended.to_string(), "attributes": attributes,
        });
        if let Some(parent) = &trace.parent {
            span["parentSpanId"] = json!(parent.span);
        }
        if self.status >= 500 {
            span["status"] = json!({ "code": FAILED });
        }
        let mut spans = vec![span];
        if let (Some((asked, answered)), Some(name)) = (self.report.upstream_call, upstream) {
            let at = |time: Instant| {
                let after = time.saturating_duration_since(self.started).as_nanos();
                (begun + after).min(self.ended).to_string()
            };
            spans.push(json!({
                "traceId": trace_id, "spanId": new_id(), "parentSpanId": span_id,
                "name": format!("{method} {name}"), "kind": CLIENT,
                "startTimeUnixNano": at(asked), "endTimeUnixNano": at(answered),
                "attributes": [
                    text("http.request.method", method),
                    number("http.response.status_code", u64::from(self.status)),
                    text("recoup.upstream", name),
                ],
            }));
        }
        spans
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_valid_or_none() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let read = |text: String| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", text.parse().unwrap());
            TraceParent::read(&headers).map(|parent| parent.is_sampled)
        };
        assert_eq!(read(format!("00-{trace}-{span}-01")), Some(true));
        assert_eq!(read(format!("00-{trace}-{span}-00")), Some(false));
        assert_eq!(read(format!("01-{trace}-{span}-03-more")), Some(true));
        for wrong in [
            format!("00-{trace}-{span}-01-more"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{trace}-01"),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}
