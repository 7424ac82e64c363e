//! What stands beside a database under its name: one list for those who put it there, those
//! who forget in it, and those who delete all of it.
//!
//! ```text
//! NAME.recoup-lock           who begins it, copies it or begins it anew holds this
//! NAME.backup-VERSION        a copy, made before older tables were changed
//! NAME.damaged-ID/           a damaged one, with its log
//! NAME.mark                  how many changes it should know of
//! NAME.copy, .new            what somebody is making, or has left who was ended meanwhile
//! ```
//! SQLite's own files, `-wal` and the like, may stand beside each of these.

use std::path::{Path, PathBuf};

use crate::base::fsx;

const LOCK: &str = ".recoup-lock";
const BACKUP: &str = ".backup-";
const SET_ASIDE: &str = ".damaged-";
/// A copy on its way to becoming a backup.
pub(super) const COPY: &str = ".copy";
/// A database on its way to its place.
pub(super) const FRESH: &str = ".new";
/// Copies with a sound beginning, which earlier versions made to read a damaged one.
const MENDED: &str = ".mended";
const MARK: &str = ".mark";

/// What SQLite puts beside a database.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What a file is to the database that it has the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside<'a> {
    /// Itself, or SQLite's log of it.
    Itself,
    /// The lock.
    Lock,
    /// The number of changes that it should know of.
    Mark,
    /// A copy, or SQLite's log of one; the copy's own name.
    Backup(&'a str),
    /// The directory of a damaged one; what it is told apart by.
    SetAside(&'a str),
    /// What nobody needs once whoever makes it has ended.
    Unfinished,
}

impl<'a> Beside<'a> {
    /// What the file called `name` is to the database called `database`; none where it has
    /// nothing to do with it.
    pub fn of(name: &'a str, database: &str) -> Option<Self> {
        let rest = name.strip_prefix(database)?;
        if rest == LOCK {
            return Some(Self::Lock);
        }
        if rest == MARK {
            return Some(Self::Mark);
        }
        if let Some(id) = rest.strip_prefix(SET_ASIDE) {
            return Some(Self::SetAside(id));
        }
        let without_log = |text: &'a str| LOGS.into_iter().find_map(|log| text.strip_suffix(log));
        let kind = without_log(rest).unwrap_or(rest);
        let is_version = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        match kind {
            "" => Some(Self::Itself),
            COPY | FRESH | MENDED => Some(Self::Unfinished),
            kind if kind.strip_prefix(BACKUP).is_some_and(is_version) => {
                Some(Self::Backup(without_log(name).unwrap_or(name)))
            }
            _ => None,
        }
    }
}

/// A name that nobody else gives to a file.
pub fn lock_of(database: &Path) -> PathBuf {
    fsx::with_suffix(database, LOCK)
}

/// The file that says how many changes a database should know of.
pub(crate) fn mark_of(database: &Path) -> PathBuf {
    fsx::with_suffix(database, MARK)
}

pub(super) fn backup_of(database: &Path, version: i64) -> PathBuf {
    fsx::with_suffix(database, &format!("{BACKUP}{version}"))
}

pub(super) fn aside_of(database: &Path, id: &str) -> PathBuf {
    fsx::with_suffix(database, &format!("{SET_ASIDE}{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_name_and_nothing_else_is() {
        let of = |name| Beside::of(name, "m.db");
        assert_eq!(of("m.db"), Some(Beside::Itself));
        assert_eq!(of("m.db-wal"), Some(Beside::Itself));
        assert_eq!(of("m.db.recoup-lock"), Some(Beside::Lock));
        assert_eq!(of("m.db.backup-12"), Some(Beside::Backup("m.db.backup-12")));
        assert_eq!(of("m.db.backup-12-wal"), Some(Beside::Backup("m.db.backup-12")));
        assert_eq!(of("m.db.mark"), Some(Beside::Mark));
        assert_eq!(of("m.db.damaged-x"), Some(Beside::SetAside("x")));
        for unfinished in ["m.db.copy", "m.db.copy-journal", "m.db.new-wal", "m.db.mended-shm"] {
            assert_eq!(of(unfinished), Some(Beside::Unfinished), "{unfinished}");
        }
        for other in ["m.dbx", "m.db.backup-", "m.db.backup-1a", "m.db.copy2", "m.db.bak", "n.db"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
