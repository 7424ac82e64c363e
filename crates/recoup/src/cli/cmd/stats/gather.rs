//! Computes the totals and the most valuable entries.

use std::collections::BTreeMap;

use recoup_core::base::clock::day_to_date;
use recoup_core::cache::Cache;
use recoup_core::entry::{CostSavings, EntryEventKind, EventTally, day_number};
use recoup_core::key::Scope;
use recoup_core::memory::{NoteFilter, NoteStatus};
use recoup_core::store::{ScanFilter, ScanFlow};
use recoup_core::{Error, Result};
use serde::Serialize;

use super::PeriodStart;
use crate::cli::app::App;
use crate::cli::cmd::cache::describe_entry;
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
    /// Effect of rules with checks.
    pub(super) rules: RuleTotals,
    pub(super) disk: Vec<DiskUsage>,
    pub(super) prices: String,
    #[serde(skip)]
    pub(super) home: String,
    #[serde(skip)]
    pub(super) top: usize,
    #[serde(skip)]
    pub(super) behind: Option<String>,
}

/// Effect of the rules that have checks, in the time that memory keeps events for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct RuleTotals {
    pub(super) kept: u64,
    pub(super) broken: u64,
    pub(super) reminded: u64,
    pub(super) asked: u64,
    pub(super) blocked: u64,
}

impl RuleTotals {
    /// Adds up what became of the rules. Stats of the cache do not fail because of memory.
    fn gather(app: &App) -> Self {
        let active = NoteFilter { statuses: vec![NoteStatus::Active], ..NoteFilter::default() };
        let effects = app.memory().check_effects(&active).unwrap_or_default();
        effects.iter().fold(Self::default(), |sum, it| Self {
            kept: sum.kept + it.kept,
            broken: sum.broken + it.broken,
            reminded: sum.reminded + it.reminded,
            asked: sum.asked + it.asked,
            blocked: sum.blocked + it.blocked,
        })
    }

    /// Calls that a rule concerned.
    pub(super) fn concerned(self) -> u64 {
        self.kept + self.broken + self.blocked
    }
}

/// Hits, misses and savings of some look-ups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct LookupTotals {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) saved: CostSavings,
}

impl LookupTotals {
    fn add(&mut self, tally: &EventTally) {
        if tally.what == EntryEventKind::Hit {
            self.hits = self.hits.saturating_add(tally.count);
            self.saved = self.saved.plus(tally.saved);
        } else if tally.what.is_miss() {
            self.misses = self.misses.saturating_add(tally.count);
        }
    }

    pub(super) fn look_ups(&self) -> u64 {
        self.hits.saturating_add(self.misses)
    }

    /// Hits per thousand look-ups; none without look-ups.
    pub(super) fn hit_rate_per_mille(&self) -> Option<u64> {
        let hits = u128::from(self.hits) * 1_000;
        let all = u128::from(self.look_ups());
        (hits + all / 2).checked_div(all).and_then(|rate| u64::try_from(rate).ok())
    }
}

/// Totals of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DailyTotals {
    pub(super) date: String,
    #[serde(flatten)]
    pub(super) sum: LookupTotals,
}

/// Totals of one kind, project or identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NamedTotals {
    pub(super) name: String,
    /// Set if the name stands for a scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root: Option<String>,
    #[serde(flatten)]
    pub(super) sum: LookupTotals,
}

/// An entry and what its hits saved since it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ValuedEntry {
    pub(super) key: String,
    pub(super) scope: String,
    pub(super) kind: &'static str,
    pub(super) identity: Option<String>,
    pub(super) about: String,
    pub(super) hits: u64,
    pub(super) saved: CostSavings,
}

impl StatsReport {
    pub(super) fn gather(app: &App, wanted: &StatsOptions) -> Result<Self> {
        let cache = app.cache();
        let names = ProjectNames::read(&app.settings.home);
        let today = day_number(cache.clock().now());
        let first = wanted.since.first_day(cache.clock().now());
        if first > today {
            return Err(Error::usage("invalid --since: the date is in the future"));
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
        // Not before the first event, and limited to a readable number of days.
        let earliest = tallies.iter().map(|tally| tally.day).min().unwrap_or(today);
        let first = if first == i64::MIN { earliest } else { first };
        let first = first.clamp(today.saturating_sub(MAX_DAYS), today);
        let most_valuable = most_valuable(&cache, wanted.scope.as_ref(), wanted.top)?;
        let mut sum = LookupTotals::default();
        for tally in &tallies {
            sum.add(tally);
        }
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
            rules: RuleTotals::gather(app),
            disk: disk::disk_usage(&app.settings.home),
            prices: app.settings.prices.describe(),
            home: app.settings.home.display().to_string(),
            top: wanted.top,
            behind,
        })
    }

    /// True if nothing was ever looked up or stored, and no rule was met.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.entries == 0 && self.rules.concerned() == 0
    }
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
            let header = &head.header;
            best.push(ValuedEntry {
                key: id.key.to_string(),
                scope: id.scope.to_string(),
                kind: header.kind.as_str(),
                identity: header.identity.name.clone(),
                about: describe_entry(&header.parts, &header.tags),
                hits: head.hits,
                saved: CostSavings::by_hits(&header.cost, head.hits),
            });
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
