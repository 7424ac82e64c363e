//! Notes as files that a client reads by itself: Claude Code's own memory (rules sync) and skills.
//!
//! ```text
//! MEMORY.md                      the client's index: our lines stand between two marks
//! recoup-7m2k0w9x.md             one rule, with the frontmatter that the client knows
//! recoup-testing/SKILL.md        what is known about one subject
//! recoup-testing/manifest.json   what it was made of
//! ```
//!
//! Pure functions from notes to names and bytes: equal notes give equal bytes. Others decide where
//! these are written.

mod exclude;
mod index;
mod marked;
mod rules;
mod skills;
mod subject;
mod text;
mod trace;

use std::collections::HashSet;

pub use exclude::excluded;
pub use index::{INDEX, Spliced, spliced};
pub use rules::{MOST_RULES, RuleFile, rule_files, rule_tail};
pub use skills::{FEWEST, Skill, is_whole_skill, skills};
pub use trace::Traces;

use super::Note;
use super::inject::{Budget, Context};
use super::refuse::refusal;
use crate::base::project::ProjectId;
use crate::secrets;

/// Prefix of the names of all our files and folders.
pub const PREFIX: &str = "recoup-";

/// True if a note may be in a file for `project`, or for all projects if there is none: it is a
/// rule there, and would not be refused today.
pub fn is_for(note: &Note, project: Option<&ProjectId>) -> bool {
    let context = Context { project, given: &HashSet::new(), budget: Budget::default() };
    let has_secret = |text: &String| secrets::detect(text.as_bytes()).is_some();
    context.takes(note)
        && refusal(&note.text).is_none()
        && !note.paths.as_ref().is_some_and(has_secret)
}

/// Returns a note as a list item on a line of its own.
pub fn item_line(note: &Note) -> String {
    format!("- {}", text::item(note))
}
