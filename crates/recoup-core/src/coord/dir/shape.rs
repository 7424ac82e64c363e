//! Whether a directory is a session, and nothing but that. Sessions are removed
//! whole, so what is somebody's must never look like one.
//!
//! A session of ours has a mark since it was made. One without it, as other tools
//! make them, may be read and used; it is never removed unless somebody names it, and
//! then only if it can't be anything else.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::layout::{AGENT_COPY, AGENTS, JSON, MARK, RECORD, RESULTS, TIME_COPY, WINNER};
use crate::base::fsx;
use crate::base::name::Name;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Whose a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Ours: it has the mark.
    Ours,
    /// Another tool's: it has what only a session has.
    Theirs,
    /// Nobody's: there is nothing in it, or nothing that tells.
    Unclear,
}

/// Whose a session is. A directory that has more in it than a session has is
/// refused, and so is a link in place of one of its own.
pub(super) fn session_in(dir: &Path) -> Result<Whose> {
    for part in [WINNER, AGENTS, RESULTS] {
        fsx::is_real_dir(&dir.join(part))?;
    }
    let ours = is_ours(dir);
    let looking = || format!("looking at {}", dir.display());
    if let Some(name) = foreign_in(dir, ours).doing(looking)? {
        return Err(no_session(dir, &format!("it has {name:?} in it")));
    }
    match () {
        () if ours => Ok(Whose::Ours),
        () if has_sign(dir).doing(looking)? => Ok(Whose::Theirs),
        () => Ok(Whose::Unclear),
    }
}

/// Whether the mark is there. Only who made a session has put it there.
pub(super) fn is_ours(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(MARK)).is_ok_and(|found| found.is_file())
}

/// That a directory must be left alone, and what to do.
pub(super) fn no_session(dir: &Path, why: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!(
            "{} is no session: {why}; remove it yourself, or choose another name or directory \
             (early_exit.dir)",
            dir.display()
        ),
    )
}

/// Something that no session has. In one of ours a link may have taken a file's place.
fn foreign_in(dir: &Path, ours: bool) -> io::Result<Option<String>> {
    let is_file = |entry: &DirEntry| {
        entry.file_type().map(|kind| kind.is_file() || (ours && kind.is_symlink()))
    };
    let within = |entry: &DirEntry, fits: fn(&str) -> bool| {
        let misplaced = |inner: &DirEntry| {
            Ok(!(inner.file_name().to_str().is_some_and(fits) && is_file(inner)?))
        };
        each(&entry.path(), misplaced).map(|found| found.is_some())
    };
    each(dir, |entry| match entry.file_name().to_str() {
        Some(AGENT_COPY | TIME_COPY | MARK) => Ok(!is_file(entry)?),
        Some(WINNER) => within(entry, |name| name == RECORD),
        Some(AGENTS) => within(entry, is_name),
        Some(RESULTS) => within(entry, |name| name.strip_suffix(JSON).is_some_and(is_name)),
        _ => Ok(true),
    })
}

fn is_name(text: &str) -> bool {
    Name::parse("agent", text).is_ok()
}

/// Whether something is there that is in sessions only: an empty directory is not.
fn has_sign(dir: &Path) -> io::Result<bool> {
    let some = |part: &str| each(&dir.join(part), |_| Ok(true)).map(|found| found.is_some());
    Ok(dir.join(WINNER).is_dir() || some(AGENTS)? || some(RESULTS)?)
}

/// The name of the first entry of which `is_foreign` holds. Links are not followed,
/// and what is not there has no entries.
fn each(
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
