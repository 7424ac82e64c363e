//! Sharing of entries: by everyone, one project, one tenant or one session.

use std::fmt;
use std::sync::Arc;

use crate::base::name::SafeName;
use crate::base::project::ProjectId;
use crate::error::{Error, Result};

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
