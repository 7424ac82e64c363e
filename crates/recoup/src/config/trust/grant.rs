//! Grants and revokes trust, under a lock, so that concurrent changes both count.

use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::{Error, ErrorKind, Result};

use super::{GrantsByFile, TrustGrant, TrustStore, copies_dir, copy_path, trust_file};

/// Long enough for any other `recoup trust` to finish its write.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// A file with exactly this text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrustedFile<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a [u8],
    /// The project, if the grant is for all of its worktrees and clones.
    pub(crate) project: Option<&'a ProjectId>,
}

/// Trusts these files of the project at `root`.
pub(crate) fn grant_trust(
    home: &Path,
    root: &Path,
    files: &[TrustedFile<'_>],
    now: Timestamp,
) -> Result<()> {
    let root = root.to_str().ok_or_else(|| {
        let message = format!("{} can't be trusted: its path is no text", root.display());
        Error::new(ErrorKind::Invalid, message)
    })?;
    change_store(home, |ledger| {
        for TrustedFile { name, text, project } in files {
            let sha256 = Sha256Digest::of(text);
            fsx::write_atomic(&copy_path(home, sha256), text)?;
            if let Some(project) = project {
                drop_grants(ledger, project, Some(name));
            }
            let project = project.map(ToString::to_string);
            let grants = ledger.projects.entry(root.to_owned()).or_default();
            grants.insert((*name).to_owned(), TrustGrant { sha256, at: now, project });
        }
        Ok(())
    })
}

/// Revokes all trust in a project, and returns the names of its files.
pub(crate) fn revoke_trust(home: &Path, project: &Project) -> Result<Vec<String>> {
    let root = project.root().to_str().unwrap_or_default();
    let concerns = |(at, files): (&String, &GrantsByFile)| {
        at == root || files.values().any(|grant| grant.is_for(project.id()))
    };
    if !TrustStore::read(home)?.projects.iter().any(concerns) {
        return Ok(Vec::new());
    }
    change_store(home, |ledger| {
        let mut names: Vec<String> =
            ledger.projects.remove(root).unwrap_or_default().into_keys().collect();
        names.extend(drop_grants(ledger, project.id(), None));
        names.sort();
        names.dedup();
        Ok(names)
    })
}

/// Revokes the trust in the file of that name, in all worktrees and clones.
pub(crate) fn withdraw_trust(home: &Path, project: &ProjectId, name: &str) -> Result<()> {
    change_store(home, |ledger| {
        drop_grants(ledger, project, Some(name));
        Ok(())
    })
}

/// Drops grants for a whole project, optionally only of that file name, and returns their names.
fn drop_grants(ledger: &mut TrustStore, project: &ProjectId, name: Option<&str>) -> Vec<String> {
    let mut dropped = Vec::new();
    for files in ledger.projects.values_mut() {
        files.retain(|file, grant| {
            let goes = grant.is_for(project) && name.is_none_or(|name| name == file);
            if goes {
                dropped.push(file.clone());
            }
            !goes
        });
    }
    ledger.projects.retain(|_, files| !files.is_empty());
    dropped
}

/// Changes the trust store in one step, then deletes copies without a reference: last, so that
/// every reference is valid at all times.
fn change_store<T>(home: &Path, change: impl FnOnce(&mut TrustStore) -> Result<T>) -> Result<T> {
    fsx::ensure_private_dir(home)?;
    fsx::ensure_private_dir(&copies_dir(home))?;
    let lock = home.join("trust.lock");
    let _lock = FileLock::acquire(&lock, Deadline::after(LOCK_TIMEOUT))?;
    let mut ledger = TrustStore::read(home)?;
    let before = digests(&ledger);
    let done = change(&mut ledger)?;
    let json = serde_json::to_vec_pretty(&ledger).expect("names and digests always serialize");
    fsx::write_atomic(&trust_file(home), &json)?;
    let after = digests(&ledger);
    for digest in before.iter().filter(|digest| !after.contains(digest)) {
        fsx::remove(&copy_path(home, *digest))?;
    }
    Ok(done)
}

fn digests(ledger: &TrustStore) -> Vec<Sha256Digest> {
    ledger.projects.values().flat_map(|files| files.values().map(|grant| grant.sha256)).collect()
}
