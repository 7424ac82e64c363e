//! Proof that checks help: how often calls kept and broke each rule with a check, before it was
//! said and since, and what the check did about it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, Row};
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::checks::CheckedCall;
use crate::memory::db::{
    CachedSql as _, CheckedRule, Memory, MemoryEventKind, NoteFilter, SqlContext as _, checks,
};
use crate::memory::model::NoteId;

const REPORTING: &str = "cannot read what became of checks";

/// Effect of a rule with a check, in the time that events are kept for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckEffect {
    /// The rule and its check.
    pub rule: CheckedRule,
    /// Calls that broke it before it was said, as far as events tell.
    pub broken_before: u64,
    /// Calls that did what it wants.
    pub kept: u64,
    /// Of these, calls after a reminder, a question or a refusal in the same context.
    pub kept_because: u64,
    /// Calls that broke it.
    pub broken: u64,
    /// Of these, calls in a context that had been reminded.
    pub broken_after_reminder: u64,
    /// Calls at which the agent was reminded.
    pub reminded: u64,
    /// Calls about which the person was asked.
    pub asked: u64,
    /// Calls about which the person was asked, and that ran nevertheless.
    pub overridden: u64,
    /// Calls that were refused.
    pub blocked: u64,
    /// Times that the user repeated the rule after its delivery.
    pub repeated: u64,
    /// First of these events.
    pub since: Option<Timestamp>,
}

impl CheckEffect {
    /// True if a stronger check may help: the rule was broken after a reminder, or the user had to
    /// repeat it, and the user has not chosen a strength yet.
    pub fn needs_strength(&self) -> bool {
        self.rule.strength.is_none() && (self.broken_after_reminder > 0 || self.repeated > 0)
    }

    /// Calls that the rule concerned.
    pub fn concerned(&self) -> u64 {
        self.kept + self.broken + self.blocked
    }
}

/// An event about a rule.
struct CheckEvent {
    at: Timestamp,
    what: MemoryEventKind,
    context: Option<String>,
    /// The client's id of the call.
    call: Option<String>,
}

impl Memory {
    /// Returns what became of the selected rules that have checks, the most often broken first.
    pub fn check_effects(&self, wanted: &NoteFilter) -> Result<Vec<CheckEffect>> {
        let mut effects = self.read(|connection| {
            let rules = checks::find_checked_rules(connection, wanted)?;
            let mut events = read_events(connection)?;
            let repeated = read_repetitions(connection)?;
            let earlier = if rules.is_empty() { Vec::new() } else { read_calls(connection)? };
            let effect = |rule: CheckedRule| {
                let events = events.remove(&rule.note.id).unwrap_or_default();
                let repeated = repeated.get(&rule.note.id).copied().unwrap_or_default();
                CheckEffect { repeated, ..CheckEffect::count(rule, &events, &earlier) }
            };
            Ok(rules.into_iter().map(effect).collect::<Vec<_>>())
        })?;
        effects.sort_by_key(|it| std::cmp::Reverse((it.broken + it.blocked, it.kept)));
        Ok(effects)
    }
}

impl CheckEffect {
    fn count(rule: CheckedRule, events: &[CheckEvent], earlier: &[EarlierCall]) -> Self {
        use MemoryEventKind::{Asked, Blocked, Broke, Kept, Reminded};
        let counted = |what| events.iter().filter(|it| it.what == what).count() as u64;
        let (mut kept_because, mut broken_after_reminder, mut overridden) = (0, 0, 0);
        // Calls at which each context was told of the rule, and contexts that have not kept it since.
        let mut told: HashMap<Option<&str>, Vec<Option<&str>>> = HashMap::new();
        let mut waiting = HashSet::new();
        for event in events {
            let (context, call) = (event.context.as_deref(), event.call.as_deref());
            let calls = told.entry(context).or_default();
            match event.what {
                Reminded | Asked | Blocked => {
                    calls.push(call);
                    waiting.insert(context);
                }
                Kept => kept_because += u64::from(waiting.remove(&context)),
                // The reminder arrives with the result of the call that it is about.
                Broke => {
                    let is_asked = |it: &CheckEvent| it.what == Asked && it.call == event.call;
                    overridden += u64::from(events.iter().any(is_asked));
                    broken_after_reminder += u64::from(calls.iter().any(|at| *at != call));
                }
                _ => {}
            }
        }
        let before = earlier.iter().filter(|it| it.at < rule.note.created && it.breaks(&rule));
        Self {
            broken_before: before.count() as u64,
            kept: counted(Kept),
            kept_because,
            broken: counted(Broke),
            broken_after_reminder,
            reminded: counted(Reminded),
            asked: counted(Asked),
            overridden,
            blocked: counted(Blocked),
            repeated: 0,
            since: events.first().map(|it| it.at),
            rule,
        }
    }
}

/// Reads the events about rules, the oldest first.
fn read_events(connection: &Connection) -> Result<HashMap<NoteId, Vec<CheckEvent>>> {
    const SQL: &str = "SELECT subject, at, what, context, call FROM events
                       WHERE what IN ('reminded', 'asked', 'blocked', 'broke', 'kept')
                       AND subject IS NOT NULL ORDER BY row";
    let read = |row: &Row<'_>| {
        let (note, what): (NoteId, String) = (row.get(0)?, row.get(2)?);
        let call: Option<String> = row.get(4)?;
        let call = call.map(|it| it.rsplit_once('#').map_or(it.clone(), |(it, _)| it.to_owned()));
        let what = MemoryEventKind::parse(&what).unwrap_or(MemoryEventKind::Kept);
        Ok((note, CheckEvent { at: row.get(1)?, what, context: row.get(3)?, call }))
    };
    let mut events: HashMap<NoteId, Vec<CheckEvent>> = HashMap::new();
    for (note, event) in connection.list_cached(SQL, [], read).doing(REPORTING)? {
        events.entry(note).or_default().push(event);
    }
    Ok(events)
}

fn read_repetitions(connection: &Connection) -> Result<HashMap<NoteId, u64>> {
    const SQL: &str = "SELECT id, count(*) FROM evidence JOIN notes ON notes.row = evidence.note
                       WHERE what = 'repeated' GROUP BY id";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.max(0).cast_unsigned()));
    Ok(connection.list_cached(SQL, [], read).doing(REPORTING)?.into_iter().collect())
}

/// A call of earlier days, as far as events tell: the kind of a command, or the path of a file.
struct EarlierCall {
    at: Timestamp,
    scope: Option<String>,
    tool: &'static str,
    input: Box<serde_json::value::RawValue>,
}

impl EarlierCall {
    fn breaks(&self, rule: &CheckedRule) -> bool {
        // The paths of events are relative to their project already.
        let call = CheckedCall::new(self.tool, &self.input, Path::new("/"), Path::new("/"));
        let scope = rule.note.scope.to_string();
        let is_here = scope == "universal" || self.scope.as_ref() == Some(&scope);
        is_here && rule.check.find_violation(&call).is_some()
    }
}

fn read_calls(connection: &Connection) -> Result<Vec<EarlierCall>> {
    const SQL: &str = "SELECT at, scope, what = 'edited', subject FROM events
                       WHERE what IN ('succeeded', 'failed', 'edited') AND subject IS NOT NULL";
    let read = |row: &Row<'_>| {
        let (is_file, subject): (bool, String) = (row.get(2)?, row.get(3)?);
        let (tool, input) = if is_file {
            ("Write", json!({ "file_path": subject }))
        } else {
            ("Bash", json!({ "command": subject }))
        };
        let input = to_raw_value(&input).expect("a JSON value serializes");
        Ok(EarlierCall { at: row.get(0)?, scope: row.get(1)?, tool, input })
    };
    connection.list_cached(SQL, [], read).doing(REPORTING)
}
