//! Computes the totals and the most valuable entries.

use std::collections::BTreeMap;

use recoup_core::base::clock::day_to_date;
use recoup_core::cache::Cache;
use recoup_core::entry::{CostSavings, EntryEventKind, EntryHead, EventTally, day_number};
use recoup_core::key::{self, EntryId, Scope};
use recoup_core::store::{ScanFilter, ScanFlow};
use recoup_core::{Error, Result};
use serde::Serialize;

use super::parts::{DailyTotals, LookupTotals, NamedTotals, ValuedEntry};
use super::since::PeriodStart;
use crate::cli::app::AppContext;
use crate::cli::disk::{self, DiskUsage};
use crate::cli::projects::ProjectNames;

/// Maximum number of days in the report.
const MAX_DAYS: i64 = 400;

/// Options of `recoup stats`.
pub(super) struct StatsOptions {
    /// None means all scopes.
    pub(super) scope: Option<Scope>,
    pub(super) since: PeriodStart,
    pub(super) top: usize,
}

/// Savings of the cache. The JSON is read by programs: fields are only added.
#[derive(Debug, Serialize)]
pub(super) struct StatsReport {
    /// One scope, or `all`.
    pub(super) scope: String,
    /// Display name of the scope.
    #[serde(skip)]
    pub(super) title: String,
    pub(super) store: String,
    pub(super) since: String,
    pub(super) until: String,
    #[serde(flatten)]
    pub(super) sum: LookupTotals,
    pub(super) hit_rate_pct: Option<String>,
    /// Number of events, by name.
    pub(super) counts: BTreeMap<&'static str, u64>,
    pub(super) entries: u64,
    /// Every day from the first to today.
    pub(super) days: Vec<DailyTotals>,
    pub(super) kinds: Vec<NamedTotals>,
    pub(super) projects: Vec<NamedTotals>,
    pub(super) identities: Vec<NamedTotals>,
    pub(super) most_valuable: Vec<ValuedEntry>,
    pub(super) disk: Vec<DiskUsage>,
    pub(super) prices: String,
    #[serde(skip)]
    pub(super) home: String,
    #[serde(skip)]
    pub(super) top: usize,
    #[serde(skip)]
    pub(super) behind: Option<String>,
}

impl StatsReport {
    pub(super) fn gather(app: &AppContext, wanted: &StatsOptions) -> Result<Self> {
        let cache = app.cache();
        let names = ProjectNames::read(&app.settings.home);
        let today = day_number(cache.clock().now());
        let first = wanted.since.first_day(cache.clock().now());
        if first > today {
            return Err(Error::usage("--since: that day is still to come"));
        }
        let (mut tallies, behind) = cache.tallies(wanted.scope.as_ref())?;
        // Every scope with entries has tallies.
        let mut scopes: Vec<Scope> = tallies.iter().map(|tally| tally.scope.clone()).collect();
        scopes.extend(wanted.scope.clone());
        scopes.sort_unstable();
        scopes.dedup();
        let usages = scopes.iter().map(|scope| cache.usage(scope).map(|usage| usage.entries));
        let entries = usages.sum::<Result<u64>>()?;
        tallies.retain(|tally| tally.day >= first);
        let first = first_day_shown(&tallies, first, today);
        let most_valuable = most_valuable(&cache, wanted.scope.as_ref(), wanted.top)?;
        let sum = sum_tallies(tallies.iter());
        let by = |name: fn(&EventTally) -> String| totals_by_name(&tallies, name);
        let mut projects = by(|tally| tally.scope.to_string());
        for share in &mut projects {
            let scope = Scope::parse(&share.name)?;
            (share.name, share.root) =
                (names.display_name(&scope), names.root(&scope).map(str::to_owned));
            share.scope = Some(scope.to_string());
        }
        Ok(Self {
            scope: wanted.scope.as_ref().map_or("all".to_owned(), Scope::to_string),
            title: wanted
                .scope
                .as_ref()
                .map_or("all projects".to_owned(), |it| names.display_name(it)),
            store: cache.info().url,
            since: day_to_date(first),
            until: day_to_date(today),
            hit_rate_pct: sum
                .hit_rate_per_mille()
                .map(|rate| format!("{}.{}", rate / 10, rate % 10)),
            sum,
            counts: count_by_event(&tallies),
            entries,
            days: totals_by_day(&tallies, first, today),
            kinds: by(|tally| tally.kind.to_string()),
            projects,
            identities: by(|tally| tally.by.clone())
                .into_iter()
                .filter(|share| !share.name.is_empty())
                .collect(),
            most_valuable,
            disk: disk::disk_usage(&app.settings.home),
            prices: app.settings.prices.describe(),
            home: app.settings.home.display().to_string(),
            top: wanted.top,
            behind,
        })
    }

    /// True if nothing was ever looked up or stored.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.entries == 0
    }
}

/// First day of the report: not before the first event, and limited to a readable number of days.
fn first_day_shown(tallies: &[EventTally], first: i64, today: i64) -> i64 {
    let earliest = tallies.iter().map(|tally| tally.day).min().unwrap_or(today);
    let first = if first == i64::MIN { earliest } else { first };
    first.clamp(today.saturating_sub(MAX_DAYS), today)
}

fn sum_tallies<'a>(tallies: impl Iterator<Item = &'a EventTally>) -> LookupTotals {
    tallies.fold(LookupTotals::default(), |mut sum, tally| {
        sum.add(tally);
        sum
    })
}

fn count_by_event(tallies: &[EventTally]) -> BTreeMap<&'static str, u64> {
    let mut counts: BTreeMap<EntryEventKind, u64> = BTreeMap::new();
    for tally in tallies {
        let count = counts.entry(tally.what).or_default();
        *count = count.saturating_add(tally.count);
    }
    counts.into_iter().map(|(what, count)| (what.as_str(), count)).collect()
}

fn totals_by_day(tallies: &[EventTally], first: i64, today: i64) -> Vec<DailyTotals> {
    let mut sums: BTreeMap<i64, LookupTotals> =
        (first..=today).map(|day| (day, LookupTotals::default())).collect();
    for tally in tallies {
        // A clock that was ahead may have counted future days.
        sums.entry(tally.day.clamp(first, today)).or_default().add(tally);
    }
    sums.into_iter().map(|(day, sum)| DailyTotals { date: day_to_date(day), sum }).collect()
}

/// Totals by name, sorted by savings, then by hits, the largest first.
fn totals_by_name(tallies: &[EventTally], name: fn(&EventTally) -> String) -> Vec<NamedTotals> {
    let mut sums: BTreeMap<String, LookupTotals> = BTreeMap::new();
    for tally in tallies {
        sums.entry(name(tally)).or_default().add(tally);
    }
    let mut shares: Vec<NamedTotals> = sums
        .into_iter()
        .filter(|(_, sum)| sum.look_ups() > 0)
        .map(|(name, sum)| NamedTotals { name, scope: None, root: None, sum })
        .collect();
    shares.sort_by_key(|share| std::cmp::Reverse((savings_rank(share.sum.saved), share.sum.hits)));
    shares
}

/// Sort key for savings: dollars, then time, then tokens.
fn savings_rank(saved: CostSavings) -> (u64, u64, u64) {
    (saved.micro_dollars, saved.millis, saved.input_tokens.saturating_add(saved.output_tokens))
}

/// The `top` served entries with the largest savings.
fn most_valuable(cache: &Cache, scope: Option<&Scope>, top: usize) -> Result<Vec<ValuedEntry>> {
    let mut best = Vec::new();
    let filter = ScanFilter { scope: scope.cloned(), served: true, ..ScanFilter::default() };
    cache.scan_filtered(&filter, &mut |id, head| {
        if let Ok(head) = head {
            best.push(valued_entry(id, head));
            // Truncated now and then, to bound memory.
            if best.len() > top.saturating_add(1_000) {
                keep_best(&mut best, top);
            }
        }
        ScanFlow::Continue(())
    })?;
    keep_best(&mut best, top);
    Ok(best)
}

fn keep_best(best: &mut Vec<ValuedEntry>, top: usize) {
    best.sort_by(|a, b| {
        let rank = |it: &ValuedEntry| std::cmp::Reverse((savings_rank(it.saved), it.hits));
        rank(a).cmp(&rank(b)).then_with(|| a.key.cmp(&b.key))
    });
    best.truncate(top);
}

fn valued_entry(id: &EntryId, head: &EntryHead) -> ValuedEntry {
    let header = &head.header;
    let previews = header.parts.iter().rev().filter_map(key::KeyPart::identifying_preview);
    let about = previews.chain(header.tags.iter().map(String::as_str)).collect::<Vec<_>>();
    ValuedEntry {
        key: id.key.to_string(),
        scope: id.scope.to_string(),
        kind: header.kind.as_str(),
        identity: header.identity.name.clone(),
        about: about.join(" · "),
        hits: head.hits,
        saved: CostSavings::by_hits(&header.cost, head.hits),
    }
}
