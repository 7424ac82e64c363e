//! The rules of a project as an agent is given them, the same bytes as from a hook.

use std::collections::HashSet;

use recoup_core::Result;
use recoup_core::memory::NoteScope;
use recoup_core::memory::inject::{Block, Budget, Context, StaleCheck};

use super::Surroundings;

/// What is said where there is nothing to say.
pub(super) const NONE: &str = "No rules are recorded for this project.";

/// The rules that hold in `scope`; none where there are none.
pub(super) fn block(around: &dyn Surroundings, scope: &NoteScope) -> Result<Option<Block>> {
    let budget = Budget::default();
    let notes = around.memory().rules(scope, budget)?;
    let project = match scope {
        NoteScope::Project(id) => Some(id),
        NoteScope::Universal => None,
    };
    let given = HashSet::new();
    let context = Context { project, given: &given, budget };
    // Of another project's files nothing is known here.
    let here = project == Some(around.project().id());
    let stale = StaleCheck::new(around.project().root());
    Ok(Block::of(&notes, &context, |note| here.then(|| stale.of(note)).flatten()))
}
