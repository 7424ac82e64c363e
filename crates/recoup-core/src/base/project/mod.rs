//! The project that a directory belongs to.
//!
//! Entries are kept per project, so every worktree and every clone of one
//! repository has to come to the same answer. It is worked out from files alone:
//! a command lives for about a millisecond, and starting `git` costs several.
//!
//! What a repository says about itself is a claim. [`ProjectRegistry`] decides whether it
//! counts; until then a project has the id of its own place.

mod git;
mod git_config;
mod id;
mod objects;
mod origin;
mod proof;
mod registry;
mod remote;

use std::fs;
use std::path::{Path, PathBuf};

pub use id::ProjectId;
pub use origin::ProjectOrigin;
pub use registry::{ConfirmedCheckout, ProjectRecord, ProjectRegistry, ProjectStanding};

use crate::error::{Error, IoContext as _, Result};

/// Files that mark a project's root where there is no git.
const MARKERS: [&str; 2] = ["recoup.toml", ".loa.config.yaml"];

/// A directory and the project that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
    /// The origin that its repository claims.
    origin: ProjectOrigin,
    /// Origin by its place on this machine, which nothing inside of it can change.
    own: ProjectOrigin,
    id: ProjectId,
    standing: ProjectStanding,
}

impl Project {
    /// The project that the absolute directory `start` belongs to.
    ///
    /// The root is the nearest directory with a valid `.git`. Only where there is
    /// none above (nor a bare repository) does a marker file count, then `start`
    /// itself. What can't be read on the way up is passed over.
    ///
    /// Its id is that of its own place: see [`ProjectRegistry::find_repository`].
    pub fn find(start: &Path) -> Result<Self> {
        let start = canonical(start)?;
        if let Some((root, repository)) = git::find_repository(&start) {
            return Ok(Self::in_repository(root, repository));
        }
        let root = find_marked_root(&start).unwrap_or(&start).to_owned();
        let folder = ProjectOrigin::Folder(root.clone());
        Ok(Self::new(root, folder.clone(), folder))
    }

    /// The project of a directory that is gone: its id is remembered, and `root` is where its work
    /// goes on.
    pub fn from_remembered_id(id: ProjectId, root: PathBuf) -> Self {
        let folder = ProjectOrigin::Folder(root.clone());
        Self { id, ..Self::new(root, folder.clone(), folder) }
    }

    fn in_repository(root: &Path, common: PathBuf) -> Self {
        let real = fs::canonicalize(&common).unwrap_or_else(|_| common.clone());
        let own = if git::has_worktree(root, &real) {
            ProjectOrigin::GitDir(real)
        } else {
            ProjectOrigin::Folder(root.to_owned())
        };
        Self::new(root.to_owned(), ProjectOrigin::of_repository(common), own)
    }

    fn new(root: PathBuf, origin: ProjectOrigin, own: ProjectOrigin) -> Self {
        let id = ProjectId::of(&own);
        Self { root, origin, own, id, standing: ProjectStanding::Own }
    }

    /// The top of the working tree, canonical.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory that git's worktrees share; none where the root is no worktree, or the
    /// repository does not know it as one.
    pub fn git_dir(&self) -> Option<PathBuf> {
        self.own_repository().and_then(|_| git::common_dir_of_worktree(&self.root))
    }

    /// Path of git's `info/exclude`, a personal ignore list that all worktrees share.
    pub fn git_exclude(&self) -> Option<PathBuf> {
        Some(self.git_dir()?.canonicalize().ok()?.join("info/exclude"))
    }

    /// Path of git's index of this worktree.
    pub fn git_index(&self) -> PathBuf {
        git::index_path(&self.root)
    }

    /// Root of the main worktree, or the bare repository itself, whichever worktree this is; the
    /// project's root where there is no other.
    pub fn main_root(&self) -> PathBuf {
        let main = self.own_repository().and_then(|_| git::main_worktree(&self.root));
        main.unwrap_or_else(|| self.root.clone())
    }

    /// Id that all worktrees share, and all clones that belong to the project.
    pub fn id(&self) -> &ProjectId {
        &self.id
    }

    /// The id that its repository claims: that of its remote, or of what it was cloned from.
    pub fn claimed_id(&self) -> ProjectId {
        ProjectId::of(&self.origin)
    }

    /// Relation of this checkout to the project that it claims.
    pub fn standing(&self) -> ProjectStanding {
        self.standing
    }

    fn own_id(&self) -> ProjectId {
        ProjectId::of(&self.own)
    }

    fn is_claim(&self) -> bool {
        self.origin != self.own
    }

    /// The repository that knows this root as its worktree.
    fn own_repository(&self) -> Option<&Path> {
        match &self.own {
            ProjectOrigin::GitDir(common) => Some(common),
            ProjectOrigin::Remote(_) | ProjectOrigin::Folder(_) => None,
        }
    }

    fn is_made_here(&self) -> bool {
        self.own_repository().is_some() && proof::is_made_here(&self.root)
    }

    /// The repository that this one lies in: a submodule's, or that of something unpacked
    /// there. Its id is that of its own place, as with [`Self::find_repository`].
    pub fn enclosing_repository(&self) -> Option<Self> {
        let (root, repository) = git::find_repository(self.root.parent()?)?;
        Some(Self::in_repository(root, repository))
    }

    /// Ids that this place had before: without its remote, while it was kept apart, and before it
    /// was a repository.
    pub fn former_ids(&self) -> Vec<ProjectId> {
        let before = [self.own_id(), ProjectId::of(&ProjectOrigin::Folder(self.root.clone()))];
        let mut ids: Vec<_> = before.into_iter().filter(|id| *id != self.id).collect();
        ids.dedup();
        ids
    }

    /// The claimed origin, from which [`Self::claimed_id`] is made.
    pub fn origin(&self) -> &ProjectOrigin {
        &self.origin
    }
}

/// Done once: everything above a canonical path is canonical too.
fn canonical(start: &Path) -> Result<PathBuf> {
    if !start.is_absolute() {
        return Err(Error::usage(format!("not an absolute directory: {}", start.display())));
    }
    // The dot makes anything but a directory fail here.
    fs::canonicalize(start.join("."))
        .with_context(|| format!("looking for the project of {}", start.display()))
}

fn find_marked_root(start: &Path) -> Option<&Path> {
    start.ancestors().find(|dir| MARKERS.iter().any(|marker| dir.join(marker).is_file()))
}
