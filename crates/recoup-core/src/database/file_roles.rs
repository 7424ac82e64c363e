//! Files that belong to a database by their names: one list for creating, forgetting and deleting.
//!
//! ```text
//! NAME.recoup-lock           held while it is created, copied or replaced
//! NAME.backup-VERSION        copy from before a migration
//! NAME.damaged-ID/           damaged database, with its log
//! NAME.mark                  number of changes that it should contain
//! NAME.copy, .new            unfinished copy or database
//! ```
//! SQLite's own files, `-wal` and the like, may exist for each of these.

use std::path::{Path, PathBuf};

use crate::base::fsx;

const LOCK: &str = ".recoup-lock";
const BACKUP: &str = ".backup-";
const SET_ASIDE: &str = ".damaged-";
/// A copy on its way to becoming a backup.
pub(super) const COPY: &str = ".copy";
/// A database on its way to its place.
pub(super) const FRESH: &str = ".new";
/// Repaired copies, which earlier versions made to read a damaged database.
const MENDED: &str = ".mended";
const MARK: &str = ".mark";

/// Suffixes of SQLite's own files.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Role of a file that is named after a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseFileRole<'a> {
    /// The database, or SQLite's log of it.
    Itself,
    /// The lock.
    Lock,
    /// Number of changes that the database should contain.
    Mark,
    /// A copy, or SQLite's log of one; with the copy's own name.
    Backup(&'a str),
    /// Directory of a damaged database, with its id.
    SetAside(&'a str),
    /// Leftover that is useless once its maker has ended.
    Unfinished,
}

impl<'a> DatabaseFileRole<'a> {
    /// Role of the file called `name` for the database called `database`; `None` if unrelated.
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

/// Path of a database's lock file, a name that no other program uses.
pub fn lock_path(database: &Path) -> PathBuf {
    fsx::with_suffix(database, LOCK)
}

/// Path of the file with the number of changes that a database should contain.
pub(crate) fn mark_path(database: &Path) -> PathBuf {
    fsx::with_suffix(database, MARK)
}

pub(super) fn backup_path(database: &Path, version: i64) -> PathBuf {
    fsx::with_suffix(database, &format!("{BACKUP}{version}"))
}

pub(super) fn set_aside_path(database: &Path, id: &str) -> PathBuf {
    fsx::with_suffix(database, &format!("{SET_ASIDE}{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_name_and_nothing_else_is() {
        let of = |name| DatabaseFileRole::of(name, "m.db");
        assert_eq!(of("m.db"), Some(DatabaseFileRole::Itself));
        assert_eq!(of("m.db-wal"), Some(DatabaseFileRole::Itself));
        assert_eq!(of("m.db.recoup-lock"), Some(DatabaseFileRole::Lock));
        assert_eq!(of("m.db.backup-12"), Some(DatabaseFileRole::Backup("m.db.backup-12")));
        assert_eq!(of("m.db.backup-12-wal"), Some(DatabaseFileRole::Backup("m.db.backup-12")));
        assert_eq!(of("m.db.mark"), Some(DatabaseFileRole::Mark));
        assert_eq!(of("m.db.damaged-x"), Some(DatabaseFileRole::SetAside("x")));
        for unfinished in ["m.db.copy", "m.db.copy-journal", "m.db.new-wal", "m.db.mended-shm"] {
            assert_eq!(of(unfinished), Some(DatabaseFileRole::Unfinished), "{unfinished}");
        }
        for other in ["m.dbx", "m.db.backup-", "m.db.backup-1a", "m.db.copy2", "m.db.bak", "n.db"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
