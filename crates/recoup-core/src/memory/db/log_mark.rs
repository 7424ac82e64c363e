//! A mark of how far memory's log should reach. Every change that a person relies on is counted
//! in the database, and the count is noted in a file beside it. After a crash of the machine the
//! log may end earlier than it did: SQLite then reads what is left of it as if nothing had ever
//! followed. A database that counts less than the mark says has lost changes, and the user is told.
//!
//! The mark itself is not synced: a power cut may leave an older one, which is never a false alarm.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::database::mark_path;
use crate::error::Result;
use crate::memory::db::pauses;
use crate::memory::db::transaction::insert_notice;
use crate::memory::model::NoteScope;

/// Setting that counts changes.
const CHANGES: &str = "changes";
/// Most digits of a count.
const LONGEST: u64 = 20;

/// A counted change, and the file to note its number in once it is committed.
#[derive(Debug)]
pub(crate) struct CountedChange {
    number: u64,
    mark: PathBuf,
}

impl CountedChange {
    /// Counts a change, within the caller's transaction. If the mark has more changes than the
    /// database, leaves a notice for the user.
    pub(crate) fn count(connection: &Connection, path: &Path, now: Timestamp) -> Result<Self> {
        let mark = mark_path(path);
        let marked = read(&mark).unwrap_or(0);
        let counted = pauses::get(connection, CHANGES)?.and_then(|it| it.parse().ok());
        if counted.is_some_and(|counted: u64| counted < marked) {
            let text = "the log of memory.db was truncated, as by a system crash: the latest \
                        memories may be missing (check with `recoup memory list`)";
            insert_notice(connection, &NoteScope::Universal, text, now)?;
        }
        let number = counted.unwrap_or(0).max(marked) + 1;
        pauses::set(connection, CHANGES, &number.to_string())?;
        Ok(Self { number, mark })
    }

    /// Notes the change, once it is committed. Best effort: without the mark a loss is not noticed.
    pub(crate) fn write_mark(&self) {
        // Another process may have noted a later one meanwhile.
        if read(&self.mark).unwrap_or(0) < self.number {
            let _ = fsx::write_unsynced(&self.mark, self.number.to_string().as_bytes());
        }
    }
}

/// Makes the count of a memory that was begun anew start from the mark.
pub(crate) fn reset_count(connection: &Connection) -> Result<()> {
    pauses::unset(connection, CHANGES).map(drop)
}

fn read(mark: &Path) -> Option<u64> {
    let text = fsx::read_regular(mark, LONGEST).ok()??;
    str::from_utf8(&text).ok()?.trim().parse().ok()
}
