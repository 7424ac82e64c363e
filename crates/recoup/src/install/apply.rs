//! Writes what was planned: under a lock, each file whole or not at all, with a backup of the
//! previous content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};

use super::backups;
use super::change::{FileChange, read, resolve_links};
use super::receipt::InstallReceipt;
use super::undo::UndoPlan;

/// Longer than any other `init` or `uninstall` takes to write.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// Attempts before giving up. After the first one, only programs that ignore our lock can
/// interfere.
const MAX_ATTEMPTS: usize = 4;

/// Changed files, each with its backup.
pub(crate) type BackupList = Vec<(PathBuf, PathBuf)>;

/// Result of applying a plan.
pub(crate) enum ApplyOutcome {
    Written(BackupList),
    /// This file, or its receipt entry, has changed since planning: nothing was written.
    Outdated(PathBuf),
}

/// Exclusive right to change installed files, held through `install.lock`.
pub(crate) struct InstallLock<'a> {
    own: &'a Path,
    now: Timestamp,
    _lock: FileLock,
}

/// Applies a plan. If a file has changed meanwhile, plans anew with `again`, which may refuse, and
/// applies that. Returns the plan that was applied.
pub(crate) fn apply_with_retry<P>(
    mut planned: P,
    carry_out: impl Fn(&P) -> Result<ApplyOutcome>,
    again: impl Fn(&Path) -> Result<P>,
) -> Result<(P, BackupList)> {
    let mut tries = 1;
    loop {
        match carry_out(&planned)? {
            ApplyOutcome::Written(copies) => return Ok((planned, copies)),
            ApplyOutcome::Outdated(path) if tries == MAX_ATTEMPTS => {
                return Err(changed_meanwhile(&path));
            }
            ApplyOutcome::Outdated(path) => planned = again(&path)?,
        }
        tries += 1;
    }
}

/// Writes all changes. Nothing is written if a file has changed since planning.
pub(crate) fn install_changes(
    changes: &[FileChange],
    own: &Path,
    now: Timestamp,
) -> Result<BackupList> {
    match InstallLock::acquire(own, now)?.install(changes)? {
        ApplyOutcome::Written(copies) => Ok(copies),
        ApplyOutcome::Outdated(path) => Err(changed_meanwhile(&path)),
    }
}

impl<'a> InstallLock<'a> {
    /// Waits for the lock.
    pub(crate) fn acquire(own: &'a Path, now: Timestamp) -> Result<Self> {
        fsx::ensure_private_dir(own)?;
        let path = own.join("install.lock");
        let lock = FileLock::acquire(&path, Deadline::after(LOCK_TIMEOUT)).map_err(|error| {
            if error.kind() != ErrorKind::Locked {
                return error;
            }
            let message = "another `recoup init` or `recoup uninstall` is at work: try again";
            Error::new(ErrorKind::Io, message).with_source(error)
        })?;
        Ok(Self { own, now, _lock: lock })
    }

    /// Writes all changes and the receipt, or nothing if a file has changed since planning.
    pub(crate) fn install(&self, changes: &[FileChange]) -> Result<ApplyOutcome> {
        if let Some(path) = find_outdated(changes)? {
            return Ok(ApplyOutcome::Outdated(path));
        }
        sweep(changes.iter().map(|change| resolve_links(&change.path)));
        let changes: Vec<&FileChange> =
            changes.iter().filter(|change| change.has_effect()).collect();
        let mut receipt = InstallReceipt::read(self.own)?;
        let mut copies = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            // Content that only an earlier change of ours produces needs no backup.
            let is_first = !changes[..at].iter().any(|earlier| earlier.is_of_same_file(change));
            let copy = if is_first { self.copy(change)? } else { None };
            receipt.record_change(change, copy.clone(), missing_dirs(&change.path));
            copies.extend(copy.map(|copy| (change.path.clone(), self.own.join(copy))));
        }
        receipt.write(self.own)?;
        changes.iter().try_for_each(|change| write(change))?;
        self.prune(&receipt, &copies);
        Ok(ApplyOutcome::Written(copies))
    }

    /// Removes everything that was planned. The receipt entries of files that were not inspected
    /// stay.
    pub(crate) fn uninstall(&self, undo: &UndoPlan) -> Result<ApplyOutcome> {
        let mut receipt = InstallReceipt::read(self.own)?;
        if let Some(path) = receipt.first_difference(&undo.receipt) {
            return Ok(ApplyOutcome::Outdated(path.to_owned()));
        }
        // Also files without anything of ours: their receipt entries go, too.
        for (path, there) in &undo.looked {
            if read(path)? != *there {
                return Ok(ApplyOutcome::Outdated(path.clone()));
            }
        }
        if let Some(path) = find_outdated(&undo.changes)? {
            return Ok(ApplyOutcome::Outdated(path));
        }
        sweep(undo.looked.keys().cloned());
        let mut copies = Vec::new();
        for change in undo.changes.iter().filter(|change| change.has_effect()) {
            // A file that we made is not worth a backup.
            if change.after.is_some() {
                let copy = self.copy(change)?;
                copies.extend(copy.map(|copy| (change.path.clone(), self.own.join(copy))));
            }
            receipt.record_removal(change);
            write(change)?;
        }
        for entry in receipt.remove_targets(&undo.parties, &undo.looked) {
            if !entry.written_path().exists() {
                entry.dirs.iter().try_for_each(|dir| remove_dir(dir))?;
            }
        }
        receipt.write(self.own)?;
        self.prune(&receipt, &copies);
        Ok(ApplyOutcome::Written(copies))
    }

    fn copy(&self, change: &FileChange) -> Result<Option<PathBuf>> {
        backups::make(change, self.own, self.now)
    }

    /// Best effort: superfluous backups do no harm.
    fn prune(&self, receipt: &InstallReceipt, fresh: &BackupList) {
        let fresh = fresh.iter().filter_map(|(_, copy)| copy.strip_prefix(self.own).ok());
        let needed = receipt.copies().map(Path::to_path_buf).collect();
        let fresh = fresh.map(Path::to_path_buf).collect();
        let _ = backups::prune(self.own, &needed, &fresh);
    }
}

/// Removes temporary files that killed processes left beside these files: each is a full copy of
/// settings.
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

/// Returns the first file that has changed since its change was planned.
fn find_outdated(changes: &[FileChange]) -> Result<Option<PathBuf>> {
    // Several changes may concern one file: each starts from the result of the one before.
    let mut left: BTreeMap<PathBuf, Option<&[u8]>> = BTreeMap::new();
    for change in changes {
        change.demand_possible()?;
        let real = resolve_links(&change.path);
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

/// Removes a directory that we made, unless it holds something other than our temporary files.
fn remove_dir(dir: &Path) -> Result<()> {
    fsx::temporaries_in(dir).try_for_each(|path| fsx::remove(&path).map(drop))?;
    fsx::remove_empty_dir(dir).map(drop)
}

fn write(change: &FileChange) -> Result<()> {
    match &change.after {
        Some(after) => {
            if !change.path.is_symlink() {
                fsx::ensure_dir(fsx::parent(&change.path))?;
            }
            fsx::write_output(&change.path, after)
        }
        // The link existed before us, and stays.
        None => fsx::remove(&resolve_links(&change.path)).map(drop),
    }
}

/// Returns the missing parent directories, innermost first.
fn missing_dirs(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    above.take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect()
}
