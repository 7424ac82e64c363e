//! The team's rules, for the user to accept: changes since they were last accepted, and problems in
//! the file.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::NoteScope;
use recoup_core::memory::team::{self, AcceptedRules, RuleDiff, TeamRule, TeamRules};
use serde::Serialize;

use crate::cli::app::memory_in;
use crate::cli::mirror::refresh_mirrors;
use crate::cli::team::{TeamChangesReport, print_diff};
use crate::cli::ui;
use crate::config::trust::{self, TrustStore, TrustedFile};

/// The team's file, compared with what was accepted of it.
#[derive(Serialize)]
pub(super) struct TeamRulesReview {
    file: &'static str,
    state: TeamRulesState,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Sha256Digest>,
    #[serde(flatten)]
    changes: TeamChangesReport,
    problems: Vec<TeamFileProblem>,
    #[serde(skip)]
    bytes: Option<Vec<u8>>,
    #[serde(skip)]
    rules: Vec<TeamRule>,
    #[serde(skip)]
    before: Vec<TeamRule>,
    #[serde(skip)]
    diff: RuleDiff,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum TeamRulesState {
    Trusted,
    Changed,
    Gone,
    New,
    /// The file has problems and can't be accepted.
    Refused,
}

/// A problem in the file.
#[derive(Serialize)]
struct TeamFileProblem {
    line: Option<usize>,
    why: String,
}

impl TeamRulesReview {
    /// Compares the file with what was accepted; none if there is neither.
    pub(super) fn load(
        home: &Path,
        project: &Project,
        ledger: &TrustStore,
    ) -> Result<Option<Self>> {
        let accepted = ledger.trusted_digest(project.id(), team::FILE);
        let (bytes, mut faults) = match team::read_rule_file(project.root()) {
            Ok(bytes) => (bytes, Vec::new()),
            Err(error) => (None, vec![TeamFileProblem { line: None, why: error.to_string() }]),
        };
        if bytes.is_none() && faults.is_empty() && accepted.is_none() {
            return Ok(None);
        }
        let sha256 = bytes.as_deref().map(Sha256Digest::of);
        let TeamRules { rules, .. } = bytes.as_deref().map_or_else(TeamRules::default, |bytes| {
            team::parse_rules(bytes).unwrap_or_else(|problems| {
                let fault = |it: team::RuleFileProblem| TeamFileProblem {
                    line: Some(it.line),
                    why: it.why,
                };
                faults.extend(problems.into_iter().map(fault));
                TeamRules::default()
            })
        });
        let mut before = trust::accepted_text(home, ledger, project.id())
            .and_then(|text| team::parse_rules(text.as_bytes()).ok())
            .map_or_else(Vec::new, |team| team.rules);
        let mut state = match (&bytes, accepted) {
            _ if !faults.is_empty() => TeamRulesState::Refused,
            (None, _) => TeamRulesState::Gone,
            (Some(_), None) => TeamRulesState::New,
            (Some(_), Some(digest)) if Some(digest) == sha256 => TeamRulesState::Trusted,
            (Some(_), Some(_)) => TeamRulesState::Changed,
        };
        let lost = state == TeamRulesState::Trusted
            && !rules.is_empty()
            && !memory_in(home).knows_team_rules(&project_scope(project), &rules)?;
        if lost {
            // Memory was recreated since, and lacks the accepted rules.
            (state, before) = (TeamRulesState::New, Vec::new());
        }
        let diff = team::diff_rules(&before, &rules);
        let changes = if state == TeamRulesState::Refused {
            TeamChangesReport::default()
        } else {
            TeamChangesReport::of(&diff)
        };
        let (file, problems) = (team::FILE, faults);
        Ok(Some(Self { file, state, sha256, changes, problems, bytes, rules, before, diff }))
    }

    /// True if the user has to decide.
    pub(super) fn needs_decision(&self) -> bool {
        matches!(self.state, TeamRulesState::New | TeamRulesState::Changed | TeamRulesState::Gone)
    }

    /// True if the file can be accepted.
    pub(super) fn is_acceptable(&self) -> bool {
        self.state != TeamRulesState::Refused
    }

    pub(super) fn print_problems(&self) {
        for TeamFileProblem { line, why } in &self.problems {
            match line {
                Some(line) => ui::error(format_args!("{}:{line}: {why}", self.file)),
                None => ui::error(format_args!("{}: {why}", self.file)),
            }
        }
        if !self.problems.is_empty() {
            ui::hint("it can't be accepted like this; what you accepted before stays in force");
        }
    }

    /// Prints the changes to be accepted.
    pub(super) fn print_changes(&self) {
        let file = self.file;
        match self.state {
            TeamRulesState::New if self.rules.is_empty() => {
                ui::say(format_args!("{file} has no rules yet."));
            }
            TeamRulesState::New => ui::say(format_args!(
                "{file} has rules of the team. Accepted, they are instructions for the agents that work here:"
            )),
            TeamRulesState::Changed if self.diff.is_empty() => {
                ui::say(format_args!("{file} has changed, its rules have not."));
            }
            TeamRulesState::Changed => ui::say(format_args!(
                "{file} has changed since you accepted it. Accepted, this changes the instructions for the agents that work here:"
            )),
            TeamRulesState::Gone => ui::say(format_args!(
                "{file} is gone. Accepted, its rules are no longer instructions for the agents that work here:"
            )),
            TeamRulesState::Trusted | TeamRulesState::Refused => return,
        }
        print_diff(&self.diff);
    }

    /// Applies the rules to memory.
    pub(super) fn accept(&self, home: &Path, project: &Project) -> Result<()> {
        fsx::ensure_private_dir(home)?;
        let AcceptedRules { active, retired, outvoted } = memory_in(home).accept_team_rules(
            &project_scope(project),
            &self.rules,
            &self.before,
        )?;
        if self.bytes.is_none() {
            trust::withdraw_trust(home, project.id(), self.file)?;
        }
        refresh_mirrors(home, project, &[project_scope(project)]);
        ui::say(format_args!(
            "Rules of the team: {} new, {} no longer",
            active.len(),
            retired.len()
        ));
        for team::OverruledRule { rule, by } in &outvoted {
            ui::say(format_args!(
                "What you said stays: {} ({}), and not: {} ({})",
                by.text, by.id, rule.text, rule.id
            ));
        }
        Ok(())
    }

    /// The grant to be recorded; none if the file is gone.
    pub(super) fn grant<'a>(&'a self, project: &'a Project) -> Option<TrustedFile<'a>> {
        let text = self.bytes.as_deref()?;
        Some(TrustedFile { name: self.file, text, project: Some(project.id()) })
    }
}

fn project_scope(project: &Project) -> NoteScope {
    NoteScope::Project(project.id().clone())
}
