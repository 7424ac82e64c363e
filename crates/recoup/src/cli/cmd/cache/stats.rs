//! `recoup cache stats`: the fields of the semantic-cache protocol, then our own.

use std::collections::BTreeMap;

use clap::Args;
use recoup_core::cache::CacheStats;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, human, ui};

#[derive(Debug, Args)]
pub(super) struct CacheStatsArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CacheStatsReport {
    enabled: bool,
    entries: u64,
    hits: u64,
    misses: u64,
    invalidations: u64,
    hit_rate_pct: String,
    size_mb: String,
    max_size_mb: String,
    scope: String,
    counts: BTreeMap<&'static str, u64>,
}

impl CacheStatsArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let (cache, scope) = (app.cache(), app.scope());
        let stats = cache.stats(&scope)?;
        if let Some(why) = &stats.behind {
            ui::warn(format_args!("the latest look-ups are not counted yet: {why}"));
        }
        if self.json {
            // As users configure it: `100`, not `100.00`.
            let max_size_mb = match cache.limits().max_bytes {
                None => "unlimited".to_owned(),
                Some(bytes) if bytes.is_multiple_of(1 << 20) => (bytes >> 20).to_string(),
                Some(bytes) => quotient_text(bytes, 1 << 20),
            };
            ui::json(&CacheStatsReport {
                enabled: cache.enabled(),
                entries: stats.usage.entries,
                hits: stats.hits(),
                misses: stats.misses(),
                invalidations: stats.invalidations(),
                hit_rate_pct: hit_rate_percent(&stats),
                size_mb: quotient_text(stats.usage.bytes, 1 << 20),
                max_size_mb,
                scope: scope.to_string(),
                counts: stats.counts.iter().map(|(what, count)| (what.as_str(), *count)).collect(),
            })?;
        } else {
            ui::fields(&fields(&stats, scope.as_str()))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

fn fields(stats: &CacheStats, scope: &str) -> Vec<(&'static str, String)> {
    let rate = hit_rate_percent(stats);
    let mut fields = vec![
        ("scope", scope.to_owned()),
        ("entries", stats.usage.entries.to_string()),
        ("size", human::size(stats.usage.bytes)),
        ("hit rate", format!("{rate} %")),
    ];
    fields.extend(stats.counts.iter().map(|(what, count)| (what.as_str(), count.to_string())));
    fields
}

/// Hits as a percentage of all look-ups.
fn hit_rate_percent(stats: &CacheStats) -> String {
    let (hits, misses) = (stats.hits(), stats.misses());
    quotient_text(hits.saturating_mul(100), hits.saturating_add(misses))
}

/// Quotient with two decimals, rounded; zero if `whole` is zero.
fn quotient_text(part: u64, whole: u64) -> String {
    let scaled = u128::from(part) * 100 + u128::from(whole) / 2;
    let value = scaled.checked_div(u128::from(whole)).unwrap_or(0);
    format!("{}.{:02}", value / 100, value % 100)
}
