//! Trusted files of repositories, configuration and agents, bound to their content.
//!
//! `trust.json` in our own directory has a SHA-256 for each file of each project's root;
//! `trusted/SHA256` has the text, so that a later change can be shown as a diff. They are read only
//! if there is something to trust. The team's rules belong to a project, not to one root of it,
//! because the notes made from them do: a grant for them names the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::team;
use recoup_core::memory::team::RuleFileState;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

/// Files below our own directory: the grants, and copies of trusted texts.
const TRUST_FILE: &str = "trust.json";
const COPIES_DIR: &str = "trusted";

/// Room for a hundred thousand files.
const MAX_LEN: u64 = 10 << 20;

/// Upper limit of a configuration file, which is also that of its copy.
const MAX_COPY: u64 = 1 << 20;

/// The user's decision about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustVerdict {
    /// Trusted as it is.
    Trusted,
    /// Trusted with other content, which has this digest.
    Changed(Sha256Digest),
    /// No decision.
    Unknown,
}

/// All grants, by root and file name.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrustStore {
    version: u32,
    pub(crate) projects: BTreeMap<String, GrantsByFile>,
}

/// The trusted files of one root, by name.
type GrantsByFile = BTreeMap<String, TrustGrant>;

/// The grant for one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TrustGrant {
    pub(crate) sha256: Sha256Digest,
    /// When, in milliseconds since 1970.
    pub(crate) at: Timestamp,
    /// The project, if the grant is for all of its worktrees and clones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
}

impl TrustStore {
    /// Reads the trust store; empty if there is no file.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = home.join(TRUST_FILE);
        let Some(bytes) = fsx::read_regular(&path, MAX_LEN)? else {
            return Ok(Self { version: VERSION, projects: BTreeMap::new() });
        };
        let ledger: Self = serde_json::from_slice(&bytes).map_err(|error| {
            Error::new(
                ErrorKind::Corrupt,
                format!("{} is damaged; remove it to start over", path.display()),
            )
            .with_source(error)
        })?;
        if ledger.version > VERSION {
            let message = format!("{} was written by a newer version of recoup", path.display());
            return Err(Error::new(ErrorKind::TooNew, message));
        }
        Ok(ledger)
    }

    /// The decision about the file of that name below `root`, whose digest is now `now`.
    pub(crate) fn verdict(&self, root: &Path, name: &str, now: Sha256Digest) -> TrustVerdict {
        let files = root.to_str().and_then(|root| self.projects.get(root));
        match files.and_then(|files| files.get(name)) {
            Some(grant) if grant.sha256 == now => TrustVerdict::Trusted,
            Some(grant) => TrustVerdict::Changed(grant.sha256),
            None => TrustVerdict::Unknown,
        }
    }

    /// Digest of the file of that name that was trusted in any worktree or clone of a project.
    pub(crate) fn trusted_digest(&self, project: &ProjectId, name: &str) -> Option<Sha256Digest> {
        let grants = self.projects.values().filter_map(|files| files.get(name));
        grants.filter(|grant| grant.is_for(project)).map(|grant| grant.sha256).next()
    }
}

impl TrustGrant {
    fn is_for(&self, project: &ProjectId) -> bool {
        self.project.as_deref() == Some(project.as_str())
    }
}

/// The trusted text; none if the copy is missing or damaged.
pub(crate) fn trusted_text(home: &Path, digest: Sha256Digest) -> Option<String> {
    let copy = fsx::read_regular(&copy_path(home, digest), MAX_COPY).ok().flatten()?;
    if Sha256Digest::of(&copy) == digest { String::from_utf8(copy).ok() } else { None }
}

fn copy_path(home: &Path, digest: Sha256Digest) -> PathBuf {
    home.join(COPIES_DIR).join(digest.to_hex())
}

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
        let message = format!("cannot trust {}: its path is not valid UTF-8", root.display());
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
    fsx::ensure_private_dir(&home.join(COPIES_DIR))?;
    let lock = home.join("trust.lock");
    let _lock = FileLock::acquire(&lock, Deadline::after(LOCK_TIMEOUT))?;
    let mut ledger = TrustStore::read(home)?;
    let before = digests(&ledger);
    let done = change(&mut ledger)?;
    let json = serde_json::to_vec_pretty(&ledger).expect("names and digests always serialize");
    fsx::write_atomic(&home.join(TRUST_FILE), &json)?;
    let after = digests(&ledger);
    for digest in before.iter().filter(|digest| !after.contains(digest)) {
        fsx::remove(&copy_path(home, *digest))?;
    }
    Ok(done)
}

fn digests(ledger: &TrustStore) -> Vec<Sha256Digest> {
    ledger.projects.values().flat_map(|files| files.values().map(|grant| grant.sha256)).collect()
}

/// Compares a project's team rules with the accepted version. An unreadable trust store counts as
/// nothing accepted.
pub(crate) fn team_state(home: &Path, project: &Project) -> RuleFileState {
    let ledger = TrustStore::read(home).ok();
    let accepted = ledger.and_then(|ledger| ledger.trusted_digest(project.id(), team::FILE));
    team::rule_file_state(project.root(), accepted)
}

/// The text that was last accepted in a project.
pub(crate) fn accepted_text(
    home: &Path,
    ledger: &TrustStore,
    project: &ProjectId,
) -> Option<String> {
    trusted_text(home, ledger.trusted_digest(project, team::FILE)?)
}
