//! Merging of duplicates: evidence adds up, and the other notes are superseded, so that each can be
//! brought back.

use rusqlite::{Connection, params};

use super::{DuplicateGroup, duplicates};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::{Note, NoteScope, note_rows, recording};

/// Merges duplicates in these scopes, or in all, within the caller's transaction.
pub(in crate::memory) fn merge(
    connection: &Connection,
    scopes: &[NoteScope],
    now: Timestamp,
) -> Result<Vec<DuplicateGroup>> {
    let active = note_rows::find_many(connection, "status = 'active'", [])?;
    let notes: Vec<Note> = active.into_iter().map(|kept| kept.note).collect();
    let meant = |note: &Note| scopes.is_empty() || scopes.contains(&note.scope);
    let notes: Vec<Note> = notes.into_iter().filter(meant).collect();
    let mut found = duplicates(&notes);
    for group in &mut found {
        let stays = recording::require_note(connection, &group.stays.id)?;
        for other in &group.others {
            let other = recording::require_note(connection, &other.id)?;
            recording::supersede(connection, &other, &group.stays.id, now)?;
        }
        let more: u64 = group.others.iter().map(|note| note.evidence).sum();
        connection
            .prepare_cached("UPDATE notes SET evidence = evidence + ?2 WHERE row = ?1")
            .and_then(|mut update| update.execute(params![stays.row, more.cast_signed()]))
            .map_err(recording::note_write_error)?;
        recording::record_evidence(connection, &stays, "merged", None, now)?;
        group.stays = recording::require_note(connection, &group.stays.id)?.note;
    }
    Ok(found)
}
