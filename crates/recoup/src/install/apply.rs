//! Writes what was planned: under a lock, each file whole or not at all, with a backup of the
//! previous content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};

use super::change::{FileChange, read, resolve_links};
use super::receipt::{InstallReceipt, receipt_path};
use super::server_ttls::ServerTtlRecord;
use super::undo::UndoPlan;

/// Longer than any other `init` or `uninstall` takes to write.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// Attempts before giving up. After the first one, only programs that ignore our lock can
/// interfere.
const MAX_ATTEMPTS: usize = 4;

/// Directory of the backups, below our own. Backups that the receipt refers to stay; of the others,
/// the newest few of each file.
pub(crate) const BACKUPS: &str = "backups";

/// Unreferenced backups to keep of each file.
const KEPT_BACKUPS: usize = 5;

/// Hexadecimal digits of the path's digest: enough to tell one person's files apart.
const PATH_DIGEST_DIGITS: usize = 8;

/// Changed files, each with its backup.
pub(crate) type BackupList = Vec<(PathBuf, PathBuf)>;

/// Result of applying a plan.
pub(crate) enum ApplyOutcome {
    Written(BackupList),
    /// This file has changed since planning: nothing was written.
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
    match InstallLock::acquire(own, now)?.install(changes, &[])? {
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
            let message =
                "another `recoup init` or `recoup uninstall` is running: try again when it has \
                 finished";
            Error::new(ErrorKind::Io, message).with_source(error)
        })?;
        Ok(Self { own, now, _lock: lock })
    }

    /// Writes all changes and the receipt, or nothing if a file has changed since planning.
    pub(crate) fn install(
        &self,
        changes: &[FileChange],
        ttls: &[ServerTtlRecord],
    ) -> Result<ApplyOutcome> {
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
            let copy = if is_first { self.back_up(change)? } else { None };
            let above = change.path.ancestors().skip(1);
            let missing = above.take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect();
            receipt.record_change(change, copy.clone(), missing);
            copies.extend(copy.map(|copy| (change.path.clone(), self.own.join(copy))));
        }
        for record in ttls {
            record.add_to(&mut receipt.ttls);
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
        if receipt != undo.receipt {
            return Ok(ApplyOutcome::Outdated(receipt_path(self.own)));
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
                let copy = self.back_up(change)?;
                copies.extend(copy.map(|copy| (change.path.clone(), self.own.join(copy))));
            }
            receipt.record_removal(change);
            write(change)?;
        }
        // Directories that we made go, unless they hold something other than our temporary files.
        for entry in receipt.remove_targets(&undo.parties, &undo.looked) {
            if !entry.written_path().exists() {
                for dir in &entry.dirs {
                    fsx::temporaries_in(dir).try_for_each(|path| fsx::remove(&path).map(drop))?;
                    fsx::remove_empty_dir(dir)?;
                }
            }
        }
        receipt.ttls.clone_from(&undo.left_ttls);
        receipt.write(self.own)?;
        self.prune(&receipt, &copies);
        Ok(ApplyOutcome::Written(copies))
    }

    /// Makes a private backup of the previous content. Returns its path relative to our own
    /// directory.
    fn back_up(&self, change: &FileChange) -> Result<Option<PathBuf>> {
        let Some(before) = &change.before else { return Ok(None) };
        let file = change.path.file_name().unwrap_or_default().to_string_lossy();
        let of =
            Sha256Digest::of(resolve_links(&change.path).as_os_str().as_encoded_bytes()).to_hex();
        let of = format!("{}-{}", &of[..PATH_DIGEST_DIGITS], file.trim_start_matches('.'));
        let when = self.now.to_second_string().replace(':', "");
        let dir = self.own.join(BACKUPS);
        fsx::ensure_private_dir(&dir)?;
        // The number orders the backups of one second.
        let names = file_names(&dir);
        let of_now = names.iter().filter(|name| name.starts_with(&when));
        let number =
            of_now.filter_map(|name| Some(BackupName::parse(name)?.number + 1)).max().unwrap_or(0);
        let path = Path::new(BACKUPS).join(format!("{when}-{number}-{of}"));
        fsx::write_atomic(&self.own.join(&path), before)?;
        Ok(Some(path))
    }

    /// Deletes backups that are neither needed nor fresh, nor among the newest of their file.
    /// Ignores files with other names than ours. Best effort: superfluous backups do no harm.
    fn prune(&self, receipt: &InstallReceipt, fresh: &BackupList) {
        let needed: BTreeSet<&Path> = receipt.copies().collect();
        let fresh: BTreeSet<&Path> = fresh.iter().map(|(_, copy)| copy.as_path()).collect();
        let dir = self.own.join(BACKUPS);
        let names = file_names(&dir);
        let mut copies: BTreeMap<&str, Vec<(bool, BackupName<'_>, &str)>> = BTreeMap::new();
        for name in &names {
            let is_needed = needed.contains(Path::new(BACKUPS).join(name).as_path());
            if let Some(parts) = BackupName::parse(name).filter(|_| !is_needed) {
                // Fresh is fresh, whatever the clock says.
                let is_fresh = fresh.contains(dir.join(name).as_path());
                copies.entry(parts.of).or_default().push((is_fresh, parts, name));
            }
        }
        for of_file in copies.values_mut() {
            of_file.sort_unstable();
            let older = of_file.len().saturating_sub(KEPT_BACKUPS);
            for (_, _, name) in &of_file[..older] {
                if fsx::remove(&dir.join(name)).is_err() {
                    return;
                }
            }
        }
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
        "{} was changed by another program just now: nothing was written; try again",
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

/// Parsed name of a backup, `TIME-NUMBER-OF-NAME`; ordered by creation. OF is a digest of the path,
/// so that files of one name are told apart.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BackupName<'a> {
    time: &'a str,
    number: usize,
    /// Digest and name of the original file.
    of: &'a str,
}

impl<'a> BackupName<'a> {
    /// `2026-11-16T122618Z-0-1f3ac09e-settings.json`
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (time, rest) = name.split_once("Z-")?;
        let digit = |c: char| if c.is_ascii_digit() { '0' } else { c };
        let (number, of) = rest.split_once('-')?;
        (time.chars().map(digit).collect::<String>() == "0000-00-00T000000").then_some(())?;
        Some(Self { time, number: number.parse().ok()?, of })
    }
}

/// Returns the names of all files in a directory.
fn file_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_file()));
    files.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_copies() {
        let name = |text| BackupName::parse(text).unwrap();
        let first = name("2026-11-16T122618Z-2-1f3ac09e-settings.json");
        assert!(first < name("2026-11-16T122618Z-10-1f3ac09e-settings.json"));
        assert!(first < name("2026-11-16T122619Z-0-1f3ac09e-settings.json"));
        assert_eq!(first.of, "1f3ac09e-settings.json");
        for other in ["settings.json", "2026-11-16-0-x", "2026-11-16T122618Z-x-y", "Z-0-x", ""] {
            assert_eq!(BackupName::parse(other), None, "{other}");
        }
    }
}
