//! Forgetting notes for good: in the tables, in the log, and in the copies that we made.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::base::fsx;
use crate::database::{DatabaseFileRole, connection, lock_database, schema_version};
use crate::error::Result;
use crate::memory::db::earlier::forgotten_key;
use crate::memory::db::schema::{ENDS, LISTS, WITH_ENDS};
use crate::memory::db::{
    CachedSql as _, Memory, SqlContext as _, StoredNote, checkpoint, deliveries, index, note_rows,
    pauses, recording, snapshot,
};
use crate::memory::model::{Note, NoteId};

const FORGETTING: &str = "cannot forget a memory";

/// Forgotten notes, and the files that they were removed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetReport {
    /// The removed notes.
    pub notes: Vec<Note>,
    /// Copies of the database from which they were removed as well.
    pub copies: Vec<PathBuf>,
    /// Files that may still contain them: damaged databases that were set aside, and copies that
    /// could not be changed.
    pub unreached: Vec<PathBuf>,
}

impl Memory {
    /// Removes notes for good, here and in the copies that we made; reports what was reached and
    /// what was not.
    pub fn forget(&self, ids: &[NoteId]) -> Result<ForgetReport> {
        let notes = self.change_durably("cannot forget memories", |connection| {
            let mut notes = Vec::new();
            for id in ids {
                let kept = recording::require_note(connection, id)?;
                forget_stored_note(connection, &kept)?;
                let at = self.now().as_millis().to_string();
                let words = std::iter::once(&kept.note.text).chain(&kept.note.quote);
                for words in words.filter(|words| !words.trim().is_empty()) {
                    // Transcripts still have the words: only a digest, so that they stay forgotten.
                    pauses::set(connection, &forgotten_key(&kept.note.scope, words), &at)?;
                }
                notes.push(kept.note);
            }
            Ok(notes)
        })?;
        self.pool.write_existing(|connection| truncate_log(connection))?;
        Ok(forget_in_copies(self.path(), notes, ids))
    }
}

/// Removes a note, and everything that contains its words: events, lessons, notices, checkpoints.
fn forget_stored_note(connection: &Connection, kept: &StoredNote) -> Result<()> {
    connection.write(
        "DELETE FROM events WHERE detail IN (SELECT error FROM lessons WHERE note = ?1)",
        [kept.note.id.as_str()],
        FORGETTING,
    )?;
    remove_stored_note(connection, kept)?;
    let words = std::iter::once(&kept.note.text).chain(&kept.note.quote);
    // The quote of a private statement is empty, and would match everything.
    for words in words.filter(|words| !words.trim().is_empty()) {
        for sql in [
            "DELETE FROM events WHERE instr(detail, ?1) > 0",
            "DELETE FROM notices WHERE instr(text, ?1) > 0",
            "DELETE FROM lessons WHERE instr(error, ?1) > 0 OR instr(command, ?1) > 0",
        ] {
            connection.write(sql, [words], FORGETTING)?;
        }
        checkpoint::forget_words(connection, words)?;
        // An agent's to-do list is stored there, as JSON.
        let json = serde_json::to_string(words).expect("text always serializes");
        connection.write(
            "DELETE FROM sweeps WHERE instr(mark, ?1) > 0",
            [json.trim_matches('"')],
            FORGETTING,
        )?;
    }
    Ok(())
}

/// Removes one note, from search too, within the caller's transaction.
pub(crate) fn remove_stored_note(connection: &Connection, kept: &StoredNote) -> Result<()> {
    index::unindex_note(connection, kept.row)?;
    // In a copy of an older version, delivery rows are deleted with the note.
    if schema_version(connection)? >= LISTS {
        deliveries::forget(connection, &kept.note.id)?;
    }
    for sql in [
        "UPDATE notes SET superseded_by = NULL WHERE superseded_by = ?1",
        // A lesson has the same words.
        "DELETE FROM lessons WHERE note = ?1",
        "DELETE FROM events WHERE subject = ?1",
        "DELETE FROM notes WHERE id = ?1",
    ] {
        connection.write(sql, [&kept.note.id], FORGETTING)?;
    }
    Ok(())
}

/// Empties the write-ahead log, which still has what was overwritten in the file.
fn truncate_log(connection: &Connection) -> Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).doing(FORGETTING)
}

/// Removes notes from snapshots and from copies with the database's name and a suffix of ours.
fn forget_in_copies(path: &Path, notes: Vec<Note>, ids: &[NoteId]) -> ForgetReport {
    let (mut copies, mut unreached) = (Vec::new(), Vec::new());
    let database = name_of(path);
    // Listed under the lock: a copy in progress would be renamed meanwhile. Without the lock,
    // unfinished copies belong to another process, and may keep the words.
    let alone = lock_database(path, snapshot::LOCK_WAIT);
    let remove_unfinished = |file: &Path| match &alone {
        Ok(_) => fsx::remove(file).is_ok(),
        Err(_) => false,
    };
    let entries = fs::read_dir(fsx::parent(path)).into_iter().flatten().flatten();
    let is_sibling = |it: &PathBuf| name_of(it).starts_with(&format!("{database}."));
    let mut siblings: Vec<PathBuf> = entries.map(|it| it.path()).filter(is_sibling).collect();
    siblings.sort_unstable();
    for copy in siblings {
        let name = name_of(&copy);
        let is_clean = match DatabaseFileRole::of(&name, &database) {
            Some(DatabaseFileRole::SetAside(_)) => false,
            Some(DatabaseFileRole::Unfinished) if !remove_unfinished(&copy) => false,
            Some(DatabaseFileRole::Backup(itself)) if itself == name => {
                forget_in_copy(&copy, ids).is_ok()
            }
            _ => continue,
        };
        if is_clean { &mut copies } else { &mut unreached }.push(copy);
    }
    for file in snapshot::files_beside(path) {
        let is_whole = file.extension().is_some_and(|it| it == "db");
        if !is_whole && remove_unfinished(&file) {
            continue;
        }
        // A snapshot that can't be changed is deleted: there will be another.
        let is_clean =
            is_whole && (forget_in_copy(&file, ids).is_ok() || fsx::remove(&file).is_ok());
        if is_clean { &mut copies } else { &mut unreached }.push(file);
    }
    ForgetReport { notes, copies, unreached }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn forget_in_copy(path: &Path, ids: &[NoteId]) -> Result<()> {
    let copy = connection::open_unchecked(path)?;
    copy.execute_batch("PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;").doing(FORGETTING)?;
    // A copy of an older version has no ends.
    if schema_version(&copy)? < WITH_ENDS {
        let ends = ENDS.replace("CREATE TABLE", "CREATE TEMP TABLE");
        copy.execute_batch(&ends).doing(FORGETTING)?;
    }
    for id in ids {
        if let Some(kept) = note_rows::by_id(&copy, id)? {
            forget_stored_note(&copy, &kept)?;
        }
    }
    copy.execute_batch("VACUUM").doing(FORGETTING)?;
    truncate_log(&copy)
}
