//! Whether a directory is a session, and nothing but that. Sessions are removed
//! whole: one that holds anything else is somebody's, and is left alone.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::layout::{AGENT_COPY, AGENTS, RESULTS, TIME_COPY, WINNER};
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Refuses a directory that has more in it than a session has. What is not there
/// has nothing.
pub(super) fn demand_session(dir: &Path) -> Result<()> {
    let looking = || format!("looking at {}", dir.display());
    match foreign_in(dir).doing(looking)? {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "{} is no session: it has {name:?} in it; remove it yourself, or choose another \
                 name or directory (early_exit.dir)",
                dir.display()
            ),
        )),
    }
}

/// Something that no session has.
fn foreign_in(dir: &Path) -> io::Result<Option<String>> {
    each(dir, |entry| {
        let name = entry.file_name();
        match name.to_str() {
            Some(AGENT_COPY | TIME_COPY) => Ok(is_dir(entry)?),
            Some(WINNER | AGENTS | RESULTS) => Ok(each(&entry.path(), is_dir)?.is_some()),
            _ => Ok(true),
        }
    })
}

fn is_dir(entry: &DirEntry) -> io::Result<bool> {
    entry.file_type().map(|kind| kind.is_dir())
}

/// The name of the first entry of which `is_foreign` holds. Links are not followed,
/// and what is no directory has no entries.
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
