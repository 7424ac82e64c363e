//! Checks that a directory is a session and nothing else. Sessions are removed whole, so other
//! directories must never pass for one.
//!
//! A session of ours has a mark from the start. One without it, as other tools make them, may be
//! read and used; it is removed only if a user names it, and then only if it cannot be anything
//! else.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::layout::{AGENT_COPY, AGENTS, JSON, MARK, RECORD, RESULTS, TIME_COPY, WINNER};
use crate::base::fsx;
use crate::base::name::SafeName;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Owner of a session directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// Ours: has the mark.
    Ours,
    /// Another tool's: has files that only a session has.
    Theirs,
    /// Unknown: empty, or without characteristic files.
    Unclear,
}

/// The owner of a session. A directory with other files in it, or with a link in place of a
/// sub-directory, is an error.
pub(super) fn session_owner(dir: &Path) -> Result<SessionOwner> {
    for part in [WINNER, AGENTS, RESULTS] {
        fsx::is_real_dir(&dir.join(part))?;
    }
    let ours = has_marker(dir);
    let looking = || format!("looking at {}", dir.display());
    if let Some(name) = find_foreign(dir, ours).with_context(looking)? {
        return Err(not_a_session_error(dir, &format!("it has {name:?} in it")));
    }
    match () {
        () if ours => Ok(SessionOwner::Ours),
        () if has_session_files(dir).with_context(looking)? => Ok(SessionOwner::Theirs),
        () => Ok(SessionOwner::Unclear),
    }
}

/// True if the mark exists, which only the creator of a session writes.
pub(super) fn has_marker(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(MARK)).is_ok_and(|found| found.is_file())
}

/// The error for a directory that must be left alone, with advice.
pub(super) fn not_a_session_error(dir: &Path, why: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!(
            "{} is no session: {why}; remove it yourself, or choose another name or directory \
             (early_exit.dir)",
            dir.display()
        ),
    )
}

/// The first entry that does not belong to a session. In one of ours a link may have replaced a
/// file.
fn find_foreign(dir: &Path, ours: bool) -> io::Result<Option<String>> {
    let is_file = |entry: &DirEntry| {
        entry.file_type().map(|kind| kind.is_file() || (ours && kind.is_symlink()))
    };
    let within = |entry: &DirEntry, fits: fn(&str) -> bool| {
        let misplaced = |inner: &DirEntry| {
            Ok(!(inner.file_name().to_str().is_some_and(fits) && is_file(inner)?))
        };
        find_entry(&entry.path(), misplaced).map(|found| found.is_some())
    };
    find_entry(dir, |entry| match entry.file_name().to_str() {
        Some(AGENT_COPY | TIME_COPY | MARK) => Ok(!is_file(entry)?),
        Some(WINNER) => within(entry, |name| name == RECORD),
        Some(AGENTS) => within(entry, is_name),
        Some(RESULTS) => within(entry, |name| name.strip_suffix(JSON).is_some_and(is_name)),
        _ => Ok(true),
    })
}

fn is_name(text: &str) -> bool {
    SafeName::parse("agent", text).is_ok()
}

/// True if there are files that only a session has; an empty directory does not count.
fn has_session_files(dir: &Path) -> io::Result<bool> {
    let some = |part: &str| find_entry(&dir.join(part), |_| Ok(true)).map(|found| found.is_some());
    Ok(dir.join(WINNER).is_dir() || some(AGENTS)? || some(RESULTS)?)
}

/// The name of the first entry for which `is_foreign` holds. Links are not followed, and a missing
/// directory has no entries.
fn find_entry(
    dir: &Path,
    is_foreign: impl Fn(&DirEntry) -> io::Result<bool>,
) -> io::Result<Option<String>> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if is_foreign(&entry)? {
            return Ok(Some(entry.file_name().to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}
