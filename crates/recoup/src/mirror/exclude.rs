//! What was said in private is not published with a repository: git's own exclude file,
//! which all worktrees share.

use std::path::PathBuf;

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

/// The files there that git has already: these are published, whatever it is told.
pub(super) fn tracked(project: &Project) -> Vec<PathBuf> {
    if project.git_dir().is_none() {
        return Vec::new();
    }
    let index = fsx::read_regular(&project.git_index(), LARGEST_INDEX).ok().flatten();
    let start = format!(".claude/skills/{PREFIX}");
    let names = git_index::beginning_with(&index.unwrap_or_default(), &start);
    names.into_iter().map(|name| project.root().join(name)).collect()
}

/// What is said about it.
pub(super) fn published(project: &Project) -> String {
    let skills = project.root().join(".claude/skills");
    format!(
        "{0}/{PREFIX}… is in git already, and would be published: nothing is added to skills. `git rm -r --cached '.claude/skills/{PREFIX}*'` takes it out, or say skills.place = \"user\"",
        skills.display()
    )
}
