//! Acceptance of team rules: they become notes of the team, removed ones are retired, and the
//! user's own statements take precedence.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::Rule;
use super::rule::Mark;
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::inject::estimate;
use crate::memory::keep::{self, Details, Recorded};
use crate::memory::rows::{self, Kept};
use crate::memory::statement::said;
use crate::memory::store::checked;
use crate::memory::{Note, NoteScope, Source, Status, search};

/// Result of accepting team rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Rules that are newly active.
    pub active: Vec<Note>,
    /// Rules that were retired.
    pub retired: Vec<Note>,
    /// Rules that give way to the user's own statements.
    pub outvoted: Vec<Outvoted>,
}

/// A team rule, and the user's own statement that overrules it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outvoted {
    /// Rule of the team.
    pub rule: Note,
    /// Note that counts instead.
    pub by: Note,
}

/// Accepts `rules` in `scope`, within one transaction; `before` were accepted until now. Unchanged
/// ones are left alone: their owner may have retired them since.
pub(in crate::memory) fn accept(
    connection: &Connection,
    scope: &NoteScope,
    rules: &[Rule],
    before: &[Rule],
    now: Timestamp,
) -> Result<Accepted> {
    let mut accepted = Accepted::default();
    for rule in rules.iter().filter(|rule| !before.contains(rule)) {
        let note = take(connection, scope, rule, now)?;
        match &note.superseded_by {
            None => accepted.active.push(note),
            Some(by) => {
                let by = keep::demand(connection, by)?.note;
                accepted.outvoted.push(Outvoted { rule: note, by });
            }
        }
    }
    let there: HashSet<(String, String)> = rules.iter().map(|rule| rule.mark().place()).collect();
    let is_gone = |note: &Note| !there.contains(&Mark::of_note(note));
    accepted.retired = retire(connection, scope, is_gone, now)?;
    Ok(accepted)
}

/// Retires all team rules in `scope`.
pub(in crate::memory) fn retire_all(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<Vec<Note>> {
    retire(connection, scope, |_| true, now)
}

/// True if memory has any of these rules, in any status.
pub(in crate::memory) fn knows_any(
    connection: &Connection,
    scope: &NoteScope,
    rules: &[Rule],
) -> Result<bool> {
    for rule in rules {
        if known(connection, scope, rule)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn take(connection: &Connection, scope: &NoteScope, rule: &Rule, now: Timestamp) -> Result<Note> {
    refile(connection, scope, rule)?;
    let statement = checked(&rule.statement(scope))?;
    let recorded: Recorded = keep::record(connection, &statement, &Details::of(&statement, now))?;
    Ok(recorded.note().clone())
}

/// Updates the team's own note to the file: kind, casing and topic.
fn refile(connection: &Connection, scope: &NoteScope, rule: &Rule) -> Result<()> {
    let Some(kept) = known(connection, scope, rule)? else { return Ok(()) };
    if kept.note.source != Source::Team {
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
                rule.about(),
                estimate(&rule.text)
            ])
        })
        .map_err(keep::keeping)?;
    search::put(connection, kept.row, &rule.text, rule.about().as_deref())
}

fn known(connection: &Connection, scope: &NoteScope, rule: &Rule) -> Result<Option<Kept>> {
    rows::one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![scope.to_string(), rule.paths.clone().unwrap_or_default(), said(&rule.text)],
    )
}

fn retire(
    connection: &Connection,
    scope: &NoteScope,
    is_meant: impl Fn(&Note) -> bool,
    now: Timestamp,
) -> Result<Vec<Note>> {
    let of_team = rows::many(
        connection,
        "scope = ?1 AND source = ?2 AND status = ?3 ORDER BY row",
        params![scope.to_string(), Source::Team.as_str(), Status::Active.as_str()],
    )?;
    let meant = of_team.into_iter().filter(|kept| is_meant(&kept.note));
    meant
        .map(|kept| {
            keep::set_status(connection, &kept.note.id, Status::Retired, "retired", now)
                .map(|(note, _)| note)
        })
        .collect()
}
