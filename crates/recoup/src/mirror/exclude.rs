//! Keeps private statements out of a repository: git's own exclude file, which all worktrees share,
//! and the names in git's index, which are published whatever is excluded.

use std::path::{Path, PathBuf};

use crate::mirror::{PREFIX, update_exclude_file};
use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;

use super::register::{MirrorPlace, MirrorRegister, PlaceKind};
use super::splice::FileSplice;

/// Upper limit for reading git's index, enough for a very large repository.
const LARGEST_INDEX: u64 = 256 << 20;

/// Parts of a git index.
const STAT_LENGTH: usize = 40;
const ID_LENGTHS: [usize; 2] = [20, 32];
const EXTENDED: u16 = 0x4000;
const LINK: &[u8] = b"link";

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
        Ok(Some(index)) => ID_LENGTHS.into_iter().find_map(|id| index_names(&index, id)),
        Err(_) => None,
    };
    let files = |names: Vec<Vec<u8>>| {
        let ours = names.iter().filter(|name| name.starts_with(start.as_bytes()));
        ours.map(|name| project.root().join(&*String::from_utf8_lossy(name))).collect()
    };
    names.map(files).map_or(TrackedSkills::Unknown, TrackedSkills::Files)
}

/// Message if it is unknown what git tracks.
pub(super) fn unknown_tracking_message(project: &Project) -> String {
    format!(
        "no skills are added: can't tell from {1} whether git tracks {0}/.claude/skills/{PREFIX}…. \
         `git update-index --no-split-index` makes the index readable; or set skills.place = \
         \"user\"",
        project.root().display(),
        project.git_index().display()
    )
}

/// Message if git already tracks our folders.
pub(super) fn published_message(project: &Project) -> String {
    let skills = project.root().join(".claude/skills");
    format!(
        "no skills are added: git already tracks {0}/{PREFIX}…, so they would be published. \
         `git rm -r --cached '.claude/skills/{PREFIX}*'` untracks them; or set skills.place = \
         \"user\"",
        skills.display()
    )
}

/// Returns all names in a git index, if it is complete and consistent with IDs of that length.
///
/// ```text
/// "DIRC" version:u32 entries:u32
/// stat:[u8; 40] id:[u8; 20 or 32] flags:u16 (extended:u16) name NUL (padding to 8)
/// ```
/// In version 4 a name begins with the number of bytes to drop from the previous one, and has no
/// padding. Extensions follow the entries, each as a name of four letters, its length as u32 and
/// its data; then a checksum as long as an ID. A split index has the extension `link`, and most of
/// its names are in another file.
fn index_names(index: &[u8], id: usize) -> Option<Vec<Vec<u8>>> {
    let (version, count) = (u32_at(index, 4)?, u32_at(index, 8)?);
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut names, mut before) = (12, Vec::new(), Vec::new());
    for _ in 0..count {
        let entry = at;
        at += STAT_LENGTH + id;
        let flags = u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?);
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        let mut name = Vec::new();
        if version == 4 {
            // A number as in git's pack files: seven bits a byte, highest first.
            let mut byte = *index.get(at)?;
            let mut left_out = usize::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                at += 1;
                byte = *index.get(at)?;
                left_out = left_out.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
            }
            at += 1;
            name.extend(before.get(..before.len().checked_sub(left_out)?)?);
        }
        let len = index.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend(&index[at..at + len]);
        at += len + 1;
        if version < 4 {
            at = entry + (at - entry).next_multiple_of(8);
        }
        if name.is_empty() || name < before {
            return None;
        }
        before.clone_from(&name);
        names.push(name);
    }
    is_whole(index.get(at..)?, id).then_some(names)
}

/// True if only extensions and a checksum follow the entries, and no extension refers to another
/// file.
fn is_whole(mut rest: &[u8], id: usize) -> bool {
    while rest.len() > id {
        let Some(len) = u32_at(rest, 4).and_then(|len| usize::try_from(len).ok()) else {
            return false;
        };
        let next = len.checked_add(8).and_then(|len| rest.get(len..));
        match next {
            Some(next) if !rest.starts_with(LINK) => rest = next,
            _ => return false,
        }
    }
    rest.len() == id
}

fn u32_at(index: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?))
}
