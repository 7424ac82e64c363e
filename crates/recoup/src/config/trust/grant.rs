//! Granting trust and taking it back. Under a lock: two at once both count.

use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};

use super::{Grant, Ledger, copies, copy_path, ledger_path};
use crate::config::origin::File;

/// Long enough for any other `recoup trust` to finish its write.
const PATIENCE: Duration = Duration::from_secs(5);

/// Trusts these files of the project at `root`, with just this text.
pub(crate) fn grant(
    home: &Path,
    root: &Path,
    files: &[(File, &str)],
    now: Timestamp,
) -> Result<()> {
    let root = root.to_str().ok_or_else(|| {
        let message = format!("{} can't be trusted: its path is no text", root.display());
        Error::new(ErrorKind::Invalid, message)
    })?;
    changed(home, |ledger| {
        let grants = ledger.projects.entry(root.to_owned()).or_default();
        for (file, text) in files {
            let sha256 = Digest::of(text.as_bytes());
            fsx::write_atomic(&copy_path(home, sha256), text.as_bytes())?;
            grants.insert(file.name().to_owned(), Grant { sha256, at: now });
        }
        Ok(())
    })
}

/// Takes back all trust in the project at `root`; says in which files.
pub(crate) fn revoke(home: &Path, root: &Path) -> Result<Vec<String>> {
    let Some(root) = root.to_str() else { return Ok(Vec::new()) };
    if !Ledger::read(home)?.projects.contains_key(root) {
        return Ok(Vec::new());
    }
    changed(home, |ledger| {
        let files = ledger.projects.remove(root).unwrap_or_default();
        Ok(files.into_keys().collect())
    })
}

/// Changes the ledger as one step, and drops the copies that nothing refers to
/// any more: last, so that whatever is referred to is there at all times.
fn changed<T>(home: &Path, change: impl FnOnce(&mut Ledger) -> Result<T>) -> Result<T> {
    fsx::ensure_private_dir(home)?;
    fsx::ensure_private_dir(&copies(home))?;
    let lock = home.join("trust.lock");
    let _lock = FileLock::acquire(&lock, Deadline::after(PATIENCE))?;
    let mut ledger = Ledger::read(home)?;
    let before = digests(&ledger);
    let done = change(&mut ledger)?;
    let json = serde_json::to_vec_pretty(&ledger).expect("names and digests always serialize");
    fsx::write_atomic(&ledger_path(home), &json)?;
    let after = digests(&ledger);
    for digest in before.iter().filter(|digest| !after.contains(digest)) {
        fsx::remove(&copy_path(home, *digest))?;
    }
    Ok(done)
}

fn digests(ledger: &Ledger) -> Vec<Digest> {
    ledger.projects.values().flat_map(|files| files.values().map(|grant| grant.sha256)).collect()
}
