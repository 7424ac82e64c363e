//! Projects whose id changes: a folder has become a repository, or a repository has got a remote.
//! Everything that was remembered under the old id is moved.

use rusqlite::{Connection, params};

use super::keep::{self, keeping};
use super::rows::{self, Kept};
use super::statement::said;
use super::turn::tell;
use super::{Memory, NoteScope, Status, privacy, search};
use crate::base::clock::Timestamp;
use crate::base::project::{Origin, Project, ProjectId, ProjectRegistry};
use crate::error::Result;

/// Other tables with rows per project. A row that exists under the new id stays.
const TABLES: [&str; 5] = ["lessons", "checkpoints", "notices", "events", "episodes"];

impl Memory {
    /// Moves everything from a project's former ids to its current one; returns the number of
    /// notes.
    pub fn bring_along(&self, project: &Project) -> Result<usize> {
        let to = NoteScope::Project(project.id().clone());
        let mut moved = 0;
        for former in project.former_ids() {
            let from = NoteScope::Project(former);
            if self.read(|connection| is_known(connection, &from))?.unwrap_or(false) {
                let now = self.now();
                moved += self.change("moving a project's memories", |connection| {
                    let moved = rename(connection, &from, &to, now)?;
                    announce(connection, project, moved, now)?;
                    Ok(moved)
                })?;
            }
        }
        Ok(moved)
    }
}

impl Memory {
    /// True if anything is remembered for the project with this id.
    pub fn knows_project(&self, id: &ProjectId) -> Result<bool> {
        let scope = NoteScope::Project(id.clone());
        Ok(self.read(|connection| is_known(connection, &scope))?.unwrap_or(false))
    }

    /// Returns `found` with the id that counts for it, judged by what is remembered under its
    /// possible ids.
    pub fn settle_project(&self, registry: &ProjectRegistry, found: Project) -> Project {
        // A memory that can't be read may well know the project.
        registry.settle(found, |id| self.knows_project(id).unwrap_or(true))
    }
}

fn is_known(connection: &Connection, scope: &NoteScope) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM notes WHERE scope = ?1)
                       OR EXISTS (SELECT 1 FROM checkpoints WHERE scope = ?1)";
    let is_known: bool = connection
        .prepare_cached(SQL)
        .and_then(|mut select| select.query_row([scope.to_string()], |row| row.get(0)))
        .map_err(keeping)?;
    Ok(is_known || privacy::is_ignored(connection, scope)?)
}

/// Leaves a notice for the user: the same path may be another project's by now.
fn announce(
    connection: &Connection,
    project: &Project,
    moved: usize,
    now: Timestamp,
) -> Result<()> {
    let came = match moved {
        0 => return Ok(()),
        1 => "1 memory came along".to_owned(),
        moved => format!("{moved} memories came along"),
    };
    let text = match project.origin() {
        Origin::Remote(_) => format!("this repository goes by its remote now: {came}"),
        _ => format!("this folder is a repository now: {came}"),
    };
    tell(connection, &NoteScope::Project(project.id().clone()), &text, now)
}

fn rename(
    connection: &Connection,
    from: &NoteScope,
    to: &NoteScope,
    now: Timestamp,
) -> Result<usize> {
    let notes = rows::many(connection, "scope = ?1 ORDER BY created, row", [from.to_string()])?;
    for kept in &notes {
        match same_words(connection, kept, to)? {
            Some(same) => add_to(connection, kept, &same)?,
            None => put_into(connection, kept, to)?,
        }
    }
    // Two clones may disagree on a topic: the newest note counts.
    for kept in &notes {
        if let Some(kept) = rows::by_id(connection, &kept.note.id)? {
            settle(connection, &kept, now)?;
        }
    }
    privacy::rename(connection, from, to)?;
    for table in TABLES {
        let (from, to) = (from.to_string(), to.to_string());
        let sql = format!("UPDATE OR IGNORE {table} SET scope = ?2 WHERE scope = ?1");
        connection.execute(&sql, params![from, to]).map_err(keeping)?;
        let sql = format!("DELETE FROM {table} WHERE scope = ?1");
        connection.execute(&sql, [from]).map_err(keeping)?;
    }
    Ok(notes.len())
}

fn same_words(connection: &Connection, kept: &Kept, to: &NoteScope) -> Result<Option<Kept>> {
    let paths = kept.note.paths.clone().unwrap_or_default();
    rows::one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![to.to_string(), paths, said(&kept.note.text)],
    )
}

/// Merges a note into one with the same words; references to it follow.
fn add_to(connection: &Connection, kept: &Kept, same: &Kept) -> Result<()> {
    let (old, new) = (kept.note.id.as_str(), same.note.id.as_str());
    let evidence = kept.note.evidence.cast_signed();
    let steps = || -> rusqlite::Result<()> {
        connection.execute(
            "UPDATE notes SET evidence = evidence + ?2 WHERE id = ?1",
            params![new, evidence],
        )?;
        connection
            .execute("UPDATE notes SET superseded_by = ?2 WHERE superseded_by = ?1", [old, new])?;
        connection.execute("UPDATE lessons SET note = ?2 WHERE note = ?1", [old, new])?;
        connection.execute("DELETE FROM notes WHERE id = ?1", [old])?;
        Ok(())
    };
    steps().map_err(keeping)?;
    search::remove(connection, kept.row)
}

fn put_into(connection: &Connection, kept: &Kept, to: &NoteScope) -> Result<()> {
    connection
        .execute("UPDATE notes SET scope = ?2 WHERE row = ?1", params![kept.row, to.to_string()])
        .map_err(keeping)?;
    search::put(connection, kept.row, &kept.note.text, kept.note.topic.as_deref())
}

/// Supersedes the note by a later one on its topic, or lets it take the topic.
fn settle(connection: &Connection, kept: &Kept, now: Timestamp) -> Result<()> {
    if kept.note.status != Status::Active {
        return Ok(());
    }
    let rivals = keep::rivals(connection, kept)?;
    match rivals.iter().find(|other| other.note.updated > kept.note.updated) {
        Some(later) => keep::supersede(connection, kept, &later.note.id, now),
        None => keep::take_the_topic(connection, kept, now).map(drop),
    }
}
