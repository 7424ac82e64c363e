//! A checkout that claims to be a clone of a known project: the user confirms it.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};
use serde::Serialize;

use crate::cli::app::memory_in;
use crate::cli::ui;

/// A checkout that stays apart from the project that it claims.
#[derive(Serialize)]
pub(super) struct ClaimedProject {
    /// The remote, or the repository that it was cloned from.
    claims: String,
    /// A root that the project is known by.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_from: Option<String>,
}

impl ClaimedProject {
    /// Returns the claim; none if there is none, or it is confirmed.
    pub(super) fn find(home: &Path, project: &Project) -> Option<Self> {
        let ProjectStanding::Apart { .. } = project.standing() else { return None };
        let note = ProjectRegistry::below(home).read(&project.claimed_id());
        let known_from = note.map(|note| note.root).filter(|root| !root.is_empty());
        Some(Self { claims: project.origin().to_string(), known_from })
    }

    /// Explains the question.
    pub(super) fn print_question(&self) {
        let Self { claims, known_from } = self;
        let known = known_from.as_ref().map_or_else(String::new, |root| format!(" from {root}"));
        ui::say(format_args!(
            "This checkout says that it is a clone of {claims}, which is known{known}."
        ));
        ui::say(
            "Trusted, it shares that project's rules and cached results, and adds its own to them. \
             Until then it stays apart.",
        );
        ui::say("Say no if somebody else made it: an archive can claim to be any project.");
    }
}

/// Confirms the claim, and moves the checkout's notes to the project.
pub(super) fn confirm_checkout(home: &Path, project: &Project) -> Result<()> {
    let project = ProjectRegistry::below(home).confirm(project.clone())?;
    let moved = memory_in(home).move_from_former_ids(&project)?;
    ui::say(format_args!("Trusted: this checkout, as a clone of {}", project.origin()));
    match moved {
        0 => {}
        1 => ui::say("1 memory came along"),
        moved => ui::say(format_args!("{moved} memories came along")),
    }
    Ok(())
}
