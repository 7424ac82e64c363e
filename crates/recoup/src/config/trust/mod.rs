//! What the user has trusted: files of repositories, bound to their content.
//!
//! `trust.json` in our own directory holds a SHA-256 for each file of each
//! project's root; `trusted/SHA256` beside it holds the text, so that a later
//! change can be shown as one. It is read only where there is something to trust.
//! The team's rules belong to a project and not to one root of it, because the notes
//! that they become do: a grant for them says which project it is.

mod grant;
mod team;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::ProjectId;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::origin::File;

pub(crate) use grant::{Granted, grant, revoke, withdraw};
pub(crate) use team::{accepted_text, team_state};

const VERSION: u32 = 1;

/// A hundred bytes for each file: room for a hundred thousand of them.
const MAX_LEN: u64 = 10 << 20;

/// A copy is as long as the file it was made from may be.
const MAX_COPY: u64 = 1 << 20;

/// What the user has said about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Trusted as it is.
    Trusted,
    /// Trusted as it was; this is the digest of that.
    Changed(Digest),
    /// Nothing.
    Unknown,
}

/// Everything that is trusted: root, file, grant.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ledger {
    version: u32,
    pub(crate) projects: BTreeMap<String, Files>,
}

/// The trusted files of one root, by name.
type Files = BTreeMap<String, Grant>;

/// One file, as it was trusted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) sha256: Digest,
    /// When, in milliseconds since 1970.
    pub(crate) at: Timestamp,
    /// For a file that speaks for all worktrees and clones of a project: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
}

impl Ledger {
    /// What is on disk; empty where there is nothing.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = ledger_path(home);
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

    /// What the user has said about `file` of the project at `root`, which now
    /// has this digest.
    pub(super) fn verdict(&self, root: &Path, file: File, now: Digest) -> Verdict {
        let files = root.to_str().and_then(|root| self.projects.get(root));
        match files.and_then(|files| files.get(file.name())) {
            Some(grant) if grant.sha256 == now => Verdict::Trusted,
            Some(grant) => Verdict::Changed(grant.sha256),
            None => Verdict::Unknown,
        }
    }

    /// What was trusted of the file of that name in any worktree or clone of a project.
    pub(crate) fn of_project(&self, project: &ProjectId, name: &str) -> Option<Digest> {
        let grants = self.projects.values().filter_map(|files| files.get(name));
        grants.filter(|grant| grant.is_for(project)).map(|grant| grant.sha256).next()
    }
}

impl Grant {
    fn is_for(&self, project: &ProjectId) -> bool {
        self.project.as_deref() == Some(project.as_str())
    }
}

/// The text that was trusted; none if the copy is gone, or is not that text.
pub(crate) fn trusted_text(home: &Path, digest: Digest) -> Option<String> {
    let copy = fsx::read_regular(&copy_path(home, digest), MAX_COPY).ok().flatten()?;
    if Digest::of(&copy) == digest { String::from_utf8(copy).ok() } else { None }
}

fn ledger_path(home: &Path) -> PathBuf {
    home.join("trust.json")
}

fn copies(home: &Path) -> PathBuf {
    home.join("trusted")
}

fn copy_path(home: &Path, digest: Digest) -> PathBuf {
    copies(home).join(digest.to_hex())
}
