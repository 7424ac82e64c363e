//! An explanation in words, the same for people and programs.

mod difference;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::cache::{
    LookupExplanation, LookupVerdict, MissCause, NearestEntry, SourceChangeKind,
};
use recoup_core::entry::{EntryEvent, EntryEventKind, EventReason};
use recoup_core::key::Kind;
use serde::Serialize;

use super::human;
use difference::describe_difference;

/// Maximum number of sources, and of rules, that are listed.
const MAX_LISTED: usize = 10;

const FAILURE: &str = "what is kept is a failure: --cache-failures accepts those";
const STREAMS_MERGED: &str =
    "stdout and stderr were recorded as one stream, and go to different places now";
const FUTURE: &str = "it was made in the future, and would never expire: check the clocks";

/// Maximum number of past events that are shown to people.
const MAX_PAST_EVENTS: usize = 3;

/// Looks up the text of a rule by its id.
type RuleNames<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Explanation of a look-up.
#[derive(Debug, Serialize)]
pub(super) struct ExplainReport {
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
    pub(super) fn new(explanation: &LookupExplanation) -> Self {
        Self::with_rule_names(explanation, &|_| None)
    }

    /// Like [`Self::new`], with `names` for the rules that differ.
    pub(super) fn with_rule_names(explanation: &LookupExplanation, names: RuleNames<'_>) -> Self {
        let LookupExplanation { id, kind, verdict, causes, past, nearest } = explanation;
        let now = SystemClock.now();
        Self {
            key: id.key.to_string(),
            scope: id.scope.to_string(),
            kind: *kind,
            status: status(*verdict),
            text: heading(*verdict, causes),
            causes: causes.iter().flat_map(|cause| cause_findings(cause, now, names)).collect(),
            past: past.iter().filter_map(|event| past_event(event, now)).collect(),
            nearest: nearest.as_ref().map(|nearest| nearest_report(nearest, now, names)),
        }
    }

    /// True if a look-up would not be answered.
    pub(super) fn is_miss(&self) -> bool {
        self.status == status(LookupVerdict::Miss)
    }

    /// Lines for people, the most important first.
    pub(super) fn lines(&self) -> Vec<String> {
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
    let is_rule = |said: &&&ExplainFinding| difference::RULE_CODES.contains(&said.code);
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
            format!("hit: {} old, good for ever", human::long_duration(age))
        }
        LookupVerdict::Hit { age, left: Some(left) } => {
            format!(
                "hit: {} old, good for another {}",
                human::long_duration(age),
                human::long_duration(left)
            )
        }
        LookupVerdict::Stale { since } => format!(
            "stale: good until {} ago; it is served, and run again in the background",
            human::long_duration(since)
        ),
        LookupVerdict::Miss => match causes {
            [MissCause::Absent, ..] => "miss: there is no such entry".to_owned(),
            [MissCause::AnotherQuestion(_), ..] => {
                "miss: the entry of that key answers another question".to_owned()
            }
            [MissCause::Disabled, ..] => "miss: the cache is switched off".to_owned(),
            [MissCause::Asked, ..] => "miss: a fresh result was asked for".to_owned(),
            [MissCause::Unavailable(_), ..] => "miss: the store could not answer".to_owned(),
            _ => "miss: the entry is there, and not good".to_owned(),
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
                    ("source_new", format!("is new, from {} ago", ago(*at)))
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
            ExplainFinding::new(
                "too_old",
                format!("begun {age} ago, longer than accepted (max-age {limit})"),
            )
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

/// Describes an event; hits and misses don't explain why an entry is absent.
fn past_event(event: &EntryEvent, now: Timestamp) -> Option<PastEvent> {
    if let EntryEventKind::Hit | EntryEventKind::Absent | EntryEventKind::Unavailable = event.what {
        return None;
    }
    Some(PastEvent {
        at: event.at.to_string(),
        what: event.what.as_str(),
        why: event.detail.why.as_ref().map(EventReason::code),
        text: format!("{event}, {} ago", human::long_duration(now.millis_since(event.at))),
    })
}

fn nearest_report(nearest: &NearestEntry, now: Timestamp, names: RuleNames<'_>) -> NearestReport {
    let NearestEntry { id, created, differences } = nearest;
    let ago = human::long_duration(now.millis_since(*created));
    let short: String = id.key.as_str().chars().take(16).collect();
    let text = match differences.len() {
        0 => format!("nearest: {short}, made {ago} ago by another version of recoup"),
        _ => format!("nearest: {short}, made {ago} ago, which differs in"),
    };
    NearestReport {
        key: id.key.to_string(),
        created_at: created.to_string(),
        text,
        differences: differences.iter().flat_map(|it| describe_difference(it, names)).collect(),
    }
}
