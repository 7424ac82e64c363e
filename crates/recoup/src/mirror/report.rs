//! Reports of mirror operations, for people and programs.

use std::path::{Path, PathBuf};

use recoup_core::Error;
use serde::{Serialize, Serializer};

use super::PREFIX;
use super::wanted::SKILL;

/// Result of a mirror operation.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MirrorReport {
    /// Files that were written or removed.
    pub(crate) changes: Vec<MirrorChange>,
    /// Files that differ from what is wanted, and were left.
    pub(crate) left: Vec<LeftFile>,
    /// Reasons why a request was not fulfilled.
    pub(crate) remarks: Vec<String>,
    /// Errors, by file or place.
    pub(crate) faults: Vec<MirrorFault>,
    /// Files that we wrote and someone has deleted, in projects that still exist.
    #[serde(skip)]
    pub(crate) missed: Vec<PathBuf>,
    /// Files that git tracks and so publishes.
    #[serde(skip)]
    pub(super) published: Vec<PathBuf>,
}

/// A file that was left unchanged.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct LeftFile {
    #[serde(serialize_with = "shown")]
    pub(crate) path: PathBuf,
    #[serde(skip)]
    pub(crate) why: LeftReason,
}

/// Reason for leaving a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftReason {
    /// Someone has changed what we wrote.
    Changed,
    /// The file was never ours.
    NotOurs,
    /// Someone has changed our lines in it; the rest was updated.
    Lines,
}

/// An error with a file or a place.
#[derive(Debug, Serialize)]
pub(crate) struct MirrorFault {
    #[serde(serialize_with = "shown")]
    pub(crate) dir: PathBuf,
    pub(crate) why: String,
}

impl MirrorFault {
    pub(super) fn new(dir: PathBuf, error: &Error) -> Self {
        Self { dir, why: error.to_string() }
    }
}

/// A file that was written or removed.
#[derive(Debug, Serialize)]
pub(crate) struct MirrorChange {
    #[serde(serialize_with = "shown")]
    pub(crate) path: PathBuf,
    pub(crate) did: MirrorAction,
}

impl MirrorChange {
    fn is_skill(&self) -> bool {
        self.path.ends_with(SKILL)
    }

    fn is_rule(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    }
}

/// Action on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MirrorAction {
    Written,
    Removed,
}

impl MirrorReport {
    /// True if files of ours remain after a complete removal.
    pub(crate) fn leaves_files(&self) -> bool {
        self.left.iter().any(|left| left.why != LeftReason::NotOurs) || !self.faults.is_empty()
    }

    /// Number of rules and skills that were changed.
    pub(crate) fn count(&self) -> usize {
        self.changes.iter().filter(|change| change.is_rule() || change.is_skill()).count()
    }

    /// One line for the user; none if nothing has changed.
    pub(crate) fn notice(&self) -> Option<String> {
        let rules = self.changes.iter().filter(|change| change.is_rule()).count();
        let skills = self.changes.iter().filter(|change| change.is_skill()).count();
        let parts = [(rules, "rule"), (skills, "skill")].into_iter().filter(|(n, _)| *n > 0);
        let parts: Vec<String> =
            parts.map(|(n, one)| format!("{n} {one}{}", if n == 1 { "" } else { "s" })).collect();
        (!parts.is_empty())
            .then(|| format!("updated {} in the files that Claude Code reads", parts.join(" and ")))
    }
}

/// Serializes a path that may not be UTF-8.
fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
