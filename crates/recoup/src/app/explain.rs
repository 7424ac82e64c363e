//! An explanation in words, the same for people and programs.

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::cache::{
    ComparedSide, LookupExplanation, LookupVerdict, MissCause, NearestEntry, PartChange,
    PartDifference, RuleChanges, SourceChangeKind, TextDifference, quote,
};
use recoup_core::entry::{EntryEvent, EntryEventKind, EventReason};
use recoup_core::key::{Kind, RuleFingerprint};
use serde::Serialize;

use crate::human;

/// Maximum number of sources, and of rules, that are listed.
const MAX_LISTED: usize = 10;

const FAILURE: &str = "the stored result is a failure; use --cache-failures to accept it";
const STREAMS_MERGED: &str =
    "stdout and stderr were recorded as one stream, but now go to different places";
const FUTURE: &str = "the entry's creation time is in the future; check the system clocks";

/// Maximum number of past events that are shown to people.
const MAX_PAST_EVENTS: usize = 3;

/// Codes of findings about one rule.
const RULE_CODES: [&str; 3] = ["rule_new", "rule_reworded", "rule_gone"];

/// Looks up the text of a rule by its id.
type RuleNames<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Explanation of a look-up.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainReport {
    key: String,
    scope: String,
    kind: Kind,
    status: &'static str,
    text: String,
    causes: Vec<ExplainFinding>,
    past: Vec<PastEvent>,
    nearest: Option<NearestReport>,
}

/// One cause or difference.
#[derive(Debug, Serialize)]
struct ExplainFinding {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    /// Empty if the heading says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
}

/// Something that happened to the entry.
#[derive(Debug, Serialize)]
struct PastEvent {
    at: String,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    text: String,
}

/// The most similar entry.
#[derive(Debug, Serialize)]
struct NearestReport {
    key: String,
    created_at: String,
    text: String,
    differences: Vec<ExplainFinding>,
}

impl ExplainReport {
    pub(crate) fn new(explanation: &LookupExplanation) -> Self {
        Self::with_rule_names(explanation, &|_| None)
    }

    /// Like [`Self::new`], with `names` for the rules that differ.
    pub(crate) fn with_rule_names(explanation: &LookupExplanation, names: RuleNames<'_>) -> Self {
        let LookupExplanation { id, kind, verdict, causes, past, nearest } = explanation;
        let now = SystemClock.now();
        // Hits and misses don't explain why an entry is absent.
        let explains = |event: &EntryEvent| {
            use EntryEventKind::{Absent, Hit, Unavailable};
            !matches!(event.what, Hit | Absent | Unavailable)
        };
        let describe = |event: &EntryEvent| PastEvent {
            at: event.at.to_string(),
            what: event.what.as_str(),
            why: event.detail.why.as_ref().map(EventReason::code),
            text: format!("{event}, {} ago", human::long_duration(now.millis_since(event.at))),
        };
        let nearest = nearest.as_ref().map(|NearestEntry { id, created, differences }| {
            let ago = human::long_duration(now.millis_since(*created));
            let short: String = id.key.as_str().chars().take(16).collect();
            let text = match differences.len() {
                0 => format!("nearest: {short}, created {ago} ago by another version of recoup"),
                _ => format!("nearest: {short}, created {ago} ago, differs in:"),
            };
            let differences = differences.iter().flat_map(|it| describe_difference(it, names));
            NearestReport {
                key: id.key.to_string(),
                created_at: created.to_string(),
                text,
                differences: differences.collect(),
            }
        });
        Self {
            key: id.key.to_string(),
            scope: id.scope.to_string(),
            kind: *kind,
            status: status(*verdict),
            text: heading(*verdict, causes),
            causes: causes.iter().flat_map(|cause| cause_findings(cause, now, names)).collect(),
            past: past.iter().filter(|event| explains(event)).map(describe).collect(),
            nearest,
        }
    }

    /// True if a look-up would not be answered.
    pub(crate) fn is_miss(&self) -> bool {
        self.status == status(LookupVerdict::Miss)
    }

    /// Lines for people, the most important first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.text.clone()];
        let (sources, others): (Vec<&ExplainFinding>, Vec<&ExplainFinding>) =
            self.causes.iter().partition(|said| said.path.is_some());
        lines.extend(limited_lines("sources", &sources));
        lines.extend(difference_lines(&others));
        // The latest events explain why there is no entry.
        if self.causes.first().is_some_and(|cause| cause.code == "absent") {
            lines.extend(
                self.past.iter().take(MAX_PAST_EVENTS).map(|past| format!("  {}", past.text)),
            );
        }
        if let Some(near) = &self.nearest {
            lines.push(near.text.clone());
            lines.extend(difference_lines(&near.differences.iter().collect::<Vec<_>>()));
        }
        lines
    }
}

/// A line for each finding; of rules only the first ones.
fn difference_lines(all: &[&ExplainFinding]) -> Vec<String> {
    let is_rule = |said: &&&ExplainFinding| RULE_CODES.contains(&said.code);
    let (rules, others): (Vec<&ExplainFinding>, Vec<&ExplainFinding>) =
        all.iter().partition(is_rule);
    let told = others.iter().filter(|said| !said.text.is_empty()).map(|said| indented(said));
    told.chain(limited_lines("rules", &rules)).collect()
}

/// Lines for the first findings, and the number of the others.
fn limited_lines(part: &str, all: &[&ExplainFinding]) -> Vec<String> {
    let more = all.len().saturating_sub(MAX_LISTED);
    let mut lines: Vec<String> = all.iter().take(MAX_LISTED).map(|said| indented(said)).collect();
    lines.extend((more > 0).then(|| format!("  {part}: and {more} more")));
    lines
}

fn indented(said: &ExplainFinding) -> String {
    format!("  {}", said.text)
}

fn status(verdict: LookupVerdict) -> &'static str {
    match verdict {
        LookupVerdict::Hit { .. } => "hit",
        LookupVerdict::Stale { .. } => "stale",
        LookupVerdict::Miss => "miss",
    }
}

fn heading(verdict: LookupVerdict, causes: &[MissCause]) -> String {
    match verdict {
        LookupVerdict::Hit { age, left: None } => {
            format!("hit: {} old, never expires", human::long_duration(age))
        }
        LookupVerdict::Hit { age, left: Some(left) } => {
            format!(
                "hit: {} old, expires in {}",
                human::long_duration(age),
                human::long_duration(left)
            )
        }
        LookupVerdict::Stale { since } => format!(
            "stale: expired {} ago; still served while it is refreshed in the background",
            human::long_duration(since)
        ),
        LookupVerdict::Miss => match causes {
            [MissCause::Absent, ..] => "miss: no entry for this key".to_owned(),
            [MissCause::AnotherQuestion(_), ..] => {
                "miss: the entry for this key answers a different question".to_owned()
            }
            [MissCause::Disabled, ..] => "miss: the cache is switched off".to_owned(),
            [MissCause::Asked, ..] => "miss: a fresh result was requested".to_owned(),
            [MissCause::Unavailable(_), ..] => "miss: the store is unavailable".to_owned(),
            _ => "miss: an entry exists, but cannot be used".to_owned(),
        },
    }
}

impl ExplainFinding {
    fn new(code: &'static str, text: String) -> Self {
        Self { code, part: None, path: None, rule: None, at: None, now: None, was: None, text }
    }
}

/// Findings about a cause, without text if the heading says it.
fn cause_findings(cause: &MissCause, now: Timestamp, names: RuleNames<'_>) -> Vec<ExplainFinding> {
    let ago = |at: Timestamp| human::long_duration(now.millis_since(at));
    let one = match cause {
        MissCause::Disabled => ExplainFinding::new("disabled", String::new()),
        MissCause::Asked => ExplainFinding::new("asked", String::new()),
        MissCause::Absent => ExplainFinding::new("absent", String::new()),
        MissCause::Failure => ExplainFinding::new("failure", FAILURE.to_owned()),
        MissCause::StreamsMerged => {
            ExplainFinding::new("streams_merged", STREAMS_MERGED.to_owned())
        }
        MissCause::FromTheFuture => ExplainFinding::new("from_the_future", FUTURE.to_owned()),
        MissCause::Unwatchable(error) => {
            ExplainFinding::new("unwatchable", format!("sources: {error}"))
        }
        MissCause::AnotherQuestion(differences) => {
            return differences.iter().flat_map(|it| describe_difference(it, names)).collect();
        }
        MissCause::Source { change, at } => {
            let (code, what) = match (change.how, at) {
                (SourceChangeKind::Modified, Some(at)) => {
                    ("source_modified", format!("changed {} ago", ago(*at)))
                }
                (SourceChangeKind::Modified, None) => ("source_modified", "changed".to_owned()),
                (SourceChangeKind::Missing, _) => ("source_missing", "is gone".to_owned()),
                (SourceChangeKind::New, Some(at)) => {
                    ("source_new", format!("is new, modified {} ago", ago(*at)))
                }
                (SourceChangeKind::New, None) => ("source_new", "is new".to_owned()),
            };
            let text = format!("sources: {} {what}", change.path);
            ExplainFinding {
                part: Some("sources".to_owned()),
                path: Some(change.path.clone()),
                at: at.map(|at| at.to_string()),
                ..ExplainFinding::new(code, text)
            }
        }
        MissCause::Expired { since, ttl } => {
            let text = format!(
                "expired {} ago (ttl {})",
                human::long_duration(*since),
                human::short_duration(*ttl)
            );
            ExplainFinding::new("expired", text)
        }
        MissCause::TooOld { age, limit } => {
            let (age, limit) = (human::long_duration(*age), human::short_duration(*limit));
            ExplainFinding::new("too_old", format!("started {age} ago, older than max-age {limit}"))
        }
        MissCause::Damaged(damage) => {
            ExplainFinding::new("corrupt", format!("the entry is damaged: {damage}"))
        }
        MissCause::Unavailable(error) => {
            ExplainFinding::new("store_unavailable", error.to_string())
        }
    };
    vec![one]
}

/// Findings about a part that differs; for rules one each.
fn describe_difference(difference: &PartDifference, names: RuleNames<'_>) -> Vec<ExplainFinding> {
    let part = &difference.part;
    let changes = match &difference.how {
        PartChange::Rules(changes) => changes,
        how => return vec![describe_change(part, how)],
    };
    // The rules as a whole, then each one that is known.
    let RuleChanges { added, gone, reworded, more, only } = changes;
    let none_differs = added.is_empty() && gone.is_empty() && reworded.is_empty();
    let of_all = match only {
        Some(ComparedSide::Question) => {
            Some(("added", "hooks now deliver them to the agent, but did not before"))
        }
        Some(ComparedSide::Entry) => Some(("gone", "hooks no longer deliver them to the agent")),
        None if *more => Some(("rules", "too many to list which ones differ")),
        None if none_differs => Some(("weight", "the same rules in a different order")),
        None => None,
    };
    let mut all: Vec<ExplainFinding> =
        of_all.iter().map(|(code, what)| part_finding(part, code, what)).collect();
    let [new, other_words, no_longer] = RULE_CODES;
    let shown =
        |rule: &RuleFingerprint| names(&rule.id).map_or_else(|| rule.id.clone(), |it| quote(&it));
    let mut tell = |rules: &[RuleFingerprint], code: &'static str, what: &str| {
        all.extend(rules.iter().map(|rule| ExplainFinding {
            rule: Some(rule.id.clone()),
            // The previous text is not known any more.
            now: if code == no_longer { None } else { names(&rule.id) },
            was: if code == no_longer { names(&rule.id) } else { None },
            ..part_finding(part, code, &format!("{} {what}", shown(rule)))
        }));
    };
    tell(added, new, "is new");
    tell(reworded, other_words, "was reworded");
    tell(gone, no_longer, "is gone");
    all
}

fn describe_change(part: &str, how: &PartChange) -> ExplainFinding {
    let both = |now: &str, was: &str| (Some(now.to_owned()), Some(was.to_owned()));
    let (code, (now, was)) = match how {
        PartChange::Text(TextDifference::Words { now, was, .. }) => ("words", both(now, was)),
        PartChange::Text(TextDifference::Other { now, was }) => ("text", both(now, was)),
        PartChange::Text(TextDifference::Beyond { .. }) => ("text", (None, None)),
        PartChange::Items { added, gone } => ("items", both(&added.join(" "), &gone.join(" "))),
        PartChange::Switched { on: true } => ("set", both("set", "unset")),
        PartChange::Switched { on: false } => ("unset", both("unset", "set")),
        PartChange::Replaced { path } => ("replaced", both(path, path)),
        PartChange::Added { now } => ("added", (now.clone(), None)),
        PartChange::Gone { was } => ("gone", (None, was.clone())),
        PartChange::Hidden | PartChange::Rules(_) => ("content", (None, None)),
        PartChange::Value { .. } => ("value", (None, None)),
    };
    ExplainFinding { now, was, ..part_finding(part, code, &how.to_string()) }
}

fn part_finding(part: &str, code: &'static str, what: &str) -> ExplainFinding {
    ExplainFinding {
        part: Some(part.to_owned()),
        ..ExplainFinding::new(code, format!("{part}: {what}"))
    }
}
