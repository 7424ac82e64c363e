//! Keeps private statements out of a repository: git's own exclude file, which all worktrees share.

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::mirror::{PREFIX, update_exclude_file};

use super::git_index;
use super::register::{MirrorPlace, MirrorRegister, PlaceKind};
use super::splice::FileSplice;

/// Upper limit for reading git's index, enough for a very large repository.
const LARGEST_INDEX: u64 = 256 << 20;

/// Action on our lines in git's exclude file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExcludeAction {
    /// Add them: folders of ours exist.
    Needed,
    /// Leave them: only folders of others with our prefix exist.
    AsItIs,
    /// Remove them: no such folders exist.
    Over,
}

/// The change to the exclude file of the repository that a place is in; none without a repository,
/// or while other worktrees still need our lines.
pub(super) fn plan_exclude(
    place: &MirrorPlace,
    hiding: ExcludeAction,
    register: &MirrorRegister,
) -> Result<Option<FileSplice>> {
    let Some(path) = exclude_file_for(place) else { return Ok(None) };
    let hides = hiding == ExcludeAction::Needed;
    if hiding == ExcludeAction::AsItIs || (!hides && register.is_shared(place, &path)) {
        return Ok(None);
    }
    FileSplice::of(path, |file| update_exclude_file(file, hides))
}

/// The exclude file that hides the skills of a place.
pub(super) fn exclude_file_for(place: &MirrorPlace) -> Option<PathBuf> {
    if place.sort != PlaceKind::Skills {
        return None;
    }
    let known = place.spliced.keys().next().cloned();
    known.or_else(|| Project::find(place.root.as_deref()?).ok()?.git_exclude())
}

/// Files in our folders that git tracks.
#[derive(Debug)]
pub(super) enum TrackedSkills {
    /// Tracked files, which git publishes whatever is excluded.
    Files(Vec<PathBuf>),
    /// The index cannot be read, so any file may be tracked.
    Unknown,
}

impl TrackedSkills {
    /// True if a file in that directory is tracked, or may be.
    pub(super) fn may_be_in(&self, dir: &Path) -> bool {
        match self {
            Self::Files(files) => files.iter().any(|file| file.starts_with(dir)),
            Self::Unknown => true,
        }
    }
}

/// The files in a project's skill folders of ours that git tracks.
pub(super) fn find_tracked_skills(project: &Project) -> TrackedSkills {
    if project.git_dir().is_none() {
        return TrackedSkills::Files(Vec::new());
    }
    let start = format!(".claude/skills/{PREFIX}");
    let names = match fsx::read_regular(&project.git_index(), LARGEST_INDEX) {
        // No index: nothing was ever added.
        Ok(None) => Some(Vec::new()),
        Ok(Some(index)) => git_index::names_with_prefix(&index, &start),
        Err(_) => None,
    };
    let files = |names: Vec<String>| names.iter().map(|it| project.root().join(it)).collect();
    names.map(files).map_or(TrackedSkills::Unknown, TrackedSkills::Files)
}

/// Message if it is unknown what git tracks.
pub(super) fn unknown_tracking_message(project: &Project) -> String {
    format!(
        "whether git has {}/.claude/skills/{PREFIX}… already can't be told from {}: nothing is added to skills. `git update-index --no-split-index` makes one list of a list in parts; or say skills.place = \"user\"",
        project.root().display(),
        project.git_index().display()
    )
}

/// Message if git already tracks our folders.
pub(super) fn published_message(project: &Project) -> String {
    let skills = project.root().join(".claude/skills");
    format!(
        "{0}/{PREFIX}… is in git already, and would be published: nothing is added to skills. `git rm -r --cached '.claude/skills/{PREFIX}*'` takes it out, or say skills.place = \"user\"",
        skills.display()
    )
}
