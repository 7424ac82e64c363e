//! Migration of lessons from earlier versions, which had one for each branch or path: equal ones
//! are merged.

use rusqlite::{Connection, Row, params};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::{CachedSql as _, SqlContext as _, recording};
use crate::memory::learn::lessons::teach::{find_note, reword_lesson_note};
use crate::memory::learn::lessons::{
    FailureLesson, LEARNING, fix, lesson_from_row, varying_values, wording,
};
use crate::memory::model::NoteSource;

/// Gives each lesson its signature of this version, and merges those that share one.
pub(crate) fn rekey_lessons(connection: &Connection, now: Timestamp) -> Result<()> {
    const SQL: &str = "SELECT row, kind, command, error, fix, note, signature, scope FROM lessons
                       ORDER BY row";
    let read = |row: &Row<'_>| Ok((lesson_from_row(row)?, row.get::<_, String>(7)?));
    for (mut old, scope) in connection.list_cached(SQL, [], read).doing(LEARNING)? {
        let (signature, fix) = current_signature_and_fix(&old);
        if (&signature, &fix) != (&old.signature, &old.fix) {
            (old.signature, old.fix) = (signature, fix);
            store_rekeyed(connection, &old, &scope, now)?;
        }
    }
    Ok(())
}

/// Returns the signature and the fix of a stored lesson in this version.
fn current_signature_and_fix(old: &FailureLesson) -> (String, Option<String>) {
    let (slots, error) = (old.varying_values(), &old.cause.error);
    let own = (old.last_values().own_signature(error), old.fix.clone());
    if slots.is_empty() {
        return own;
    }
    let Some(command) = old.fix.as_deref().and_then(fix::fix_command) else {
        return (slots.general_signature(error), old.fix.clone());
    };
    let is_general = command.split(' ').any(varying_values::is_placeholder);
    if !is_general && slots.still_appear_in(&old.kind, command) {
        return own;
    }
    let fix = fix::format_fix(&slots.generalise(&old.kind, command));
    (slots.general_signature(error), Some(fix))
}

/// Stores a lesson with a new signature or fix, merged with an equal one.
fn store_rekeyed(
    connection: &Connection,
    old: &FailureLesson,
    scope: &str,
    now: Timestamp,
) -> Result<()> {
    const SAME: &str = "SELECT row, kind, command, error, fix, note, signature FROM lessons
                        WHERE scope = ?1 AND kind = ?2 AND signature = ?3 AND row <> ?4";
    let values = params![scope, old.kind, old.signature, old.row];
    let same = connection.find_cached(SAME, values, lesson_from_row).doing(LEARNING)?;
    let note_of_old = find_note(connection, old)?;
    let note_of_same = same.as_ref().map_or(Ok(None), |same| find_note(connection, same))?;
    if let (Some(old), Some(same)) = (&note_of_old, &note_of_same)
        && old.note.source == NoteSource::Extraction
    {
        recording::supersede(connection, old, &same.note.id, now)?;
    }
    match same {
        Some(same) if same.note.is_some() || old.note.is_none() => {
            return merge_lessons(connection, old, &same);
        }
        Some(same) => merge_lessons(connection, &same, old)?,
        None => {}
    }
    let sql = "UPDATE lessons SET signature = ?2, fix = ?3 WHERE row = ?1";
    connection.write(sql, params![old.row, old.signature, old.fix], LEARNING)?;
    match (note_of_old, &old.fix) {
        (Some(kept), Some(fix)) if kept.note.source == NoteSource::Extraction => {
            reword_lesson_note(connection, &kept, wording::lesson_text(old, fix), now)
        }
        _ => Ok(()),
    }
}

/// Deletes a lesson, and counts its failures for the other. Its fixes may have been others.
fn merge_lessons(
    connection: &Connection,
    gone: &FailureLesson,
    stays: &FailureLesson,
) -> Result<()> {
    const MOVE: &str = "UPDATE OR IGNORE sightings SET lesson = ?2
                        WHERE lesson = ?1 AND what = 'failed'";
    connection.write(MOVE, [gone.row, stays.row], LEARNING)?;
    let delete = "DELETE FROM lessons WHERE row = ?1";
    connection.write(delete, [gone.row], LEARNING).map(drop)
}
