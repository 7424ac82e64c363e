//! Trust in the team's rules: the version that the user has accepted.

use std::path::Path;

use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::team::{self, RuleFileState};

use super::{TrustStore, trusted_text};

/// Compares a project's team rules with the accepted version. An unreadable trust store counts as
/// nothing accepted.
pub(crate) fn team_state(home: &Path, project: &Project) -> RuleFileState {
    let ledger = TrustStore::read(home).ok();
    let accepted = ledger.and_then(|ledger| ledger.trusted_digest(project.id(), team::FILE));
    team::rule_file_state(project.root(), accepted)
}

/// The text that was last accepted in a project.
pub(crate) fn accepted_text(
    home: &Path,
    ledger: &TrustStore,
    project: &ProjectId,
) -> Option<String> {
    trusted_text(home, ledger.trusted_digest(project, team::FILE)?)
}
