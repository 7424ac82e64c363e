//! Everything that a repository wants the user's trust for: configuration files, a checkout that
//! claims to be a clone of a known project, and the team's rules. Each shows itself, with what has
//! changed since it was trusted.

use std::path::Path;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};
use recoup_core::memory::NoteScope;
use recoup_core::memory::team;
use recoup_core::memory::team::{AcceptedRules, RuleDiff, TeamRule, TeamRules};
use recoup_core::{Result, secrets};
use serde::Serialize;
use similar::TextDiff;

use crate::cli::app::memory_in;
use crate::cli::mirror::refresh_mirrors;
use crate::cli::team::{TeamChangesReport, print_diff};
use crate::cli::ui;
use crate::config::SensitiveFile;
use crate::config::trust::{self, TrustStore, TrustVerdict, TrustedFile};

/// A file that needs trust.
#[derive(Serialize)]
pub(super) struct TrustFileReport {
    file: String,
    state: FileTrustState,
    sha256: Sha256Digest,
    says: Vec<TrustGatedValue>,
    /// From what was trusted to what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// Trust in the file before the question.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum FileTrustState {
    Trusted,
    Changed,
    New,
}

/// A value that takes effect only with trust.
#[derive(Serialize)]
struct TrustGatedValue {
    key: String,
    value: String,
}

impl TrustFileReport {
    pub(super) fn new(home: &Path, delicate: &SensitiveFile) -> Self {
        let SensitiveFile { name, text, verdict, says } = delicate;
        let (state, before) = match verdict {
            TrustVerdict::Trusted => (FileTrustState::Trusted, None),
            TrustVerdict::Unknown => (FileTrustState::New, None),
            TrustVerdict::Changed(digest) => {
                (FileTrustState::Changed, trust::trusted_text(home, *digest))
            }
        };
        Self {
            file: name.clone(),
            state,
            sha256: Sha256Digest::of(text.as_bytes()),
            says: says.iter().cloned().map(|(key, value)| TrustGatedValue { key, value }).collect(),
            diff: before.map(|before| {
                let (before, after) = (secrets::redact(&before), secrets::redact(text));
                TextDiff::from_lines(before.as_ref(), after.as_ref())
                    .unified_diff()
                    .header("trusted", "now")
                    .missing_newline_hint(false)
                    .to_string()
            }),
        }
    }

    /// Prints the values and the diff, unless the file is trusted.
    pub(super) fn print(&self) {
        match self.state {
            FileTrustState::Trusted => return,
            FileTrustState::New => ui::say(format_args!("{} sets:", self.file)),
            FileTrustState::Changed => {
                ui::say(format_args!(
                    "{} has changed since you trusted it, and now sets:",
                    self.file
                ));
            }
        }
        for TrustGatedValue { key, value } in &self.says {
            ui::say(format_args!("  {key} = {value}"));
        }
        // Line by line: control characters of each are escaped.
        self.diff.iter().flat_map(|diff| diff.lines()).for_each(ui::say);
    }
}

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
            "This checkout claims to be a clone of {claims}, which is known{known}."
        ));
        ui::say(
            "If you trust it, it shares that project's rules and cached results, and adds its own \
             to them. Until then it is kept separate.",
        );
        ui::say("Answer no if it came from somebody else: an archive can claim to be any project.");
    }
}

/// Confirms the claim, and moves the checkout's notes to the project.
pub(super) fn confirm_checkout(home: &Path, project: &Project) -> Result<()> {
    let project = ProjectRegistry::below(home).confirm(project.clone())?;
    let moved = memory_in(home).move_from_former_ids(&project)?;
    ui::say(format_args!("Trusted: this checkout, as a clone of {}", project.origin()));
    match moved {
        0 => {}
        1 => ui::say("1 memory was moved to the project"),
        moved => ui::say(format_args!("{moved} memories were moved to the project")),
    }
    Ok(())
}

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
            ui::hint(
                "the file cannot be accepted until this is fixed; rules that you accepted before stay in force",
            );
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
                "{file} has team rules. If you accept them, they become instructions for the agents that work here:"
            )),
            TeamRulesState::Changed if self.diff.is_empty() => {
                ui::say(format_args!("{file} has changed, but its rules have not."));
            }
            TeamRulesState::Changed => ui::say(format_args!(
                "{file} has changed since you accepted it. If you accept it, the instructions for the agents that work here change:"
            )),
            TeamRulesState::Gone => ui::say(format_args!(
                "{file} was deleted. If you accept this, its rules no longer apply to the agents that work here:"
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
        ui::say(format_args!("Team rules: {} added, {} removed", active.len(), retired.len()));
        for team::OverruledRule { rule, by } in &outvoted {
            ui::say(format_args!(
                "Your own rule takes precedence: {} ({}), not the team's: {} ({})",
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
