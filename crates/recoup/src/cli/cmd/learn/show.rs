//! Rules that were found, as text and as JSON.

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::NoteKind;
use serde::Serialize;

use crate::cli::failure::CommandError;
use crate::cli::ui;
use crate::clients::AgentClient;
use crate::human;
use crate::learn::{LearnFindings, LearnedRule};

/// Quotes of a rule that are shown, and those that are in its JSON; the latest.
const SHOWN_QUOTES: usize = 2;
const MOST_QUOTES: usize = 20;
/// Projects that are named.
const SHOWN_PROJECTS: usize = 4;

/// The report. The JSON is read by programs: fields are only added.
#[derive(Debug, Serialize)]
pub(super) struct LearnReport {
    transcripts: usize,
    bytes: u64,
    unreadable: usize,
    pub(super) rules: Vec<RuleReport>,
    left_out: LeftOutReport,
}

/// Numbers of repeated rules that are not offered.
#[derive(Debug, Serialize)]
struct LeftOutReport {
    known: usize,
    outdated: usize,
    given_up: usize,
    gone: usize,
    /// Rules that were stated once, unless they are shown.
    once: usize,
}

/// A rule.
#[derive(Debug, Serialize)]
pub(super) struct RuleReport {
    text: String,
    kind: NoteKind,
    universal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    times: usize,
    sessions: usize,
    first_said_at: String,
    last_said_at: String,
    projects: Vec<RuleProject>,
    quotes: Vec<QuoteReport>,
    older: Vec<OlderReport>,
    /// Ids of the notes that it became.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) kept: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RuleProject {
    id: String,
    root: String,
    gone: bool,
    /// True if it is kept there, once the user agrees.
    offered: bool,
}

#[derive(Debug, Serialize)]
struct QuoteReport {
    text: String,
    at: String,
    client: &'static str,
    session: String,
    project: String,
}

#[derive(Debug, Serialize)]
struct OlderReport {
    text: String,
    times: usize,
    last_said_at: String,
}

impl LearnReport {
    pub(super) fn new(findings: &LearnFindings, rules: &[&LearnedRule]) -> Self {
        let LearnFindings { files, amount, known, outdated, given_up, gone, .. } = findings;
        let once = findings.rules.len() - rules.len();
        Self {
            transcripts: *files,
            bytes: amount.bytes,
            unreadable: amount.unreadable,
            rules: rules.iter().map(|rule| RuleReport::new(rule, findings)).collect(),
            left_out: LeftOutReport {
                known: *known,
                outdated: *outdated,
                given_up: *given_up,
                gone: *gone,
                once,
            },
        }
    }
}

impl RuleReport {
    fn new(rule: &LearnedRule, findings: &LearnFindings) -> Self {
        let root = |place: usize| findings.places[place].root.display().to_string();
        let projects = rule.stated_places().into_iter().map(|place| RuleProject {
            id: findings.places[place].id.to_string(),
            root: root(place),
            gone: findings.places[place].is_gone,
            offered: rule.places.contains(&place),
        });
        let quotes = rule.quotes.iter().rev().take(MOST_QUOTES).map(|it| QuoteReport {
            text: it.text.clone(),
            at: it.at.to_second_string(),
            client: it.client.as_str(),
            session: it.session.clone(),
            project: root(it.place),
        });
        let older = rule.older.iter().map(|it| OlderReport {
            text: it.text.clone(),
            times: it.times,
            last_said_at: it.last.to_second_string(),
        });
        Self {
            text: rule.statement.text.clone(),
            kind: rule.statement.kind,
            universal: rule.is_universal,
            paths: rule.statement.paths.clone(),
            until: rule.statement.until.clone(),
            times: rule.quotes.len(),
            sessions: rule.sessions(),
            first_said_at: rule.first_said().to_second_string(),
            last_said_at: rule.last_said().to_second_string(),
            projects: projects.collect(),
            quotes: quotes.collect(),
            older: older.collect(),
            kept: Vec::new(),
        }
    }
}

pub(super) fn print_summary(findings: &LearnFindings, shown: usize) {
    let read = format!(
        "{} transcripts ({})",
        human::count(findings.files as u64),
        human::size(findings.amount.bytes)
    );
    match (findings.files, shown) {
        (0, _) => ui::say("No transcripts of Claude Code, Codex or Pi on this machine"),
        (_, 0) => ui::say(format_args!("{read}: no rules that memory lacks")),
        (_, 1) => ui::say(format_args!("{read}: 1 rule that memory lacks")),
        (_, many) => ui::say(format_args!("{read}: {many} rules that memory lacks")),
    }
    if findings.amount.unreadable > 0 {
        ui::warn(format_args!("{} files could not be read", findings.amount.unreadable));
    }
}

pub(super) fn print_rules(
    rules: &[&LearnedRule],
    findings: &LearnFindings,
) -> Result<(), CommandError> {
    for rule in rules {
        ui::line(ui::printable(&rule.statement.text))?;
        for line in details(rule, findings) {
            ui::line(format_args!("  {}", ui::printable(&line)))?;
        }
    }
    Ok(())
}

/// Lines about a rule: how often it was said and where, the user's words, and what it replaced.
pub(super) fn details(rule: &LearnedRule, findings: &LearnFindings) -> Vec<String> {
    let times = match (rule.quotes.len(), rule.sessions()) {
        (1, _) => "once".to_owned(),
        (times, 1) => format!("{times} times in 1 session"),
        (times, sessions) => format!("{times} times in {sessions} sessions"),
    };
    let mut lines = vec![format!(
        "you said it {times}, {}, {}",
        period(rule.first_said(), rule.last_said()),
        places(rule, findings)
    )];
    let mut quoted: Vec<&str> = Vec::new();
    for quote in rule.quotes.iter().rev() {
        if quoted.len() < SHOWN_QUOTES && !quoted.contains(&quote.text.as_str()) {
            quoted.push(&quote.text);
            let client = AgentClient::parse(quote.client.as_str());
            let client = client.map_or_else(|_| quote.client.as_str(), AgentClient::title);
            lines.push(format!("\"{}\" ({client}, {})", quote.text, quote.at.date()));
        }
    }
    lines.extend(rule.statement.until.as_ref().map(|until| format!("it ends: {until}")));
    lines.extend(rule.older.iter().map(|older| {
        let times =
            if older.times == 1 { "once".to_owned() } else { format!("{} times", older.times) };
        format!("instead of: {} ({times}, last on {})", older.text, older.last.date())
    }));
    lines
}

fn period(first: Timestamp, last: Timestamp) -> String {
    match (first.date(), last.date()) {
        (first, last) if first == last => format!("on {first}"),
        (first, last) => format!("{first} to {last}"),
    }
}

fn places(rule: &LearnedRule, findings: &LearnFindings) -> String {
    if rule.is_universal {
        return "for all projects".to_owned();
    }
    let stated = rule.stated_places();
    let mut names: Vec<String> = stated
        .iter()
        .take(SHOWN_PROJECTS)
        .map(|at| {
            let place = &findings.places[*at];
            let standing = match (place.is_gone, rule.places.contains(at)) {
                (true, _) => " (gone)",
                (false, true) => "",
                (false, false) => " (not offered)",
            };
            place.name() + standing
        })
        .collect();
    if stated.len() > SHOWN_PROJECTS {
        names.push(format!("{} more", stated.len() - SHOWN_PROJECTS));
    }
    format!("in {}", names.join(", "))
}

/// Says what is not offered, and why.
pub(super) fn print_left_out(findings: &LearnFindings, rules: &[&LearnedRule]) {
    let once = findings.rules.len() - rules.len();
    let parts = [
        (findings.known, "that memory has"),
        (findings.outdated, "that you have changed since"),
        (findings.given_up, "that you have dropped or forgotten"),
        (findings.gone, "of projects that are gone"),
        (once, "that you said once (`recoup learn --all`)"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    if !parts.is_empty() {
        ui::say_dimmed(format_args!("Not shown: {}", parts.join(", ")));
    }
}
