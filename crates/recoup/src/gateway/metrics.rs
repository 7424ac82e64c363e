//! Counters of the gateway, for Prometheus and `recoup gateway status`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::budgets::TokenSpend;
use super::observed::RequestFacts;
use super::report::{CacheReport, CacheStatus};
use super::status::RequestTotals;

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];
/// Most reasons that are counted by themselves.
const MOST_REASONS: usize = 40;

/// Counters since the start.
#[derive(Debug, Default)]
pub(super) struct GatewayMetrics {
    counts: Mutex<MetricCounts>,
    pub(super) stored: AtomicU64,
    pub(super) unstored: AtomicU64,
    pub(super) open: AtomicU64,
    pub(super) dropped_lines: AtomicU64,
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
    spent: TokenSpend,
}

impl GatewayMetrics {
    /// Counters of which that for errors of the store is shared with it.
    pub(super) fn new(store_errors: &Arc<AtomicU64>) -> Self {
        Self { store_errors: Arc::clone(store_errors), ..Self::default() }
    }

    /// Counts a request that has ended.
    pub(super) fn count(
        &self,
        facts: &RequestFacts,
        report: &CacheReport,
        status: u16,
        seconds: f64,
    ) {
        let outcome = report.status.as_str();
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

    /// Counts what an answer cost.
    pub(super) fn add_spend(&self, spend: TokenSpend) {
        self.counts.lock().spent += spend;
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
            ("spent_tokens_total", "counter", "Tokens that answers cost.", counts.spent.tokens),
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
        for (name, help, micros) in [
            ("saved_usd_total", "Dollars that hits did not cost.", counts.saved_micro_dollars),
            ("spent_usd_total", "Dollars that answers cost.", counts.spent.micro_dollars),
        ] {
            head(&mut text, name, "counter", help);
            let dollars = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            writeln!(text, "recoup_gateway_{name} {dollars}").expect(STRINGS_GROW);
        }
        text
    }
}
