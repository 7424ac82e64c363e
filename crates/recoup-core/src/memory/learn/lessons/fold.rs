//! Lessons of earlier versions, which had one for each branch or path: those that are one by now
//! become one.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::teach::reword;
use super::{Lesson, fix, learning, lesson, wording};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::{NoteId, Source, keep, rows};

/// Gives each lesson the signature that it has in this version, and joins those that share one.
pub(in crate::memory) fn fold_lessons(connection: &Connection, now: Timestamp) -> Result<()> {
    const SQL: &str = "SELECT row, kind, command, error, fix, note, scope, signature FROM lessons
                       ORDER BY row";
    let mut select = connection.prepare(SQL).map_err(learning)?;
    let read = |row: &Row<'_>| Ok((lesson(row)?, row.get(6)?, row.get(7)?));
    let all = select.query_map([], read).map_err(learning)?;
    let all: rusqlite::Result<Vec<(Lesson, String, String)>> = all.collect();
    for (old, scope, signature) in all.map_err(learning)? {
        if old.signature() != signature {
            fold(connection, &old, &scope, now)?;
        }
    }
    Ok(())
}

fn fold(connection: &Connection, old: &Lesson, scope: &str, now: Timestamp) -> Result<()> {
    const SAME: &str = "SELECT row, kind, command, error, fix, note FROM lessons
                        WHERE scope = ?1 AND kind = ?2 AND signature = ?3";
    let signature = old.signature();
    let same = connection
        .query_row(SAME, params![scope, old.kind, signature], lesson)
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
    let slots = old.slots();
    let fix = old.fix.as_deref().map(|fix| match fix::command_of(fix) {
        Some(command) => fix::works(&slots.generalise(&old.kind, command)),
        None => fix.to_owned(),
    });
    connection
        .execute(
            "UPDATE lessons SET signature = ?2, fix = ?3 WHERE row = ?1",
            params![old.row, signature, fix],
        )
        .map_err(learning)?;
    match (note_of_old, &fix) {
        (Some(kept), Some(fix)) if kept.note.source == Source::Extraction => {
            reword(connection, &kept, wording::text(old, fix), now)
        }
        _ => Ok(()),
    }
}

/// One lesson goes, and its failures count for the other. Its fixes may have been others.
fn join(connection: &Connection, gone: &Lesson, stays: &Lesson) -> Result<()> {
    const MOVE: &str = "UPDATE OR IGNORE sightings SET lesson = ?2
                        WHERE lesson = ?1 AND what = 'failed'";
    connection.execute(MOVE, [gone.row, stays.row]).map_err(learning)?;
    let delete = "DELETE FROM lessons WHERE row = ?1";
    connection.execute(delete, [gone.row]).map(drop).map_err(learning)
}
