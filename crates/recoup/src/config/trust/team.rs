//! Trust in the team's rules: the version that the user has accepted.

use std::path::Path;

use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::team::{self, State};

use super::{Ledger, trusted_text};

/// Compares a project's team rules with the accepted version. An unreadable trust store counts as
/// nothing accepted.
pub(crate) fn team_state(home: &Path, project: &Project) -> State {
    let ledger = Ledger::read(home).ok();
    let accepted = ledger.and_then(|ledger| ledger.of_project(project.id(), team::FILE));
    team::state(project.root(), accepted)
}

/// The text that was last accepted in a project.
pub(crate) fn accepted_text(home: &Path, ledger: &Ledger, project: &ProjectId) -> Option<String> {
    trusted_text(home, ledger.of_project(project, team::FILE)?)
}
