//! Team rules, shared through a repository: a file that is read in review, and counts for a user
//! once that user has accepted just this content.
//!
//! ```text
//! # Team rules
//!
//! > What this file is, for people.
//!
//! ## Preferences
//!
//! - use tabs
//!   - paths: `src/**`
//!   - topic: indentation
//! ```
//!
//! One rule on each line, in sections by kind, sorted by its words: no id, no clock, nothing that
//! changes by itself. The user's own words (`quote`) are never in it. Parsing is strict: anything
//! that the rendered page would not show is refused, with its line.

mod apply;
mod markdown;
mod merge;
mod rule;
mod rule_file;

use std::path::{Path, PathBuf};

use crate::base::digest::Sha256Digest;
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

pub use apply::{AcceptedRules, OverruledRule};
pub use merge::{MergedRules, OmittedNote, RuleContribution, is_shareable, merge_rules};
pub use rule::{RuleDiff, TeamRule, TeamRules, diff_rules};
pub use rule_file::{RuleFileProblem, parse_rules, render_rules};

/// The file's name at the project's root, beside `recoup.toml`.
pub const FILE: &str = "recoup-rules.md";

/// Maximum bytes of the file.
pub(crate) const MAX_LEN: u64 = 256 << 10;

/// State of a project's rule file, compared with what the user has accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleFileState {
    /// No file, and none was accepted.
    Absent,
    /// A file that was never accepted.
    Unknown,
    /// The file that was accepted.
    Accepted,
    /// Another content was accepted, and that one counts. Also if the file is gone.
    Changed,
}

impl RuleFileState {
    /// Returns advice for the user, in one line.
    pub fn advice(self) -> Option<String> {
        match self {
            Self::Absent | Self::Accepted => None,
            Self::Unknown => Some(format!(
                "{FILE} of this repository has no effect until you run `recoup trust`"
            )),
            Self::Changed => Some(format!(
                "{FILE} has changed since you accepted it; `recoup trust` shows what changed"
            )),
        }
    }
}

/// Returns the path of the rule file in the project at `root`.
pub fn rule_file_path(root: &Path) -> PathBuf {
    root.join(FILE)
}

/// Reads the rule file of the project at `root`, if there is one.
pub fn read_rule_file(root: &Path) -> Result<Option<Vec<u8>>> {
    let path = rule_file_path(root);
    // A link may lead out of the repository, to content that nobody has reviewed.
    if path.is_symlink() {
        let message = format!("refusing to read {}: it is a symbolic link", path.display());
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    fsx::read_regular(&path, MAX_LEN)
}

/// Compares the file at `root` with the accepted digest. The file is hashed and not parsed: a hook
/// calls this when a session starts.
pub fn rule_file_state(root: &Path, accepted: Option<Sha256Digest>) -> RuleFileState {
    match (read_rule_file(root), accepted) {
        (Ok(None), None) => RuleFileState::Absent,
        (Ok(Some(_)) | Err(_), None) => RuleFileState::Unknown,
        (Ok(Some(bytes)), Some(digest)) if Sha256Digest::of(&bytes) == digest => {
            RuleFileState::Accepted
        }
        (_, Some(_)) => RuleFileState::Changed,
    }
}
