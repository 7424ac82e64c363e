//! Acceptance of team rules: they become notes of the team, removed ones are retired, and the
//! user's own statements take precedence.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::{
    CachedSql as _, Memory, RecordTime, deliveries, index, note_rows, pauses, recording,
};
use crate::memory::model::{Note, NoteScope, NoteSource, NoteStatus, estimate};
use crate::memory::team::TeamRule;
use crate::memory::team::rule::{RuleKey, rule_key};

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
    /// Records `rules` of the team that the user has accepted in `scope`; `before` were accepted
    /// until now. Unchanged ones are left alone: their owner may have retired them since.
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
            let there: HashSet<RuleKey> = rules.iter().map(TeamRule::key).collect();
            let is_gone =
                |note: &Note| !there.contains(&rule_key(note.paths.as_deref(), &note.text));
            accepted.retired = retire_matching(connection, scope, is_gone, now)?;
            Ok(accepted)
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
        self.read(|connection| {
            for TeamRule { paths, text, .. } in rules {
                if note_rows::find_same(connection, scope, paths.as_deref(), text)?.is_some() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

/// Updates the team's own note to the file: kind, casing and topic.
fn update_team_note(connection: &Connection, scope: &NoteScope, rule: &TeamRule) -> Result<()> {
    let TeamRule { kind, text, paths, .. } = rule;
    let kept = note_rows::find_same(connection, scope, paths.as_deref(), text)?;
    let Some(kept) = kept.filter(|kept| kept.note.source == NoteSource::Team) else {
        return Ok(());
    };
    let topic = rule.effective_topic();
    let sql = "UPDATE notes SET kind = ?2, text = ?3, topic = ?4, tokens = ?5 WHERE row = ?1";
    let values = params![kept.row, kind, text, topic, estimate(text)];
    connection.write(sql, values, recording::KEEPING)?;
    index::index_note(connection, kept.row, text, topic.as_deref())
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
        params![scope, NoteSource::Team, NoteStatus::Active],
    )?;
    let meant = of_team.into_iter().filter(|kept| is_meant(&kept.note));
    meant
        .map(|kept| {
            recording::set_status(connection, &kept.note.id, NoteStatus::Retired, "retired", now)
                .map(|(note, _)| note)
        })
        .collect()
}
