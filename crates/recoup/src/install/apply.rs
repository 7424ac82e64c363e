//! Writes what was planned: under a lock, each file whole or not at all, with a copy of what
//! was there before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};

use super::backups;
use super::change::{Change, read, real};
use super::receipt::Receipt;
use super::undo::Undo;

/// Long enough for any others that write.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it is tried. After the first time only those can come in between who do not know
/// our lock.
const TRIES: usize = 4;

/// The copies of what was there, beside the files that they are of.
pub(crate) type Copies = Vec<(PathBuf, PathBuf)>;

/// What became of something that was worked out before.
pub(crate) enum Outcome {
    Written(Copies),
    /// This file is no longer as it was then, or what is noted about it: nothing was written.
    Outdated(PathBuf),
}

/// Nobody else of us writes while this is held.
pub(crate) struct Turn<'a> {
    own: &'a Path,
    now: Timestamp,
    _lock: FileLock,
}

/// Carries out what was worked out. Where somebody has changed something meanwhile, it is worked
/// out anew (`again`, which may refuse), and that is carried out. Returns what it was in the end.
pub(crate) fn settle<P>(
    mut planned: P,
    carry_out: impl Fn(&P) -> Result<Outcome>,
    again: impl Fn(&Path) -> Result<P>,
) -> Result<(P, Copies)> {
    let mut tries = 1;
    loop {
        match carry_out(&planned)? {
            Outcome::Written(copies) => return Ok((planned, copies)),
            Outcome::Outdated(path) if tries == TRIES => return Err(changed_meanwhile(&path)),
            Outcome::Outdated(path) => planned = again(&path)?,
        }
        tries += 1;
    }
}

/// Puts everything in. Nothing is written if one of the files is not as it was planned for.
pub(crate) fn put_in(changes: &[Change], own: &Path, now: Timestamp) -> Result<Copies> {
    match Turn::wait_for(own, now)?.put_in(changes)? {
        Outcome::Written(copies) => Ok(copies),
        Outcome::Outdated(path) => Err(changed_meanwhile(&path)),
    }
}

impl<'a> Turn<'a> {
    /// Waits until nobody else writes.
    pub(crate) fn wait_for(own: &'a Path, now: Timestamp) -> Result<Self> {
        fsx::ensure_private_dir(own)?;
        let path = own.join("install.lock");
        let lock = FileLock::acquire(&path, Deadline::after(PATIENCE)).map_err(|error| {
            if error.kind() != ErrorKind::Locked {
                return error;
            }
            let message = "another `recoup init` or `recoup uninstall` is at work: try again";
            Error::new(ErrorKind::Io, message).with_source(error)
        })?;
        Ok(Self { own, now, _lock: lock })
    }

    /// Puts everything in. Nothing is written if one of the files is not as it was planned for.
    pub(crate) fn put_in(&self, changes: &[Change]) -> Result<Outcome> {
        if let Some(path) = outdated(changes)? {
            return Ok(Outcome::Outdated(path));
        }
        sweep(changes.iter().map(|change| real(&change.path)));
        let changes: Vec<&Change> = changes.iter().filter(|change| change.is_any()).collect();
        let mut receipt = Receipt::read(self.own)?;
        let mut copies = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            // What an earlier change is about to leave is nobody's to be kept.
            let is_first = !changes[..at].iter().any(|earlier| earlier.is_of_same_file(change));
            let copy = if is_first { self.copy(change)? } else { None };
            receipt.note(change, copy.clone(), missing_dirs(&change.path));
            copies.extend(copy.map(|copy| (change.path.clone(), self.own.join(copy))));
        }
        receipt.write(self.own)?;
        changes.iter().try_for_each(|change| write(change))?;
        self.prune(&receipt, &copies);
        Ok(Outcome::Written(copies))
    }

    /// Takes everything out that was worked out. Of a file that was not looked into, what is
    /// noted stays.
    pub(crate) fn take_out(&self, undo: &Undo) -> Result<Outcome> {
        let mut receipt = Receipt::read(self.own)?;
        if let Some(path) = receipt.first_difference(&undo.receipt) {
            return Ok(Outcome::Outdated(path.to_owned()));
        }
        // Also those in which there was nothing of ours: what is noted about them goes, too.
        for (path, there) in &undo.looked {
            if read(path)? != *there {
                return Ok(Outcome::Outdated(path.clone()));
            }
        }
        if let Some(path) = outdated(&undo.changes)? {
            return Ok(Outcome::Outdated(path));
        }
        sweep(undo.looked.keys().cloned());
        let mut copies = Vec::new();
        for change in undo.changes.iter().filter(|change| change.is_any()) {
            // A file that we made has nothing in it that is worth a copy.
            if change.after.is_some() {
                let copy = self.copy(change)?;
                copies.extend(copy.map(|copy| (change.path.clone(), self.own.join(copy))));
            }
            receipt.forget(change);
            write(change)?;
        }
        for entry in receipt.without(&undo.parties, &undo.looked) {
            if !entry.at().exists() {
                entry.dirs.iter().try_for_each(|dir| remove_dir(dir))?;
            }
        }
        receipt.write(self.own)?;
        self.prune(&receipt, &copies);
        Ok(Outcome::Written(copies))
    }

    fn copy(&self, change: &Change) -> Result<Option<PathBuf>> {
        backups::make(change, self.own, self.now)
    }

    /// What was written is written: copies too many are in nobody's way.
    fn prune(&self, receipt: &Receipt, fresh: &Copies) {
        let fresh = fresh.iter().filter_map(|(_, copy)| copy.strip_prefix(self.own).ok());
        let needed = receipt.copies().map(Path::to_path_buf).collect();
        let fresh = fresh.map(Path::to_path_buf).collect();
        let _ = backups::prune(self.own, &needed, &fresh);
    }
}

/// Removes what those left beside these files who were killed while they wrote: whole copies
/// of settings.
fn sweep(files: impl Iterator<Item = PathBuf>) {
    let dirs: BTreeSet<PathBuf> = files.map(|file| fsx::parent(&file).to_owned()).collect();
    for dir in &dirs {
        fsx::sweep_temporaries(dir);
    }
}

fn changed_meanwhile(path: &Path) -> Error {
    let message = format!(
        "{} was changed by somebody else at this moment: nothing was written; try again",
        path.display()
    );
    Error::new(ErrorKind::Io, message)
}

/// The first file that is not what it was when its change was worked out.
fn outdated(changes: &[Change]) -> Result<Option<PathBuf>> {
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
            return Ok(Some(change.path.clone()));
        }
        left.insert(real, change.after.as_deref());
    }
    Ok(None)
}

/// Removes a directory that we made, unless something is in it. What a process of ours was
/// writing there when it was killed is nothing.
fn remove_dir(dir: &Path) -> Result<()> {
    fsx::temporaries_in(dir).try_for_each(|path| fsx::remove(&path).map(drop))?;
    fsx::remove_empty_dir(dir).map(drop)
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
