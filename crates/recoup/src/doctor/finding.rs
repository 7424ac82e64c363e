//! Findings of checks: words for a person, and facts without private data for a bug report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recoup_core::secrets;
use serde::{Serialize, Serializer};

use crate::install::{AgentClient, ClientInstallation, InstallLevel};

/// Severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingState {
    /// As it should be.
    Ok,
    /// Nothing to check, or it could not be checked.
    Skipped,
    /// Works, but not as well as it could.
    Warn,
    /// Does not work.
    Fail,
}

/// One result of a check.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DoctorFinding {
    /// Name of the check; `home` if even the context could not be collected.
    pub(crate) check: &'static str,
    pub(crate) state: FindingState,
    /// Stable identifier of the result.
    pub(crate) code: &'static str,
    /// Description for a person.
    pub(crate) what: String,
    /// Instruction for the user.
    pub(crate) remedy: Option<String>,
    /// The repair that `--fix` would do; serialized as a `bool`.
    #[serde(rename = "fixable", serialize_with = "is_there")]
    pub(crate) fix: Option<RepairAction>,
    pub(crate) facts: BTreeMap<&'static str, FindingFact>,
}

/// A repair that `--fix` can do. None deletes a file, or touches one of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RepairAction {
    /// Close these to other users.
    MakePrivate(Vec<PathBuf>),
    /// Run `recoup init` for a client, in the user's own files.
    Install(AgentClient),
    /// Start a worker for a project, in its root.
    Work { project: String, root: PathBuf },
    /// Repair the memory database, or set it aside and recover what can be read.
    MendMemory,
    /// Repair that cache file, or set it aside.
    MendCache(PathBuf),
}

/// A fact that is safe to publish: none is made from text that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum FindingFact {
    Number(u64),
    Yes(bool),
    Word(&'static str),
    Version(String),
}

impl FindingFact {
    /// A version, if the text looks like one.
    pub(super) fn version(text: &str) -> Self {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let is_one = text.len() <= 24 && text.starts_with(|c: char| c.is_ascii_digit());
        if is_one && text.chars().all(is_part) {
            Self::Version(text.to_owned())
        } else {
            Self::Word("another")
        }
    }
}

impl From<u64> for FindingFact {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for FindingFact {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<bool> for FindingFact {
    fn from(yes: bool) -> Self {
        Self::Yes(yes)
    }
}

impl From<&'static str> for FindingFact {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl DoctorFinding {
    fn new(state: FindingState, code: &'static str, what: String) -> Self {
        let facts = BTreeMap::new();
        Self { check: "home", state, code, what, remedy: None, fix: None, facts }
    }

    pub(super) fn ok(what: impl Into<String>) -> Self {
        Self::new(FindingState::Ok, "ok", what.into())
    }

    pub(super) fn skipped(code: &'static str, what: impl Into<String>) -> Self {
        Self::new(FindingState::Skipped, code, what.into())
    }

    pub(super) fn warn(code: &'static str, what: impl Into<String>) -> Self {
        Self::new(FindingState::Warn, code, what.into())
    }

    pub(super) fn fail(code: &'static str, what: impl Into<String>) -> Self {
        Self::new(FindingState::Fail, code, what.into())
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds client and level of an installation.
    pub(super) fn about(self, of: &ClientInstallation) -> Self {
        self.about_client(of.client, of.level)
    }

    pub(super) fn about_client(self, client: AgentClient, level: InstallLevel) -> Self {
        self.fact("client", client.as_str()).fact("level", level.as_str())
    }

    /// Sets the check, and redacts secrets: a finding may quote other programs' files.
    pub(super) fn of_check(mut self, check: &'static str) -> Self {
        self.check = check;
        self.what = secrets::redact(&self.what).into_owned();
        self.remedy = self.remedy.map(|remedy| secrets::redact(&remedy).into_owned());
        self
    }

    pub(super) fn fix(mut self, fix: RepairAction) -> Self {
        self.fix = Some(fix);
        self
    }

    pub(super) fn fact(mut self, name: &'static str, fact: impl Into<FindingFact>) -> Self {
        self.facts.insert(name, fact.into());
        self
    }
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn is_there<S: Serializer>(fix: &Option<RepairAction>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(fix.is_some())
}
