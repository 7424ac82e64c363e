//! What acceptance does to memory: rules become notes of the team, those that are gone
//! count no longer, and what the user said stands above both.

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

/// What acceptance came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Rules that count now and did not before.
    pub active: Vec<Note>,
    /// Those that count no longer.
    pub retired: Vec<Note>,
    /// Those that give way to what the user said.
    pub outvoted: Vec<Outvoted>,
}

/// A rule of the team, and the user's own word on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outvoted {
    /// What the team says.
    pub rule: Note,
    /// What counts.
    pub by: Note,
}

/// Within one transaction: `rules` are what the user has accepted in `scope`, and `before`
/// what had been. What was accepted before and is as it was is left alone: its owner may
/// have retired it since.
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

/// The rules of the team count no longer in `scope`.
pub(in crate::memory) fn retire_all(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<Vec<Note>> {
    retire(connection, scope, |_| true, now)
}

/// Whether memory has any of these rules, whatever became of it.
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

/// The team's own note is as the file has it now: its kind, its casing, its topic.
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
