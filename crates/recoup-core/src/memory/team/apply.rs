//! Acceptance of team rules: they become notes of the team, removed ones are retired, and the
//! user's own statements take precedence.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::TeamRule;
use super::rule::RuleIdentity;
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::inject::estimate;
use crate::memory::note_rows::{self, StoredNote};
use crate::memory::recording::{self, RecordDetails, RecordOutcome};
use crate::memory::statement::normalize_for_comparison;
use crate::memory::store::check_statement;
use crate::memory::{Note, NoteScope, NoteSource, NoteStatus, search};

/// Result of accepting team rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptedRules {
    /// Rules that are newly active.
    pub active: Vec<Note>,
    /// Rules that were retired.
    pub retired: Vec<Note>,
    /// Rules that give way to the user's own statements.
    pub outvoted: Vec<OverruledRule>,
}

/// A team rule, and the user's own statement that overrules it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverruledRule {
    /// Rule of the team.
    pub rule: Note,
    /// Note that counts instead.
    pub by: Note,
}

/// Accepts `rules` in `scope`, within one transaction; `before` were accepted until now. Unchanged
/// ones are left alone: their owner may have retired them since.
pub(in crate::memory) fn accept_rules(
    connection: &Connection,
    scope: &NoteScope,
    rules: &[TeamRule],
    before: &[TeamRule],
    now: Timestamp,
) -> Result<AcceptedRules> {
    let mut accepted = AcceptedRules::default();
    for rule in rules.iter().filter(|rule| !before.contains(rule)) {
        let note = record_rule(connection, scope, rule, now)?;
        match &note.superseded_by {
            None => accepted.active.push(note),
            Some(by) => {
                let by = recording::require_note(connection, by)?.note;
                accepted.outvoted.push(OverruledRule { rule: note, by });
            }
        }
    }
    let there: HashSet<(String, String)> =
        rules.iter().map(|rule| rule.identity().lookup_key()).collect();
    let is_gone = |note: &Note| !there.contains(&RuleIdentity::note_lookup_key(note));
    accepted.retired = retire_matching(connection, scope, is_gone, now)?;
    Ok(accepted)
}

/// Retires all team rules in `scope`.
pub(in crate::memory) fn retire_all(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<Vec<Note>> {
    retire_matching(connection, scope, |_| true, now)
}

/// True if memory has any of these rules, in any status.
pub(in crate::memory) fn has_any_rule(
    connection: &Connection,
    scope: &NoteScope,
    rules: &[TeamRule],
) -> Result<bool> {
    for rule in rules {
        if find_rule_note(connection, scope, rule)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn record_rule(
    connection: &Connection,
    scope: &NoteScope,
    rule: &TeamRule,
    now: Timestamp,
) -> Result<Note> {
    update_team_note(connection, scope, rule)?;
    let statement = check_statement(&rule.to_statement(scope))?;
    let recorded: RecordOutcome =
        recording::record(connection, &statement, &RecordDetails::of(&statement, now))?;
    Ok(recorded.note().clone())
}

/// Updates the team's own note to the file: kind, casing and topic.
fn update_team_note(connection: &Connection, scope: &NoteScope, rule: &TeamRule) -> Result<()> {
    let Some(kept) = find_rule_note(connection, scope, rule)? else { return Ok(()) };
    if kept.note.source != NoteSource::Team {
        return Ok(());
    }
    connection
        .prepare_cached(
            "UPDATE notes SET kind = ?2, text = ?3, topic = ?4, tokens = ?5 WHERE row = ?1",
        )
        .and_then(|mut update| {
            update.execute(params![
                kept.row,
                rule.kind.as_str(),
                rule.text,
                rule.effective_topic(),
                estimate(&rule.text)
            ])
        })
        .map_err(recording::note_write_error)?;
    search::index_note(connection, kept.row, &rule.text, rule.effective_topic().as_deref())
}

fn find_rule_note(
    connection: &Connection,
    scope: &NoteScope,
    rule: &TeamRule,
) -> Result<Option<StoredNote>> {
    note_rows::find_one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![
            scope.to_string(),
            rule.paths.clone().unwrap_or_default(),
            normalize_for_comparison(&rule.text)
        ],
    )
}

fn retire_matching(
    connection: &Connection,
    scope: &NoteScope,
    is_meant: impl Fn(&Note) -> bool,
    now: Timestamp,
) -> Result<Vec<Note>> {
    let of_team = note_rows::find_many(
        connection,
        "scope = ?1 AND source = ?2 AND status = ?3 ORDER BY row",
        params![scope.to_string(), NoteSource::Team.as_str(), NoteStatus::Active.as_str()],
    )?;
    let meant = of_team.into_iter().filter(|kept| is_meant(&kept.note));
    meant
        .map(|kept| {
            recording::set_status(connection, &kept.note.id, NoteStatus::Retired, "retired", now)
                .map(|(note, _)| note)
        })
        .collect()
}
