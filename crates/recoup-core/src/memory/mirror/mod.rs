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

mod marked_lines;
mod rules;
mod skills;
mod text;

use std::collections::HashSet;

pub use marked_lines::{INDEX, SplicedIndex, splice_index, update_exclude_file};
pub use rules::{MOST_RULES, RuleFile, rule_files, rule_line_end};
pub use skills::{FEWEST, SkillFile, build_skills, is_unmodified_skill};
pub use text::NoteTraces;

use crate::base::project::ProjectId;
use crate::memory::guard::refusal::statement_refusal;
use crate::memory::model::note::Note;
use crate::memory::recall::inject::{BlockBudget, InjectionContext};
use crate::secrets;

/// Prefix of the names of all our files and folders.
pub const PREFIX: &str = "recoup-";

/// True if a note may be in a file for `project`, or for all projects if there is none: it is a
/// rule there, and would not be refused today.
pub fn may_mirror(note: &Note, project: Option<&ProjectId>) -> bool {
    let context =
        InjectionContext { project, given: &HashSet::new(), budget: BlockBudget::default() };
    let has_secret = |text: &String| secrets::detect_secret(text.as_bytes()).is_some();
    context.accepts(note)
        && statement_refusal(&note.text).is_none()
        && !note.paths.as_ref().is_some_and(has_secret)
}

/// Returns a note as a list item on a line of its own.
pub fn item_line(note: &Note) -> String {
    format!("- {}", text::item_text(note))
}
