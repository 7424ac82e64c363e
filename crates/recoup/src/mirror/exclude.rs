//! What was said in private is not published with a repository: git's own exclude file,
//! which all worktrees share.

use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::mirror::{PREFIX, excluded, topics};

use super::register::{Place, Register, Sort};
use super::splice::Splice;

/// As large as git's list of a very large repository.
const LARGEST_INDEX: u64 = 256 << 20;

/// The change to the exclude file of the repository that a place is in; none where there
/// is none, or where other worktrees still need our lines.
pub(super) fn wanted(place: &Place, hides: bool, register: &Register) -> Result<Option<Splice>> {
    let Some(path) = file_for(place) else { return Ok(None) };
    if !hides && register.shares(place, &path) {
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
    let git_dir = || Project::find(place.root.as_deref()?).ok()?.git_dir()?.canonicalize().ok();
    known.or_else(|| Some(git_dir()?.join("info/exclude")))
}

/// Whether git has files there already: these are published, whatever it is told.
pub(super) fn is_tracked(project: &Project) -> Option<String> {
    project.git_dir()?;
    let index = fsx::read_regular(&project.git_index(), LARGEST_INDEX).ok()??;
    has_ours(&index).then(|| {
        let skills = project.root().join(".claude/skills");
        format!(
            "{0}/{PREFIX}… is in git already, and would be published: no skills are made. `git rm -r --cached '.claude/skills/{PREFIX}*'` takes it out, or say skills.place = \"user\"",
            skills.display()
        )
    })
}

/// By the names in git's list; its fourth version leaves out what a name shares with the
/// one before.
fn has_ours(index: &[u8]) -> bool {
    let has = |name: &str| index.windows(name.len()).any(|window| window == name.as_bytes());
    let is_short = index.get(4..8) == Some(&[0, 0, 0, 4]);
    has(&format!(".claude/skills/{PREFIX}"))
        || (is_short && topics().any(|topic| has(&format!("{PREFIX}{topic}/SKILL.md"))))
}
