//! Writes what was planned: under a lock, each file whole or not at all, with a copy of what
//! was there before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};

use super::change::{Change, read, real};
use super::receipt::Receipt;
use super::undo::Undo;

/// Long enough for any other that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Puts everything in. Nothing is written if one of the files is not as it was planned for.
/// Returns the copies of what was there, beside the files that they are of.
pub(crate) fn put_in(
    changes: &[Change],
    own: &Path,
    now: Timestamp,
) -> Result<Vec<(PathBuf, PathBuf)>> {
    let changes: Vec<&Change> = changes.iter().filter(|change| change.is_any()).collect();
    let _lock = begin(&changes, own)?;
    let mut receipt = Receipt::read(own)?;
    let mut copies = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        // What an earlier change is about to leave is nobody's to be kept.
        let is_first = !changes[..at].iter().any(|earlier| earlier.is_of_same_file(change));
        let copy = if is_first { copy(change, own, now, copies.len())? } else { None };
        receipt.note(change, copy.clone(), missing_dirs(&change.path));
        copies.extend(copy.map(|copy| (change.path.clone(), own.join(copy))));
    }
    receipt.write(own)?;
    changes.iter().try_for_each(|change| write(change))?;
    Ok(copies)
}

/// Takes everything out that was worked out. Of a file that was not looked into, what is noted
/// stays.
pub(crate) fn take_out(undo: &Undo, own: &Path, now: Timestamp) -> Result<Vec<(PathBuf, PathBuf)>> {
    let written: Vec<&Change> = undo.changes.iter().filter(|change| change.is_any()).collect();
    let _lock = begin(&written, own)?;
    let mut receipt = Receipt::read(own)?;
    let mut copies = Vec::new();
    for change in written {
        // A file that we made has nothing in it that is worth a copy.
        if change.after.is_some() {
            let copy = copy(change, own, now, copies.len())?;
            copies.extend(copy.map(|copy| (change.path.clone(), own.join(copy))));
        }
        receipt.forget(change);
        write(change)?;
    }
    for entry in receipt.without(&undo.parties, &undo.looked) {
        if !entry.at().exists() {
            entry.dirs.iter().try_for_each(|dir| remove_dir(dir))?;
        }
    }
    receipt.write(own)?;
    Ok(copies)
}

/// Removes a directory that we made, unless something is in it. What a process of ours was
/// writing there when it was killed is nothing.
fn remove_dir(dir: &Path) -> Result<()> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        if fsx::is_hidden_temporary(&entry.file_name().to_string_lossy()) {
            fsx::remove(&entry.path())?;
        }
    }
    fsx::remove_empty_dir(dir).map(drop)
}

fn begin(changes: &[&Change], own: &Path) -> Result<FileLock> {
    fsx::ensure_private_dir(own)?;
    let lock = FileLock::acquire(&own.join("install.lock"), Deadline::after(PATIENCE))?;
    // As each file will be when its turn comes: several changes may be to one.
    let mut left: BTreeMap<PathBuf, Option<&[u8]>> = BTreeMap::new();
    for change in changes {
        change.demand_possible()?;
        let real = real(&change.path);
        let same = match left.get(&real) {
            Some(after) => *after == change.before.as_deref(),
            None => read(&change.path)? == change.before,
        };
        if !same {
            let message = format!(
                "{} was changed by somebody else at this moment: nothing was written; try again",
                change.path.display()
            );
            return Err(Error::new(ErrorKind::Locked, message));
        }
        left.insert(real, change.after.as_deref());
    }
    Ok(lock)
}

/// A private copy of what is there, named by when it was made; where it is, from `own`.
fn copy(change: &Change, own: &Path, now: Timestamp, number: usize) -> Result<Option<PathBuf>> {
    let Some(before) = &change.before else { return Ok(None) };
    let name = change.path.file_name().unwrap_or_default().to_string_lossy();
    let when = now.to_second().replace(':', "");
    let dir = Path::new("backups");
    fsx::ensure_private_dir(&own.join(dir))?;
    let free = |more: usize| {
        let path = dir.join(format!("{when}-{}-{}", number + more, name.trim_start_matches('.')));
        (!own.join(&path).exists()).then_some(path)
    };
    let path = (0..).find_map(free).expect("some number is free");
    fsx::write_atomic(&own.join(&path), before)?;
    Ok(Some(path))
}

fn write(change: &Change) -> Result<()> {
    match &change.after {
        Some(after) => {
            if !change.path.is_symlink() {
                fsx::ensure_dir(fsx::parent(&change.path))?;
            }
            fsx::deliver(&change.path, after)
        }
        // A link was there before we came, and stays.
        None => fsx::remove(&real(&change.path)).map(drop),
    }
}

/// The directories above that have to be made, the innermost first.
fn missing_dirs(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    above.take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect()
}
