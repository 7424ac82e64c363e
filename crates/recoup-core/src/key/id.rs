//! Identity of an entry: a key within a scope, where the same key in two scopes is two entries; and
//! the kind of work that the entry stands for.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::name::SafeName;
use crate::base::project::ProjectId;
use crate::error::{Error, Result};

/// A validated key: most are 64 hex digits, but any name will do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(SafeName);

impl Key {
    /// Validates a key that was typed or stored.
    pub fn parse(text: &str) -> Result<Self> {
        SafeName::parse("key", text).map(Self)
    }

    /// The key of a list of inputs. The order counts, and so does where each input ends.
    ///
    /// ```
    /// use recoup_core::key::Key;
    ///
    /// let review = Key::of(["review", "src/lib.rs", "v2"]);
    /// assert_eq!(review, Key::of(["review", "src/lib.rs", "v2"]));
    /// assert_ne!(review, Key::of(["review", "src/lib.rsv2"]));
    /// ```
    pub fn of<T: AsRef<[u8]>>(inputs: impl IntoIterator<Item = T>) -> Self {
        let mut hasher = Sha256Hasher::new();
        for input in inputs {
            let input = input.as_ref();
            hasher.update(&(input.len() as u64).to_be_bytes());
            hasher.update(input);
        }
        Self::from_digest(hasher.finish())
    }

    /// The key that a digest spells.
    pub fn from_digest(digest: Sha256Digest) -> Self {
        Self(SafeName::from_digest(digest))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identity of an entry in a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// Scope of the entry.
    pub scope: Scope,
    /// Key within the scope.
    pub key: Key,
}

impl EntryId {
    /// `key` in `scope`.
    pub fn new(scope: Scope, key: Key) -> Self {
        Self { scope, key }
    }
}

/// `scope/key`
impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scope, self.key)
    }
}

/// The set of callers that share an entry. Its text is what stores keep: `global`, `project:ID`,
/// `tenant:NAME`, `session:NAME`.
///
/// Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(Arc<str>);

impl Scope {
    /// Shared by everything on this store.
    pub fn global() -> Self {
        Self("global".into())
    }

    /// Shared by a project's worktrees and clones.
    pub fn project(id: &ProjectId) -> Self {
        Self(format!("project:{id}").into())
    }

    /// Shared by all users of a tenant's name.
    pub fn tenant(name: &SafeName) -> Self {
        Self(format!("tenant:{name}").into())
    }

    /// One session's own.
    pub fn session(name: &SafeName) -> Self {
        Self(format!("session:{name}").into())
    }

    /// Reads a scope's text.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "global" => Ok(Self::global()),
            Some(("project", id)) => ProjectId::parse(id).map(|id| Self::project(&id)),
            Some(("tenant", name)) => {
                SafeName::parse("tenant", name).map(|name| Self::tenant(&name))
            }
            Some(("session", name)) => {
                SafeName::parse("session", name).map(|name| Self::session(&name))
            }
            _ => Err(Error::usage(format!(
                "invalid scope {text:?}: expected global, project:ID, tenant:NAME or session:NAME"
            ))),
        }
    }

    /// The scope as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Kind of work that an entry stands for. Limits are counted for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A skill's or sub-agent's result, stored by hand.
    Result,
    /// The answer of one agent run, as the file-cache format names it.
    AgentRun,
    /// The answer of an agent (contract 2).
    Agent,
    /// Output and exit status of a command.
    Command,
    /// Result of a tool call (contract 2).
    Tool,
    /// Answer of a model API (contract 7).
    ModelRequest,
}

impl Kind {
    /// Every kind there is.
    pub const ALL: [Self; 6] =
        [Self::Result, Self::AgentRun, Self::Agent, Self::Command, Self::Tool, Self::ModelRequest];

    /// The name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::AgentRun => "agent-run",
            Self::Agent => "agent",
            Self::Command => "command",
            Self::Tool => "tool",
            Self::ModelRequest => "model-request",
        }
    }

    /// Maximum number of entries in a scope where the user gives none; `None` for no limit.
    pub(crate) fn default_max_entries(self) -> Option<u64> {
        match self {
            Self::Result | Self::AgentRun | Self::Command | Self::ModelRequest => None,
            // As in contract 2.
            Self::Agent | Self::Tool => Some(5_000),
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
