//! Which project a directory belongs to.
//!
//! Entries are kept per project, so every worktree and every clone of one
//! repository has to come to the same answer. It is worked out from files alone:
//! a command lives for about a millisecond, and starting `git` costs several.

mod git;
mod git_config;
mod id;
mod origin;
mod remote;

use std::fs;
use std::path::{Path, PathBuf};

pub use id::ProjectId;
pub use origin::Origin;

use crate::error::{Error, IoContext as _, Result};

/// Files that mark a project's root where there is no git.
const MARKERS: [&str; 2] = ["recoup.toml", ".loa.config.yaml"];

/// A directory, and what makes it the same project elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
    origin: Origin,
    id: ProjectId,
}

impl Project {
    /// The project that the absolute directory `start` belongs to.
    ///
    /// The root is the nearest directory with a valid `.git`. Only where there is
    /// none above (nor a bare repository) does a marker file count, then `start`
    /// itself. What can't be read on the way up is passed over.
    pub fn find(start: &Path) -> Result<Self> {
        let start = canonical(start)?;
        if let Some((root, repository)) = git::find(&start) {
            return Ok(Self::new(root.to_owned(), Origin::of_repository(repository)));
        }
        let root = marked(&start).unwrap_or(&start).to_owned();
        Ok(Self::new(root.clone(), Origin::Folder(root)))
    }

    /// The project that a directory belonged to which is gone: its id is remembered, and
    /// `root` is where its work goes on.
    pub fn remembered(id: ProjectId, root: PathBuf) -> Self {
        Self { origin: Origin::Folder(root.clone()), root, id }
    }

    fn new(root: PathBuf, origin: Origin) -> Self {
        let id = ProjectId::of(&origin);
        Self { root, origin, id }
    }

    /// The top of the working tree, canonical.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory that git's worktrees share; none where the root is no worktree.
    pub fn git_dir(&self) -> Option<PathBuf> {
        git::of_worktree(&self.root)
    }

    /// Git's own list of what is one person's and not for others: all worktrees share it.
    pub fn git_exclude(&self) -> Option<PathBuf> {
        Some(self.git_dir()?.canonicalize().ok()?.join("info/exclude"))
    }

    /// Where git keeps the list of the files that it knows in this worktree.
    pub fn git_index(&self) -> PathBuf {
        git::index(&self.root)
    }

    /// The root of the main worktree, whichever of them this is; of a bare repository that
    /// itself. The root where there is no other.
    pub fn main_root(&self) -> PathBuf {
        git::main_worktree(&self.root).unwrap_or_else(|| self.root.clone())
    }

    /// The same for all worktrees and clones.
    pub fn id(&self) -> &ProjectId {
        &self.id
    }

    /// The repository that this one lies in: a submodule's, or that of something unpacked
    /// there.
    pub fn enclosing(&self) -> Option<Self> {
        let (root, repository) = git::find(self.root.parent()?)?;
        Some(Self::new(root.to_owned(), Origin::of_repository(repository)))
    }

    /// The ids that the same place had before: without its remote, and before it was a
    /// repository.
    pub fn former_ids(&self) -> Vec<ProjectId> {
        let repository = self.git_dir().and_then(|dir| dir.canonicalize().ok());
        let before = [repository.map(Origin::GitDir), Some(Origin::Folder(self.root.clone()))];
        let ids = before.iter().flatten().map(ProjectId::of);
        ids.filter(|id| *id != self.id).collect()
    }

    /// What the id was made from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Done once: everything above a canonical path is canonical too.
fn canonical(start: &Path) -> Result<PathBuf> {
    if !start.is_absolute() {
        return Err(Error::usage(format!("not an absolute directory: {}", start.display())));
    }
    // With the dot, what is not a directory fails here.
    fs::canonicalize(start.join("."))
        .doing(|| format!("looking for the project of {}", start.display()))
}

fn marked(start: &Path) -> Option<&Path> {
    start.ancestors().find(|dir| MARKERS.iter().any(|marker| dir.join(marker).is_file()))
}
