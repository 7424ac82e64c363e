//! SQLite's errors in our words.

use rusqlite::ErrorCode;

use crate::error::{Error, ErrorKind};

/// Says what was being done, and sorts the error by what can be done about it.
pub(super) fn explain(error: rusqlite::Error, doing: &str) -> Error {
    Error::new(kind(&error), doing).with_source(error)
}

fn kind(error: &rusqlite::Error) -> ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Corrupt,
        Some(ErrorCode::ReadOnly) => ErrorKind::ReadOnly,
        Some(ErrorCode::DiskFull) => ErrorKind::Full,
        _ => ErrorKind::Io,
    }
}
