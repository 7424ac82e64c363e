//! Computes the totals and the most valuable entries.

use std::collections::BTreeMap;

use recoup_core::base::clock::day_to_date;
use recoup_core::cache::Cache;
use recoup_core::entry::{Happening, Head, Saved, Tally, day_of};
use recoup_core::key::{self, Id, Scope};
use recoup_core::store::{Filter, Flow};
use recoup_core::{Error, Result};
use serde::Serialize;

use super::parts::{Day, Share, Sum, Valued};
use super::since::Since;
use crate::cli::app::App;
use crate::cli::disk::{self, Part};
use crate::cli::projects::Names;

/// Maximum number of days in the report.
const DAYS: i64 = 400;

/// Options of `recoup stats`.
pub(super) struct Wanted {
    /// None means all scopes.
    pub(super) scope: Option<Scope>,
    pub(super) since: Since,
    pub(super) top: usize,
}

/// Savings of the cache. The JSON is read by programs: fields are only added.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// One scope, or `all`.
    pub(super) scope: String,
    /// Display name of the scope.
    #[serde(skip)]
    pub(super) title: String,
    pub(super) store: String,
    pub(super) since: String,
    pub(super) until: String,
    #[serde(flatten)]
    pub(super) sum: Sum,
    pub(super) hit_rate_pct: Option<String>,
    /// Number of events, by name.
    pub(super) counts: BTreeMap<&'static str, u64>,
    pub(super) entries: u64,
    /// Every day from the first to today.
    pub(super) days: Vec<Day>,
    pub(super) kinds: Vec<Share>,
    pub(super) projects: Vec<Share>,
    pub(super) identities: Vec<Share>,
    pub(super) most_valuable: Vec<Valued>,
    pub(super) disk: Vec<Part>,
    pub(super) prices: String,
    #[serde(skip)]
    pub(super) home: String,
    #[serde(skip)]
    pub(super) top: usize,
    #[serde(skip)]
    pub(super) behind: Option<String>,
}

impl Report {
    pub(super) fn gather(app: &App, wanted: &Wanted) -> Result<Self> {
        let cache = app.cache();
        let names = Names::read(&app.settings.home);
        let today = day_of(cache.clock().now());
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
        let first = first_shown(&tallies, first, today);
        let most_valuable = most_valuable(&cache, wanted.scope.as_ref(), wanted.top)?;
        let sum = total(tallies.iter());
        let by = |name: fn(&Tally) -> String| shares(&tallies, name);
        let mut projects = by(|tally| tally.scope.to_string());
        for share in &mut projects {
            let scope = Scope::parse(&share.name)?;
            (share.name, share.root) = (names.of(&scope), names.root(&scope).map(str::to_owned));
            share.scope = Some(scope.to_string());
        }
        Ok(Self {
            scope: wanted.scope.as_ref().map_or("all".to_owned(), Scope::to_string),
            title: wanted.scope.as_ref().map_or("all projects".to_owned(), |it| names.of(it)),
            store: cache.info().url,
            since: day_to_date(first),
            until: day_to_date(today),
            hit_rate_pct: sum.per_mille().map(|rate| format!("{}.{}", rate / 10, rate % 10)),
            sum,
            counts: counts(&tallies),
            entries,
            days: days(&tallies, first, today),
            kinds: by(|tally| tally.kind.to_string()),
            projects,
            identities: by(|tally| tally.by.clone())
                .into_iter()
                .filter(|share| !share.name.is_empty())
                .collect(),
            most_valuable,
            disk: disk::parts_of(&app.settings.home),
            prices: app.settings.prices.described(),
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
fn first_shown(tallies: &[Tally], first: i64, today: i64) -> i64 {
    let earliest = tallies.iter().map(|tally| tally.day).min().unwrap_or(today);
    let first = if first == i64::MIN { earliest } else { first };
    first.clamp(today.saturating_sub(DAYS), today)
}

fn total<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Sum {
    tallies.fold(Sum::default(), |mut sum, tally| {
        sum.add(tally);
        sum
    })
}

fn counts(tallies: &[Tally]) -> BTreeMap<&'static str, u64> {
    let mut counts: BTreeMap<Happening, u64> = BTreeMap::new();
    for tally in tallies {
        let count = counts.entry(tally.what).or_default();
        *count = count.saturating_add(tally.count);
    }
    counts.into_iter().map(|(what, count)| (what.as_str(), count)).collect()
}

fn days(tallies: &[Tally], first: i64, today: i64) -> Vec<Day> {
    let mut sums: BTreeMap<i64, Sum> = (first..=today).map(|day| (day, Sum::default())).collect();
    for tally in tallies {
        // A clock that was ahead may have counted future days.
        sums.entry(tally.day.clamp(first, today)).or_default().add(tally);
    }
    sums.into_iter().map(|(day, sum)| Day { date: day_to_date(day), sum }).collect()
}

/// Totals by name, sorted by savings, then by hits, the largest first.
fn shares(tallies: &[Tally], name: fn(&Tally) -> String) -> Vec<Share> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for tally in tallies {
        sums.entry(name(tally)).or_default().add(tally);
    }
    let mut shares: Vec<Share> = sums
        .into_iter()
        .filter(|(_, sum)| sum.look_ups() > 0)
        .map(|(name, sum)| Share { name, scope: None, root: None, sum })
        .collect();
    shares.sort_by_key(|share| std::cmp::Reverse((worth(share.sum.saved), share.sum.hits)));
    shares
}

/// Sort key for savings: dollars, then time, then tokens.
fn worth(saved: Saved) -> (u64, u64, u64) {
    (saved.micro_dollars, saved.millis, saved.input_tokens.saturating_add(saved.output_tokens))
}

/// The `top` served entries with the largest savings.
fn most_valuable(cache: &Cache, scope: Option<&Scope>, top: usize) -> Result<Vec<Valued>> {
    let mut best = Vec::new();
    let filter = Filter { scope: scope.cloned(), served: true, ..Filter::default() };
    cache.scan_filtered(&filter, &mut |id, head| {
        if let Ok(head) = head {
            best.push(one(id, head));
            // Truncated now and then, to bound memory.
            if best.len() > top.saturating_add(1_000) {
                keep_best(&mut best, top);
            }
        }
        Flow::Continue(())
    })?;
    keep_best(&mut best, top);
    Ok(best)
}

fn keep_best(best: &mut Vec<Valued>, top: usize) {
    best.sort_by(|a, b| {
        let rank = |it: &Valued| std::cmp::Reverse((worth(it.saved), it.hits));
        rank(a).cmp(&rank(b)).then_with(|| a.key.cmp(&b.key))
    });
    best.truncate(top);
}

fn one(id: &Id, head: &Head) -> Valued {
    let header = &head.header;
    let previews = header.parts.iter().rev().filter_map(key::Part::telling);
    let about = previews.chain(header.tags.iter().map(String::as_str)).collect::<Vec<_>>();
    Valued {
        key: id.key.to_string(),
        scope: id.scope.to_string(),
        kind: header.kind.as_str(),
        identity: header.identity.name.clone(),
        about: about.join(" · "),
        hits: head.hits,
        saved: Saved::by_hits(&header.cost, head.hits),
    }
}
