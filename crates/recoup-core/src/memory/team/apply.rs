//! Acceptance of team rules: they become notes of the team, removed ones are retired, and the
//! user's own statements take precedence.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::index;
use crate::memory::db::note_rows;
use crate::memory::db::recording;
use crate::memory::db::recording::RecordTime;
use crate::memory::db::sql::{CachedSql as _, SqlContext as _};
use crate::memory::db::store::Memory;
use crate::memory::db::{deliveries, pauses};
use crate::memory::model::estimate;
use crate::memory::model::note::{Note, NoteScope, NoteSource, NoteStatus};
use crate::memory::team::TeamRule;
use crate::memory::team::rule::RuleIdentity;

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

impl Memory {
    /// Records `rules` of the team that the user has accepted in `scope`, after `before`.
    pub fn accept_team_rules(
        &self,
        scope: &NoteScope,
        rules: &[TeamRule],
        before: &[TeamRule],
    ) -> Result<AcceptedRules> {
        let now = self.now();
        self.change_durably("cannot accept the team rules", |connection| {
            pauses::check_not_paused(connection, scope, now)?;
            deliveries::clamp_future_deliveries(connection, now)?;
            accept_rules(connection, scope, rules, before, now)
        })
    }

    /// Retires the team's rules, because the user no longer trusts their file.
    pub fn retire_team_rules(&self, scope: &NoteScope) -> Result<Vec<Note>> {
        let now = self.now();
        self.change_existing("cannot retire the team rules", |connection| {
            retire_matching(connection, scope, |_| true, now)
        })
    }

    /// True if any of these rules of the team is known in `scope`, whatever its status.
    pub fn knows_team_rules(&self, scope: &NoteScope, rules: &[TeamRule]) -> Result<bool> {
        let found = self.read(|connection| has_any_rule(connection, scope, rules))?;
        Ok(found.unwrap_or(false))
    }
}

/// Accepts `rules` in `scope`, within one transaction; `before` were accepted until now. Unchanged
/// ones are left alone: their owner may have retired them since.
fn accept_rules(
    connection: &Connection,
    scope: &NoteScope,
    rules: &[TeamRule],
    before: &[TeamRule],
    now: Timestamp,
) -> Result<AcceptedRules> {
    let mut accepted = AcceptedRules::default();
    for rule in rules.iter().filter(|rule| !before.contains(rule)) {
        update_team_note(connection, scope, rule)?;
        let statement = rule.to_statement(scope).validated()?;
        let recorded = recording::record(connection, &statement, RecordTime::at(now))?;
        let note = recorded.note().clone();
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

/// True if memory has any of these rules, in any status.
fn has_any_rule(connection: &Connection, scope: &NoteScope, rules: &[TeamRule]) -> Result<bool> {
    for rule in rules {
        if note_rows::find_same(connection, scope, rule.paths.as_deref(), &rule.text)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Updates the team's own note to the file: kind, casing and topic.
fn update_team_note(connection: &Connection, scope: &NoteScope, rule: &TeamRule) -> Result<()> {
    let Some(kept) = note_rows::find_same(connection, scope, rule.paths.as_deref(), &rule.text)?
    else {
        return Ok(());
    };
    if kept.note.source != NoteSource::Team {
        return Ok(());
    }
    connection
        .execute_cached(
            "UPDATE notes SET kind = ?2, text = ?3, topic = ?4, tokens = ?5 WHERE row = ?1",
            params![
                kept.row,
                rule.kind.as_str(),
                rule.text,
                rule.effective_topic(),
                estimate(&rule.text)
            ],
        )
        .doing(recording::KEEPING)?;
    index::index_note(connection, kept.row, &rule.text, rule.effective_topic().as_deref())
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
