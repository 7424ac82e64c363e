//! The report for people: at most 80 columns, with colours on a terminal only.

use super::gather::{DailyTotals, LookupTotals, NamedTotals, RuleTotals, StatsReport, ValuedEntry};
use crate::cli::human;
use crate::cli::ui::{BOLD, DIM, GREEN, YELLOW, fitted, padded};

/// Length of the longest bar, and maximum number of bars.
const MAX_BAR_LEN: usize = 36;
const MAX_BARS: usize = 14;
/// Column width of names.
const NAME_COLUMNS: usize = 24;
/// Maximum width of an entry's description.
const DESCRIPTION_COLUMNS: usize = 40;

/// Reasons for misses, and their display names.
const REASONS: [(&str, &str); 5] = [
    ("absent", "no entry"),
    ("invalidated", "a source changed"),
    ("expired", "expired"),
    ("corrupt", "damaged"),
    ("unavailable", "unavailable"),
];

pub(super) fn render_report(report: &StatsReport) -> String {
    let StatsReport { title, since, until, .. } = report;
    let title = fitted(title, 40);
    let heading = format!("{BOLD}What the cache saved{BOLD:#} · {title} · {since} to {until}");
    let mut lines = vec![heading, String::new()];
    lines.extend(total_lines(report));
    lines.extend(miss_lines(report));
    lines.extend(day_lines(&report.days));
    lines.extend(name_lines("by kind", &report.kinds, usize::MAX));
    lines.extend(name_lines("by project", &report.projects, report.top));
    lines.extend(name_lines("by agent, tool or command", &report.identities, report.top));
    lines.extend(valuable_entry_lines(&report.most_valuable));
    lines.extend(rule_lines(report.rules));
    lines.extend(disk_lines(report));
    lines.push(String::new());
    lines.push(format!("{DIM}prices: {}{DIM:#}", report.prices));
    lines.push(String::new());
    lines.join("\n")
}

fn section_title(text: &str) -> [String; 2] {
    [String::new(), format!("{BOLD}{text}{BOLD:#}")]
}

fn total_lines(report: &StatsReport) -> Vec<String> {
    const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let LookupTotals { hits, misses: _, saved } = report.sum;
    let mut lines = Vec::new();
    let all = report.sum.look_ups();
    let rate = report.hit_rate_pct.as_deref().unwrap_or("0.0");
    let worth = human::savings(saved);
    let worth = if worth.is_empty() { "nothing measured".to_owned() } else { worth.join(" · ") };
    lines.push(format!("  saved     {GREEN}{worth}{GREEN:#}"));
    let hits = human::count(hits);
    lines.push(format!("  hits      {hits} of {} look-ups ({rate} %)", human::count(all)));
    // Hit rates of the last 60 days, one character each, without days before the first look-up.
    let days = &report.days;
    let first = days.iter().position(|day| day.sum.look_ups() > 0).unwrap_or(0);
    let days = days[first.max(days.len().saturating_sub(60))..].iter();
    let sign = |day: &DailyTotals| match day.sum.hit_rate_per_mille() {
        None => '·',
        Some(rate) => SIGNS[usize::try_from(rate * 7 / 1_000).unwrap_or(7).min(7)],
    };
    let line: String = days.map(sign).collect();
    if line.chars().count() > 1 && all > 0 {
        lines.push(format!("  hit rate  {GREEN}{line}{GREEN:#}"));
    }
    let count = |what: &str| report.counts.get(what).copied().unwrap_or(0);
    let fates: Vec<String> = ["stored", "refused", "evicted", "purged", "removed"]
        .into_iter()
        .filter(|what| count(what) > 0)
        .map(|what| format!("{} {what}", human::count(count(what))))
        .collect();
    let entries = human::count(report.entries);
    lines.push(format!(
        "  entries   {}",
        [vec![format!("{entries} now")], fates].concat().join(" · ")
    ));
    lines
}

fn miss_lines(report: &StatsReport) -> Vec<String> {
    let counts = REASONS.map(|(what, said)| (said, report.counts.get(what).copied().unwrap_or(0)));
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most == 0 {
        return Vec::new();
    }
    let mut lines = section_title("misses, by reason").to_vec();
    lines.extend(counts.into_iter().filter(|(_, count)| *count > 0).map(|(said, count)| {
        let bar = "█".repeat(bar_length(count, most).max(1));
        format!("  {said:<16} {:>7}  {YELLOW}{bar}{YELLOW:#}", human::count(count))
    }));
    lines
}

fn day_lines(days: &[DailyTotals]) -> Vec<String> {
    let busy: Vec<&DailyTotals> = days.iter().filter(|day| day.sum.look_ups() > 0).collect();
    let last = &busy[busy.len().saturating_sub(MAX_BARS)..];
    let most = last.iter().map(|day| day.sum.look_ups()).max().unwrap_or(0);
    if most == 0 {
        return Vec::new();
    }
    let mut lines = section_title("by day").to_vec();
    lines.extend(last.iter().map(|DailyTotals { date, sum }| {
        let all = bar_length(sum.look_ups(), most).max(1);
        let hits = if sum.hits == 0 { 0 } else { bar_length(sum.hits, most).clamp(1, all) };
        let (hit, miss) = ("█".repeat(hits), "░".repeat(all - hits));
        let counts = format!("{} of {}", human::count(sum.hits), human::count(sum.look_ups()));
        let space = " ".repeat(MAX_BAR_LEN - all);
        format!("  {date}  {GREEN}{hit}{GREEN:#}{DIM}{miss}{DIM:#}{space}  {counts}")
    }));
    lines
}

/// Length of a bar, relative to the longest.
fn bar_length(part: u64, most: u64) -> usize {
    let scaled = u128::from(part) * MAX_BAR_LEN as u128;
    usize::try_from((scaled + u128::from(most) / 2) / u128::from(most.max(1)))
        .unwrap_or(MAX_BAR_LEN)
        .min(MAX_BAR_LEN)
}

fn name_lines(name: &str, shares: &[NamedTotals], top: usize) -> Vec<String> {
    if shares.is_empty() {
        return Vec::new();
    }
    let mut lines = section_title(name).to_vec();
    lines.extend(shares.iter().take(top).map(|NamedTotals { name, sum, .. }| {
        let rate =
            sum.hit_rate_per_mille().map_or(String::new(), |rate| format!("{} %", (rate + 5) / 10));
        let saved = human::savings(sum.saved).join(" · ");
        let hits = match sum.hits {
            1 => "1 hit ".to_owned(),
            many => format!("{} hits", human::count(many)),
        };
        let text = format!("  {} {hits:>13} {rate:>6}  {saved}", padded(name, NAME_COLUMNS));
        text.trim_end().to_owned()
    }));
    if shares.len() > top {
        lines.push(format!("  {DIM}and {} more (--top N, --json){DIM:#}", shares.len() - top));
    }
    lines
}

fn valuable_entry_lines(entries: &[ValuedEntry]) -> Vec<String> {
    if entries.is_empty() {
        return Vec::new();
    }
    let mut lines = section_title("most valuable entries, since they were stored").to_vec();
    lines.extend(entries.iter().map(|entry| {
        let key: String = entry.key.chars().take(8).collect();
        let about = match (&entry.identity, entry.about.as_str()) {
            (Some(name), "") => name.clone(),
            (Some(name), about) if !about.contains(name.as_str()) => format!("{name} · {about}"),
            (_, "") => entry.kind.to_owned(),
            (_, about) => about.to_owned(),
        };
        let saved = human::main_savings(entry.saved);
        let hits = human::count(entry.hits);
        let text = format!(
            "  {DIM}{key:<8}{DIM:#}  {} {hits:>6}×  {saved}",
            padded(&about, DESCRIPTION_COLUMNS)
        );
        text.trim_end().to_owned()
    }));
    lines
}

/// Rules that agents kept and broke, in all projects.
fn rule_lines(rules: RuleTotals) -> Vec<String> {
    if rules.concerned() == 0 {
        return Vec::new();
    }
    let kept = human::count(rules.kept + rules.blocked);
    let mut lines = section_title("your rules, in the last 90 days").to_vec();
    lines.push(format!("  kept      {kept} of {} times", human::count(rules.concerned())));
    let parts = [(rules.reminded, "reminded"), (rules.asked, "asked"), (rules.blocked, "blocked")];
    let acts = parts.iter().filter(|(count, _)| *count > 0);
    let acts: Vec<String> =
        acts.map(|(count, what)| format!("{} {what}", human::count(*count))).collect();
    if !acts.is_empty() {
        lines.push(format!("  calls     {}", acts.join(" · ")));
    }
    lines
}

fn disk_lines(report: &StatsReport) -> Vec<String> {
    let total: u64 = report.disk.iter().map(|part| part.bytes).sum();
    if total == 0 {
        return Vec::new();
    }
    let name = format!("on disk, in {}", fitted(&report.home, 50));
    let mut lines = section_title(&name).to_vec();
    let line = |name: &str, bytes: u64| {
        format!("  {} {:>10}", padded(name, NAME_COLUMNS), human::size(bytes))
    };
    lines.extend(report.disk.iter().map(|part| line(&part.part, part.bytes)));
    if report.disk.len() > 1 {
        lines.push(line("together", total));
    }
    lines
}
