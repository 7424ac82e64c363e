//! The kinds of entries. Closed on purpose: a new kind does not compile until
//! everything that distinguishes kinds has decided about it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of work that an entry stands for. Limits are counted for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A skill's or sub-agent's result, filed by hand (contract 1).
    Result,
    /// The answer of one agent run (contract 3).
    AgentRun,
    /// Output and exit status of a command (contract 2).
    Command,
}

impl Kind {
    /// Every kind there is.
    pub const ALL: [Self; 3] = [Self::Result, Self::AgentRun, Self::Command];

    /// The name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::AgentRun => "agent-run",
            Self::Command => "command",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
