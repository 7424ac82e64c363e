//! The configured scope: a name, or the current project.

use std::fmt;

use recoup_core::base::project::Project;
use recoup_core::key::Scope;
use recoup_core::{Error, Result};

/// The configured scope of entries, before the project is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScopeChoice {
    /// The current project.
    Project,
    /// A scope by name.
    Named(Scope),
}

impl ScopeChoice {
    pub(super) fn parse(text: &str) -> Result<Self> {
        if text == "project" {
            return Ok(Self::Project);
        }
        Scope::parse(text).map(Self::Named).map_err(|_| {
            Error::usage(format!(
                "invalid scope {text:?}: expected project, global, tenant:NAME, session:NAME or project:ID"
            ))
        })
    }

    pub(super) fn resolve(self, project: &Project) -> Scope {
        match self {
            Self::Project => Scope::project(project.id()),
            Self::Named(scope) => scope,
        }
    }
}

impl fmt::Display for ScopeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project => f.write_str("project"),
            Self::Named(scope) => write!(f, "{scope}"),
        }
    }
}
