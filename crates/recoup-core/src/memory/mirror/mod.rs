//! What is remembered, as files that a client reads by itself: Claude Code's own memory
//! (rules sync) and skills.
//!
//! ```text
//! MEMORY.md                      the client's index: our lines stand between two marks
//! recoup-7m2k0w9x.md             one rule, with the frontmatter that the client knows
//! recoup-testing/SKILL.md        what is known about one subject
//! recoup-testing/manifest.json   what it was made of
//! ```
//!
//! Pure functions from notes to names and bytes, the same bytes for the same notes. Who
//! writes them, and where, is decided elsewhere.

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

/// What the names of all our files and folders begin with.
pub const PREFIX: &str = "recoup-";

/// Whether a note may stand in a file for those who work in `project`, or anywhere if
/// none is named: a rule there, and nothing that would be refused today.
pub fn is_for(note: &Note, project: Option<&ProjectId>) -> bool {
    let context = Context { project, given: &HashSet::new(), budget: Budget::default() };
    let has_secret = |text: &String| secrets::detect(text.as_bytes()).is_some();
    context.takes(note)
        && refusal(&note.text).is_none()
        && !note.paths.as_ref().is_some_and(has_secret)
}

/// A note as it stands in a file: a line of its own.
pub fn item_line(note: &Note) -> String {
    format!("- {}", text::item(note))
}
