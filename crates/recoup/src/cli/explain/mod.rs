//! An explanation in words, the same for people and programs.

mod difference;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::cache::{Cause, Changed, Explanation, Nearest, Verdict};
use recoup_core::entry::{Event, Happening, Why};
use recoup_core::key::Kind;
use serde::Serialize;

use super::human;
use difference::differing;

/// Maximum number of sources, and of rules, that are listed.
const NAMED: usize = 10;

const FAILURE: &str = "what is kept is a failure: --cache-failures accepts those";
const STREAMS_MERGED: &str =
    "stdout and stderr were recorded as one stream, and go to different places now";
const FUTURE: &str = "it was made in the future, and would never expire: check the clocks";

/// Maximum number of past events that are shown to people.
const PAST: usize = 3;

/// Looks up the text of a rule by its id.
type Names<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Explanation of a look-up.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    key: String,
    scope: String,
    kind: Kind,
    status: &'static str,
    text: String,
    causes: Vec<Said>,
    past: Vec<Past>,
    nearest: Option<Near>,
}

/// One cause or difference.
#[derive(Debug, Serialize)]
struct Said {
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
struct Past {
    at: String,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    text: String,
}

/// The most similar entry.
#[derive(Debug, Serialize)]
struct Near {
    key: String,
    created_at: String,
    text: String,
    differences: Vec<Said>,
}

impl Report {
    pub(super) fn new(explanation: &Explanation) -> Self {
        Self::naming(explanation, &|_| None)
    }

    /// Like [`Self::new`], with `names` for the rules that differ.
    pub(super) fn naming(explanation: &Explanation, names: Names<'_>) -> Self {
        let Explanation { id, kind, verdict, causes, past, nearest } = explanation;
        let now = SystemClock.now();
        Self {
            key: id.key.to_string(),
            scope: id.scope.to_string(),
            kind: *kind,
            status: status(*verdict),
            text: heading(*verdict, causes),
            causes: causes.iter().flat_map(|cause| said(cause, now, names)).collect(),
            past: past.iter().filter_map(|event| told(event, now)).collect(),
            nearest: nearest.as_ref().map(|nearest| near(nearest, now, names)),
        }
    }

    /// True if a look-up would not be answered.
    pub(super) fn is_miss(&self) -> bool {
        self.status == status(Verdict::Miss)
    }

    /// Lines for people, the most important first.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.text.clone()];
        let (sources, others): (Vec<&Said>, Vec<&Said>) =
            self.causes.iter().partition(|said| said.path.is_some());
        lines.extend(some("sources", &sources));
        lines.extend(differences(&others));
        // The latest events explain why there is no entry.
        if self.causes.first().is_some_and(|cause| cause.code == "absent") {
            lines.extend(self.past.iter().take(PAST).map(|past| format!("  {}", past.text)));
        }
        if let Some(near) = &self.nearest {
            lines.push(near.text.clone());
            lines.extend(differences(&near.differences.iter().collect::<Vec<_>>()));
        }
        lines
    }
}

/// A line for each finding; of rules only the first ones.
fn differences(all: &[&Said]) -> Vec<String> {
    let is_rule = |said: &&&Said| difference::RULE_CODES.contains(&said.code);
    let (rules, others): (Vec<&Said>, Vec<&Said>) = all.iter().partition(is_rule);
    let told = others.iter().filter(|said| !said.text.is_empty()).map(|said| indented(said));
    told.chain(some("rules", &rules)).collect()
}

/// Lines for the first findings, and the number of the others.
fn some(part: &str, all: &[&Said]) -> Vec<String> {
    let more = all.len().saturating_sub(NAMED);
    let mut lines: Vec<String> = all.iter().take(NAMED).map(|said| indented(said)).collect();
    lines.extend((more > 0).then(|| format!("  {part}: and {more} more")));
    lines
}

fn indented(said: &Said) -> String {
    format!("  {}", said.text)
}

fn status(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Hit { .. } => "hit",
        Verdict::Stale { .. } => "stale",
        Verdict::Miss => "miss",
    }
}

fn heading(verdict: Verdict, causes: &[Cause]) -> String {
    match verdict {
        Verdict::Hit { age, left: None } => format!("hit: {} old, good for ever", human::long(age)),
        Verdict::Hit { age, left: Some(left) } => {
            format!("hit: {} old, good for another {}", human::long(age), human::long(left))
        }
        Verdict::Stale { since } => format!(
            "stale: good until {} ago; it is served, and run again in the background",
            human::long(since)
        ),
        Verdict::Miss => match causes {
            [Cause::Absent, ..] => "miss: there is no such entry".to_owned(),
            [Cause::AnotherQuestion(_), ..] => {
                "miss: the entry of that key answers another question".to_owned()
            }
            [Cause::Disabled, ..] => "miss: the cache is switched off".to_owned(),
            [Cause::Asked, ..] => "miss: a fresh result was asked for".to_owned(),
            [Cause::Unavailable(_), ..] => "miss: the store could not answer".to_owned(),
            _ => "miss: the entry is there, and not good".to_owned(),
        },
    }
}

impl Said {
    fn new(code: &'static str, text: String) -> Self {
        Self { code, part: None, path: None, rule: None, at: None, now: None, was: None, text }
    }
}

/// Findings about a cause, without text if the heading says it.
fn said(cause: &Cause, now: Timestamp, names: Names<'_>) -> Vec<Said> {
    let ago = |at: Timestamp| human::long(now.millis_since(at));
    let one = match cause {
        Cause::Disabled => Said::new("disabled", String::new()),
        Cause::Asked => Said::new("asked", String::new()),
        Cause::Absent => Said::new("absent", String::new()),
        Cause::Failure => Said::new("failure", FAILURE.to_owned()),
        Cause::StreamsMerged => Said::new("streams_merged", STREAMS_MERGED.to_owned()),
        Cause::FromTheFuture => Said::new("from_the_future", FUTURE.to_owned()),
        Cause::Unwatchable(error) => Said::new("unwatchable", format!("sources: {error}")),
        Cause::AnotherQuestion(differences) => {
            return differences.iter().flat_map(|it| differing(it, names)).collect();
        }
        Cause::Source { change, at } => {
            let (code, what) = match (change.how, at) {
                (Changed::Modified, Some(at)) => {
                    ("source_modified", format!("changed {} ago", ago(*at)))
                }
                (Changed::Modified, None) => ("source_modified", "changed".to_owned()),
                (Changed::Missing, _) => ("source_missing", "is gone".to_owned()),
                (Changed::New, Some(at)) => {
                    ("source_new", format!("is new, from {} ago", ago(*at)))
                }
                (Changed::New, None) => ("source_new", "is new".to_owned()),
            };
            let text = format!("sources: {} {what}", change.path);
            Said {
                part: Some("sources".to_owned()),
                path: Some(change.path.clone()),
                at: at.map(|at| at.to_string()),
                ..Said::new(code, text)
            }
        }
        Cause::Expired { since, ttl } => {
            let text = format!("expired {} ago (ttl {})", human::long(*since), human::span(*ttl));
            Said::new("expired", text)
        }
        Cause::TooOld { age, limit } => {
            let (age, limit) = (human::long(*age), human::span(*limit));
            Said::new("too_old", format!("begun {age} ago, longer than accepted (max-age {limit})"))
        }
        Cause::Damaged(damage) => Said::new("corrupt", format!("the entry is damaged: {damage}")),
        Cause::Unavailable(error) => Said::new("store_unavailable", error.to_string()),
    };
    vec![one]
}

/// Describes an event; hits and misses don't explain why an entry is absent.
fn told(event: &Event, now: Timestamp) -> Option<Past> {
    if let Happening::Hit | Happening::Absent | Happening::Unavailable = event.what {
        return None;
    }
    Some(Past {
        at: event.at.to_string(),
        what: event.what.as_str(),
        why: event.detail.why.as_ref().map(Why::code),
        text: format!("{event}, {} ago", human::long(now.millis_since(event.at))),
    })
}

fn near(nearest: &Nearest, now: Timestamp, names: Names<'_>) -> Near {
    let Nearest { id, created, differences } = nearest;
    let ago = human::long(now.millis_since(*created));
    let short: String = id.key.as_str().chars().take(16).collect();
    let text = match differences.len() {
        0 => format!("nearest: {short}, made {ago} ago by another version of recoup"),
        _ => format!("nearest: {short}, made {ago} ago, which differs in"),
    };
    Near {
        key: id.key.to_string(),
        created_at: created.to_string(),
        text,
        differences: differences.iter().flat_map(|it| differing(it, names)).collect(),
    }
}
