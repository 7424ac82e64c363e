//! Projects whose id changes: a folder has become a repository, or a repository has got a remote.
//! Everything that was remembered under the old id is moved.

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::base::project::{Project, ProjectOrigin, ProjectRegistry};
use crate::error::Result;
use crate::memory::db::recording::{self, KEEPING};
use crate::memory::db::transaction::insert_notice;
use crate::memory::db::{CachedSql as _, Memory, StoredNote, index, note_rows, pauses};
use crate::memory::model::{Note, NoteScope, NoteStatus};

/// Other tables with rows per project. A row that exists under the new id stays.
const TABLES: [&str; 5] = ["lessons", "checkpoints", "notices", "events", "episodes"];

impl Memory {
    /// Moves everything from a project's former ids to its current one; returns the number of
    /// notes.
    pub fn move_from_former_ids(&self, project: &Project) -> Result<usize> {
        let to = NoteScope::Project(project.id().clone());
        let mut moved = 0;
        for former in project.former_ids() {
            let from = NoteScope::Project(former);
            if self.read(|connection| has_records(connection, &from))? {
                let now = self.now();
                moved += self.change("cannot move the project's memories", |connection| {
                    let moved = move_scope(connection, &from, &to, now)?;
                    let came = match moved {
                        0 => return Ok(0),
                        1 => "1 memory was moved".to_owned(),
                        moved => format!("{moved} memories were moved"),
                    };
                    // The user is told: the same path may be another project's by now.
                    let text = match project.origin() {
                        ProjectOrigin::Remote(_) => {
                            format!("this project is now identified by its git remote: {came}")
                        }
                        _ => format!("this folder is now a git repository: {came}"),
                    };
                    insert_notice(connection, &to, &text, now)?;
                    Ok(moved)
                })?;
            }
        }
        Ok(moved)
    }

    /// Returns `found` with the id that counts for it, judged by what is remembered under its
    /// possible ids.
    pub fn settle_project(&self, registry: &ProjectRegistry, found: Project) -> Project {
        registry.resolve_standing(found, |id| {
            let scope = NoteScope::Project(id.clone());
            // A memory that can't be read may well know the project.
            self.read(|connection| has_records(connection, &scope)).unwrap_or(true)
        })
    }
}

fn has_records(connection: &Connection, scope: &NoteScope) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM notes WHERE scope = ?1)
                       OR EXISTS (SELECT 1 FROM checkpoints WHERE scope = ?1)";
    let is_known: Option<bool> = connection.find_value(SQL, [scope], KEEPING)?;
    Ok(is_known == Some(true) || pauses::is_ignored(connection, scope)?)
}

fn move_scope(
    connection: &Connection,
    from: &NoteScope,
    to: &NoteScope,
    now: Timestamp,
) -> Result<usize> {
    let notes = note_rows::find_many(connection, "scope = ?1 ORDER BY created, row", [from])?;
    for kept in &notes {
        let Note { paths, text, topic, .. } = &kept.note;
        if let Some(same) = note_rows::find_same(connection, to, paths.as_deref(), text)? {
            merge_into(connection, kept, &same)?;
            continue;
        }
        let values = params![kept.row, to];
        connection.write("UPDATE notes SET scope = ?2 WHERE row = ?1", values, KEEPING)?;
        index::index_note(connection, kept.row, text, topic.as_deref())?;
    }
    // Two clones may disagree on a topic: the newest note counts.
    for kept in &notes {
        let Some(kept) = note_rows::by_id(connection, &kept.note.id)? else { continue };
        if kept.note.status != NoteStatus::Active {
            continue;
        }
        let rivals = recording::rivals(connection, &kept)?;
        match rivals.iter().find(|other| other.note.updated > kept.note.updated) {
            Some(later) => recording::supersede(connection, &kept, &later.note.id, now)?,
            None => recording::take_topic(connection, &kept, now).map(drop)?,
        }
    }
    pauses::rename(connection, from, to)?;
    for table in TABLES {
        let sql = format!("UPDATE OR IGNORE {table} SET scope = ?2 WHERE scope = ?1");
        connection.write(&sql, [from, to], KEEPING)?;
        connection.write(&format!("DELETE FROM {table} WHERE scope = ?1"), [from], KEEPING)?;
    }
    Ok(notes.len())
}

/// Merges a note into one with the same words; references to it follow.
fn merge_into(connection: &Connection, kept: &StoredNote, same: &StoredNote) -> Result<()> {
    let (old, new) = (&kept.note.id, &same.note.id);
    let evidence = kept.note.evidence.cast_signed();
    let sql = "UPDATE notes SET evidence = evidence + ?2 WHERE id = ?1";
    connection.write(sql, params![new, evidence], KEEPING)?;
    let sql = "UPDATE notes SET superseded_by = ?2 WHERE superseded_by = ?1";
    connection.write(sql, [old, new], KEEPING)?;
    connection.write("UPDATE lessons SET note = ?2 WHERE note = ?1", [old, new], KEEPING)?;
    connection.write("DELETE FROM notes WHERE id = ?1", [old], KEEPING)?;
    index::unindex_note(connection, kept.row)
}
