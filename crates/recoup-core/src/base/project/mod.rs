//! The project that a directory belongs to.
//!
//! Entries are kept per project, so every worktree and every clone of one
//! repository has to come to the same answer. It is worked out from files alone:
//! a command lives for about a millisecond, and starting `git` costs several.
//!
//! What a repository says about itself is a claim. [`ProjectRegistry`] decides whether it
//! counts; until then a project has the id of its own place.

mod git;
mod git_index;
mod git_object;
mod proof;
mod registry;
mod remote;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::digest::{Sha256Digest, encode_hex};
use crate::error::{Error, IoContext as _, Result};

pub(crate) use git::{head_state, is_worktree_root, worktree_root};
pub(crate) use git_index::{TrackedStat, WorktreeIndex, index_state};
pub(crate) use git_object::{BlobHasher, ObjectId};
use remote::RemoteAddress;

pub use registry::{ConfirmedCheckout, ProjectRecord, ProjectRegistry, ProjectStanding};

/// Files that mark a project's root where there is no git.
const MARKERS: [&str; 2] = ["recoup.toml", ".loa.config.yaml"];

/// Length of an id: half a SHA-256, which is short, and without accidental collisions.
const ID_BYTES: usize = 16;

/// Limit on followed clones of clones; only an attacker has as many.
const MAX_STEPS: usize = 16;

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
    /// Its id is that of its own place: see [`ProjectRegistry::find`].
    pub fn find(start: &Path) -> Result<Self> {
        if !start.is_absolute() {
            return Err(Error::usage(format!("not an absolute path: {}", start.display())));
        }
        // The dot makes anything but a directory fail here. Everything above is canonical too.
        let start = fs::canonicalize(start.join("."))
            .with_context(|| format!("cannot find the project of {}", start.display()))?;
        if let Some((root, repository)) = git::find_repository(&start) {
            return Ok(Self::in_repository(root, repository));
        }
        let is_marked = |dir: &&Path| MARKERS.iter().any(|marker| dir.join(marker).is_file());
        let root = start.ancestors().find(is_marked).unwrap_or(&start).to_owned();
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
        let real = canonical(common.clone());
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

    /// Names of the files that git tracks in this worktree; `None` if there is no repository, or its
    /// index cannot be read whole.
    pub fn tracked_names(&self) -> Option<Vec<Vec<u8>>> {
        git_index::tracked_names(&self.root)
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
    /// there. Its id is that of its own place, as with [`Self::find`].
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

/// 32 lower-case hexadecimal digits that stand for a project, as stores and file names carry it.
/// Cheap to clone.
///
/// Ids are durable: a change to what is hashed here, or to how a remote is normalised, cuts people
/// off from the entries they have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectId(Arc<str>);

impl ProjectId {
    /// Checks `text`, which is not repeated in the error: it may be a URL with a password.
    pub fn parse(text: &str) -> Result<Self> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == ID_BYTES * 2 && text.bytes().all(digit) {
            return Ok(Self(text.into()));
        }
        Err(Error::usage("invalid project id: expected 32 digits of 0-9 a-f"))
    }

    /// Hashes the kind too, so that a folder never passes for a remote.
    fn of(origin: &ProjectOrigin) -> Self {
        let (kind, name) = match origin {
            ProjectOrigin::Remote(remote) => ("remote", remote.as_bytes()),
            ProjectOrigin::GitDir(path) => ("gitdir", path.as_os_str().as_encoded_bytes()),
            ProjectOrigin::Folder(path) => ("folder", path.as_os_str().as_encoded_bytes()),
        };
        let digest = Sha256Digest::of(&[kind.as_bytes(), b"\0", name].concat());
        Self(encode_hex(&digest.as_bytes()[..ID_BYTES]).into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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
    /// The origin of the repository whose common directory is `common`. Depends on nothing else, so
    /// that all of its worktrees agree.
    ///
    /// A remote on this machine is only a step on the way: the clone takes the origin of what it
    /// was cloned from.
    fn of_repository(mut common: PathBuf) -> Self {
        let mut seen = Vec::new();
        while seen.len() < MAX_STEPS {
            let url = git::remote_url(&common);
            let address = url.map_or(RemoteAddress::Opaque, |url| RemoteAddress::parse(&url));
            let place = match address {
                // Returns first: most repositories need no canonical path of their own.
                RemoteAddress::Network(name) => return Self::Remote(name),
                RemoteAddress::Local(place) => Some(place),
                RemoteAddress::Opaque => None,
            };
            let here = canonical(common);
            if let Some(start) = seen.iter().position(|path| *path == here) {
                // Repositories that name each other in a circle agree on one of them.
                return Self::GitDir(seen[start..].iter().min().cloned().unwrap_or_default());
            }
            // Relative to the main worktree, else to the bare repository.
            let base = here.parent().filter(|_| here.ends_with(".git")).unwrap_or(&here);
            let Some(source) = place.and_then(|place| git::find_local_remote(&base.join(place)))
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

fn canonical(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}
