//! Identity of a project: the remote that directories come from, else the repository they share,
//! else the folder itself.
//!
//! A remote on this machine is only a step on the way: the clone takes the
//! origin of what it was cloned from.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::git;
use super::remote::RemoteAddress;

/// Limit on followed clones of clones; only an attacker has as many.
const MAX_STEPS: usize = 16;

/// Source of a project's id. Never holds a password or a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectOrigin {
    /// A remote repository, normalised: `github.com/owner/repo`.
    Remote(String),
    /// A repository without a remote: its canonical common directory.
    GitDir(PathBuf),
    /// No repository: the canonical root.
    Folder(PathBuf),
}

impl ProjectOrigin {
    /// The origin of the repository whose common directory is `common`.
    ///
    /// Depends on nothing else, so that all of its worktrees agree.
    pub(super) fn of_repository(mut common: PathBuf) -> Self {
        let mut seen = Vec::new();
        while seen.len() < MAX_STEPS {
            let place = match remote_of(&common) {
                // Returns first: most repositories need no canonical path of their own.
                RemoteAddress::Network(name) => return Self::Remote(name),
                RemoteAddress::Local(place) => Some(place),
                RemoteAddress::Opaque => None,
            };
            let here = canonical(common);
            if let Some(start) = seen.iter().position(|path| *path == here) {
                return Self::GitDir(first_of_loop(&seen[start..]));
            }
            let Some(source) =
                place.and_then(|place| git::find_local_remote(&remote_base_dir(&here).join(place)))
            else {
                return Self::GitDir(here);
            };
            seen.push(here);
            common = source;
        }
        Self::GitDir(canonical(common))
    }
}

/// Shows the name of the remote, or the path.
impl fmt::Display for ProjectOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(name) => f.write_str(name),
            Self::GitDir(path) | Self::Folder(path) => path.display().fmt(f),
        }
    }
}

fn remote_of(common: &Path) -> RemoteAddress {
    git::remote_url(common).map_or(RemoteAddress::Opaque, |url| RemoteAddress::parse(&url))
}

/// Repositories that name each other in a circle agree on one of them.
fn first_of_loop(members: &[PathBuf]) -> PathBuf {
    members.iter().min().cloned().unwrap_or_default()
}

/// Base directory of a relative remote: the main worktree, else the bare repository.
fn remote_base_dir(common: &Path) -> &Path {
    match common.parent() {
        Some(worktree) if common.ends_with(".git") => worktree,
        _ => common,
    }
}

fn canonical(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}
