//! Migration of lessons from earlier versions, which had one for each branch or path: equal ones
//! are merged.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::teach::reword;
use super::{Lesson, fix, learning, lesson, slots, wording};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::{NoteId, Source, keep, rows};

/// Gives each lesson its signature of this version, and merges those that share one.
pub(in crate::memory) fn fold_lessons(connection: &Connection, now: Timestamp) -> Result<()> {
    const SQL: &str = "SELECT row, kind, command, error, fix, note, signature, scope FROM lessons
                       ORDER BY row";
    let mut select = connection.prepare(SQL).map_err(learning)?;
    let read = |row: &Row<'_>| Ok((lesson(row)?, row.get(7)?));
    let all = select.query_map([], read).map_err(learning)?;
    let all: rusqlite::Result<Vec<(Lesson, String)>> = all.collect();
    for (mut old, scope) in all.map_err(learning)? {
        let (signature, fix) = of_this_version(&old);
        if (&signature, &fix) != (&old.signature, &old.fix) {
            (old.signature, old.fix) = (signature, fix);
            fold(connection, &old, &scope, now)?;
        }
    }
    Ok(())
}

/// Returns the signature and the fix of a stored lesson in this version.
fn of_this_version(old: &Lesson) -> (String, Option<String>) {
    let (slots, error) = (old.slots(), &old.cause.error);
    let own = (old.values().own_signature(error), old.fix.clone());
    if slots.is_empty() {
        return own;
    }
    let Some(command) = old.fix.as_deref().and_then(fix::command_of) else {
        return (slots.general_signature(error), old.fix.clone());
    };
    let is_general = command.split(' ').any(slots::is_placeholder);
    if !is_general && slots.remain_in(&old.kind, command) {
        return own;
    }
    let fix = fix::works(&slots.generalise(&old.kind, command));
    (slots.general_signature(error), Some(fix))
}

/// Stores a lesson with a new signature or fix, merged with an equal one.
fn fold(connection: &Connection, old: &Lesson, scope: &str, now: Timestamp) -> Result<()> {
    const SAME: &str = "SELECT row, kind, command, error, fix, note, signature FROM lessons
                        WHERE scope = ?1 AND kind = ?2 AND signature = ?3 AND row <> ?4";
    let same = connection
        .query_row(SAME, params![scope, old.kind, old.signature, old.row], lesson)
        .optional()
        .map_err(learning)?;
    let note = |lesson: &Lesson| {
        let id = lesson.note.as_deref().map(NoteId::parse).transpose()?;
        id.map_or(Ok(None), |id| rows::by_id(connection, &id))
    };
    let (note_of_old, note_of_same) = (note(old)?, same.as_ref().map_or(Ok(None), note)?);
    if let (Some(old), Some(same)) = (&note_of_old, &note_of_same)
        && old.note.source == Source::Extraction
    {
        keep::supersede(connection, old, &same.note.id, now)?;
    }
    match same {
        Some(same) if same.note.is_some() || old.note.is_none() => {
            return join(connection, old, &same);
        }
        Some(same) => join(connection, &same, old)?,
        None => {}
    }
    connection
        .execute(
            "UPDATE lessons SET signature = ?2, fix = ?3 WHERE row = ?1",
            params![old.row, old.signature, old.fix],
        )
        .map_err(learning)?;
    match (note_of_old, &old.fix) {
        (Some(kept), Some(fix)) if kept.note.source == Source::Extraction => {
            reword(connection, &kept, wording::text(old, fix), now)
        }
        _ => Ok(()),
    }
}

/// Deletes a lesson, and counts its failures for the other. Its fixes may have been others.
fn join(connection: &Connection, gone: &Lesson, stays: &Lesson) -> Result<()> {
    const MOVE: &str = "UPDATE OR IGNORE sightings SET lesson = ?2
                        WHERE lesson = ?1 AND what = 'failed'";
    connection.execute(MOVE, [gone.row, stays.row]).map_err(learning)?;
    let delete = "DELETE FROM lessons WHERE row = ?1";
    connection.execute(delete, [gone.row]).map(drop).map_err(learning)
}
