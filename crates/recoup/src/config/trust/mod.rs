//! Trusted files of repositories, bound to their content.
//!
//! `trust.json` in our own directory has a SHA-256 for each file of each project's root;
//! `trusted/SHA256` has the text, so that a later change can be shown as a diff. They are read only
//! if there is something to trust. The team's rules belong to a project, not to one root of it,
//! because the notes made from them do: a grant for them names the project.

mod grant;
mod team;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::ProjectId;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::origin::ConfigFile;

pub(crate) use grant::{TrustedFile, grant_trust, revoke_trust, withdraw_trust};
pub(crate) use team::{accepted_text, team_state};

const VERSION: u32 = 1;

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
        let path = trust_file(home);
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
            let message = format!("{} was written by a newer version", path.display());
            return Err(Error::new(ErrorKind::TooNew, message));
        }
        Ok(ledger)
    }

    /// The decision about `file` of the project at `root`, whose digest is now `now`.
    pub(super) fn verdict(&self, root: &Path, file: ConfigFile, now: Sha256Digest) -> TrustVerdict {
        let files = root.to_str().and_then(|root| self.projects.get(root));
        match files.and_then(|files| files.get(file.name())) {
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

fn trust_file(home: &Path) -> PathBuf {
    home.join("trust.json")
}

fn copies_dir(home: &Path) -> PathBuf {
    home.join("trusted")
}

fn copy_path(home: &Path, digest: Sha256Digest) -> PathBuf {
    copies_dir(home).join(digest.to_hex())
}
