//! The team's rules: which version of them the user has accepted.

use std::path::Path;

use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::team::{self, State};

use super::{Ledger, trusted_text};

/// How the file of a project stands to what was accepted: two small files are read. What
/// can't be read has accepted nothing.
pub(crate) fn team_state(home: &Path, project: &Project) -> State {
    let ledger = Ledger::read(home).ok();
    let accepted = ledger.and_then(|ledger| ledger.of_project(project.id(), team::FILE));
    team::state(project.root(), accepted)
}

/// The text that was accepted last in a project.
pub(crate) fn accepted_text(home: &Path, ledger: &Ledger, project: &ProjectId) -> Option<String> {
    trusted_text(home, ledger.of_project(project, team::FILE)?)
}
