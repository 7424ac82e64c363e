//! Conversion of SQLite's errors.

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_ERROR, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};

use crate::error::{Error, ErrorKind};

/// Converts SQLite's error into ours: the action that failed, and a kind that callers react to.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(crate) fn from_sqlite(error: rusqlite::Error, doing: &str) -> Error {
    // As text: the cause that SQLite's error carries says the same again.
    Error::new(kind_of_sqlite_error(&error), doing).with_source(error.to_string())
}

fn kind_of_sqlite_error(error: &rusqlite::Error) -> ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Corrupt,
        Some(ErrorCode::ReadOnly) => ErrorKind::ReadOnly,
        Some(ErrorCode::DiskFull) => ErrorKind::Full,
        // How SQLite reports a quota, or a limit on the size of files.
        _ if matches!(
            error.sqlite_extended_error_code(),
            Some(SQLITE_IOERR_WRITE | SQLITE_IOERR_SHMSIZE)
        ) =>
        {
            ErrorKind::Full
        }
        // Our own statements fit our own tables: a table or trigger is not as we made it.
        _ if error.sqlite_extended_error_code() == Some(SQLITE_ERROR) => ErrorKind::Corrupt,
        _ => ErrorKind::Io,
    }
}
