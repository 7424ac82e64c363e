//! Lessons never contradict the user's rules.

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::note_rows::StoredNote;
use crate::memory::topic::forbids;
use crate::memory::transaction::EventTransaction;
use crate::memory::{Note, NoteFilter, NoteScope, NoteStatus, NoteTrust, note_rows, recording};

/// Maximum number of rules per scope that are checked, the latest first.
const LOOKED_AT: usize = 500;

impl EventTransaction<'_> {
    /// True if a rule of the user, or a team rule that the user accepted, forbids a command.
    pub(super) fn is_forbidden(&self, command: &str) -> Result<bool> {
        let wanted = format!(
            "scope = ?1 AND status = 'active' AND source IN ('user', 'manual', 'team')
             ORDER BY updated DESC LIMIT {LOOKED_AT}"
        );
        for scope in NoteFilter::active_in(&self.occasion.scope).scopes {
            let rules = note_rows::find_many(self.connection, &wanted, params![scope.to_string()])?;
            if rules.iter().any(|kept| forbids(&kept.note.text, command)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Supersedes the lessons that a new rule forbids.
pub(in crate::memory) fn supersede_forbidden_lessons(
    connection: &Connection,
    rule: &StoredNote,
    now: Timestamp,
) -> Result<Vec<Note>> {
    if rule.note.status != NoteStatus::Active || rule.note.trust() < NoteTrust::Agreed {
        return Ok(Vec::new());
    }
    let everywhere = rule.note.scope == NoteScope::Universal;
    let lessons = note_rows::find_many(
        connection,
        "id IN (SELECT note FROM lessons WHERE note IS NOT NULL) AND status = 'active'
         AND source = 'extraction' AND (?1 OR scope = ?2)",
        params![everywhere, rule.note.scope.to_string()],
    )?;
    let mut gave_way = Vec::new();
    for lesson in lessons {
        let fix = lesson.note.text.rsplit_once("; ").map_or(&*lesson.note.text, |(_, fix)| fix);
        if forbids(&rule.note.text, fix) {
            recording::supersede(connection, &lesson, &rule.note.id, now)?;
            gave_way.push(lesson.note);
        }
    }
    Ok(gave_way)
}
