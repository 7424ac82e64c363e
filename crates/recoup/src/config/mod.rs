//! What is meant, from what was said: built-in values, the environment, flags.
//!
//! [`Overrides`] is what was typed; [`Settings`] is what it amounts to, with
//! nothing left to interpret. Loading has no side effects.

mod env;

use std::path::{Path, PathBuf};

use recoup_core::base::project::Project;
use recoup_core::key::Scope;
use recoup_core::store::StoreUrl;
use recoup_core::{Error, Result};

pub use env::{EnvVar, VARIABLES};

/// What flags say. They win over everything.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--store`
    pub store: Option<String>,
    /// `--scope`
    pub scope: Option<String>,
}

/// What a command works with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the command was started.
    pub cwd: PathBuf,
    /// Our own directory.
    pub home: PathBuf,
    /// Where entries are kept.
    pub store: StoreUrl,
    /// Who shares them.
    pub scope: ScopeChoice,
}

/// The scope that was asked for. The project is looked for only when needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeChoice {
    /// The current project.
    Project,
    /// This one.
    Named(Scope),
}

impl Settings {
    /// Reads everything that has a say.
    pub fn load(overrides: &Overrides) -> Result<Self> {
        let cwd = env::current_dir()?;
        let user_home = env::path(&env::HOME);
        let home = recoup_home(&cwd, user_home.as_deref())?;
        let store = match overrides.store.clone().or(env::text(&env::RECOUP_STORE)?) {
            Some(url) => StoreUrl::parse(&url, &cwd, user_home.as_deref())?,
            None => StoreUrl::Sqlite(home.join("cache.db")),
        };
        let scope = overrides.scope.clone().or(env::text(&env::RECOUP_SCOPE)?);
        let scope = scope.as_deref().map_or(Ok(ScopeChoice::Project), ScopeChoice::parse)?;
        Ok(Self { cwd, home, store, scope })
    }
}

impl ScopeChoice {
    fn parse(text: &str) -> Result<Self> {
        if text == "project" {
            return Ok(Self::Project);
        }
        Scope::parse(text).map(Self::Named).map_err(|_| {
            Error::usage(format!(
                "invalid scope {text:?}: expected project, global, tenant:NAME, session:NAME or project:ID"
            ))
        })
    }

    /// The scope itself.
    pub fn resolve(&self, project: impl FnOnce() -> Result<Project>) -> Result<Scope> {
        match self {
            Self::Project => project().map(|project| Scope::project(project.id())),
            Self::Named(scope) => Ok(scope.clone()),
        }
    }
}

fn recoup_home(cwd: &Path, user_home: Option<&Path>) -> Result<PathBuf> {
    match (env::path(&env::RECOUP_HOME), user_home) {
        (Some(home), _) => Ok(cwd.join(home)),
        (None, Some(user)) => Ok(user.join(".recoup")),
        (None, None) => Err(Error::usage(
            "there is no home directory: set RECOUP_HOME to the directory that recoup may use",
        )),
    }
}
