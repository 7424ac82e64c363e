//! What was said in private is not published with a repository: git's own exclude file,
//! which all worktrees share.

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::mirror::{PREFIX, excluded};

use super::git_index;
use super::register::{Place, Register, Sort};
use super::splice::Splice;

/// As large as git's list of a very large repository.
const LARGEST_INDEX: u64 = 256 << 20;

/// Whether git is told about our folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hiding {
    /// There are some.
    Needed,
    /// There are none of ours, but some by our name: whoever was told need not be told
    /// otherwise.
    AsItIs,
    /// There are none.
    Over,
}

/// The change to the exclude file of the repository that a place is in; none where there
/// is none, or where other worktrees still need our lines.
pub(super) fn wanted(place: &Place, hiding: Hiding, register: &Register) -> Result<Option<Splice>> {
    let Some(path) = file_for(place) else { return Ok(None) };
    let hides = hiding == Hiding::Needed;
    if hiding == Hiding::AsItIs || (!hides && register.shares(place, &path)) {
        return Ok(None);
    }
    Splice::of(path, |file| excluded(file, hides))
}

/// The exclude file that skills are hidden by.
pub(super) fn file_for(place: &Place) -> Option<PathBuf> {
    if place.sort != Sort::Skills {
        return None;
    }
    let known = place.spliced.keys().next().cloned();
    known.or_else(|| Project::find(place.root.as_deref()?).ok()?.git_exclude())
}

/// What git has of our folders.
#[derive(Debug)]
pub(super) enum Tracked {
    /// These files are published, whatever it is told.
    Files(Vec<PathBuf>),
    /// Its list can't be read, and may have any of them.
    Unknown,
}

impl Tracked {
    /// Whether something beneath that directory is published, or may be.
    pub(super) fn may_be_in(&self, dir: &Path) -> bool {
        match self {
            Self::Files(files) => files.iter().any(|file| file.starts_with(dir)),
            Self::Unknown => true,
        }
    }
}

/// The files there that git has already.
pub(super) fn tracked(project: &Project) -> Tracked {
    if project.git_dir().is_none() {
        return Tracked::Files(Vec::new());
    }
    let start = format!(".claude/skills/{PREFIX}");
    let names = match fsx::read_regular(&project.git_index(), LARGEST_INDEX) {
        // Nothing was ever added.
        Ok(None) => Some(Vec::new()),
        Ok(Some(index)) => git_index::beginning_with(&index, &start),
        Err(_) => None,
    };
    let files = |names: Vec<String>| names.iter().map(|it| project.root().join(it)).collect();
    names.map(files).map_or(Tracked::Unknown, Tracked::Files)
}

/// What is said where that is not known.
pub(super) fn unknown(project: &Project) -> String {
    format!(
        "whether git has {}/.claude/skills/{PREFIX}… already can't be told from {}: nothing is added to skills. `git update-index --no-split-index` makes one list of a list in parts; or say skills.place = \"user\"",
        project.root().display(),
        project.git_index().display()
    )
}

/// What is said about it.
pub(super) fn published(project: &Project) -> String {
    let skills = project.root().join(".claude/skills");
    format!(
        "{0}/{PREFIX}… is in git already, and would be published: nothing is added to skills. `git rm -r --cached '.claude/skills/{PREFIX}*'` takes it out, or say skills.place = \"user\"",
        skills.display()
    )
}
