//! The team's rules, for the user to accept: changes since they were last accepted, and problems in
//! the file.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::NoteScope;
use recoup_core::memory::team::{self, Accepted, Diff, Rule, TeamRules};
use serde::Serialize;

use crate::cli::app::memory_in;
use crate::cli::mirror::refresh_mirrors;
use crate::cli::team::{Changes, tell};
use crate::cli::ui;
use crate::config::trust::{self, Granted, Ledger};

/// The team's file, compared with what was accepted of it.
#[derive(Serialize)]
pub(super) struct Team {
    file: &'static str,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Digest>,
    #[serde(flatten)]
    changes: Changes,
    problems: Vec<Fault>,
    #[serde(skip)]
    bytes: Option<Vec<u8>>,
    #[serde(skip)]
    rules: Vec<Rule>,
    #[serde(skip)]
    before: Vec<Rule>,
    #[serde(skip)]
    diff: Diff,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Trusted,
    Changed,
    Gone,
    New,
    /// The file has problems and can't be accepted.
    Refused,
}

/// A problem in the file.
#[derive(Serialize)]
struct Fault {
    line: Option<usize>,
    why: String,
}

impl Team {
    /// Compares the file with what was accepted; none if there is neither.
    pub(super) fn look(home: &Path, project: &Project, ledger: &Ledger) -> Result<Option<Self>> {
        let accepted = ledger.of_project(project.id(), team::FILE);
        let (bytes, mut faults) = match team::read(project.root()) {
            Ok(bytes) => (bytes, Vec::new()),
            Err(error) => (None, vec![Fault { line: None, why: error.to_string() }]),
        };
        if bytes.is_none() && faults.is_empty() && accepted.is_none() {
            return Ok(None);
        }
        let sha256 = bytes.as_deref().map(Digest::of);
        let TeamRules { rules, .. } = bytes.as_deref().map_or_else(TeamRules::default, |bytes| {
            team::parse(bytes).unwrap_or_else(|problems| {
                let fault = |it: team::Problem| Fault { line: Some(it.line), why: it.why };
                faults.extend(problems.into_iter().map(fault));
                TeamRules::default()
            })
        });
        let mut before = trust::accepted_text(home, ledger, project.id())
            .and_then(|text| team::parse(text.as_bytes()).ok())
            .map_or_else(Vec::new, |team| team.rules);
        let mut state = match (&bytes, accepted) {
            _ if !faults.is_empty() => State::Refused,
            (None, _) => State::Gone,
            (Some(_), None) => State::New,
            (Some(_), Some(digest)) if Some(digest) == sha256 => State::Trusted,
            (Some(_), Some(_)) => State::Changed,
        };
        let lost = state == State::Trusted
            && !rules.is_empty()
            && !memory_in(home).knows_team(&scope(project), &rules)?;
        if lost {
            // Memory was recreated since, and lacks the accepted rules.
            (state, before) = (State::New, Vec::new());
        }
        let diff = team::diff(&before, &rules);
        let changes = if state == State::Refused { Changes::default() } else { Changes::of(&diff) };
        let (file, problems) = (team::FILE, faults);
        Ok(Some(Self { file, state, sha256, changes, problems, bytes, rules, before, diff }))
    }

    /// True if the user has to decide.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::New | State::Changed | State::Gone)
    }

    /// True if the file can be accepted.
    pub(super) fn is_sound(&self) -> bool {
        self.state != State::Refused
    }

    pub(super) fn tell_faults(&self) {
        for Fault { line, why } in &self.problems {
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
    pub(super) fn tell(&self) {
        let file = self.file;
        match self.state {
            State::New if self.rules.is_empty() => {
                ui::say(format_args!("{file} has no rules yet."));
            }
            State::New => ui::say(format_args!(
                "{file} has rules of the team. Accepted, they are instructions for the agents that work here:"
            )),
            State::Changed if self.diff.is_empty() => {
                ui::say(format_args!("{file} has changed, its rules have not."));
            }
            State::Changed => ui::say(format_args!(
                "{file} has changed since you accepted it. Accepted, this changes the instructions for the agents that work here:"
            )),
            State::Gone => ui::say(format_args!(
                "{file} is gone. Accepted, its rules are no longer instructions for the agents that work here:"
            )),
            State::Trusted | State::Refused => return,
        }
        tell(&self.diff);
    }

    /// Applies the rules to memory.
    pub(super) fn accept(&self, home: &Path, project: &Project) -> Result<()> {
        fsx::ensure_private_dir(home)?;
        let Accepted { active, retired, outvoted } =
            memory_in(home).accept_team(&scope(project), &self.rules, &self.before)?;
        if self.bytes.is_none() {
            trust::withdraw(home, project.id(), self.file)?;
        }
        refresh_mirrors(home, project, &[scope(project)]);
        ui::say(format_args!(
            "Rules of the team: {} new, {} no longer",
            active.len(),
            retired.len()
        ));
        for team::Outvoted { rule, by } in &outvoted {
            ui::say(format_args!(
                "What you said stays: {} ({}), and not: {} ({})",
                by.text, by.id, rule.text, rule.id
            ));
        }
        Ok(())
    }

    /// The grant to be recorded; none if the file is gone.
    pub(super) fn granted<'a>(&'a self, project: &'a Project) -> Option<Granted<'a>> {
        let text = self.bytes.as_deref()?;
        Some(Granted { name: self.file, text, project: Some(project.id()) })
    }
}

fn scope(project: &Project) -> NoteScope {
    NoteScope::Project(project.id().clone())
}
