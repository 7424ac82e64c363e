//! The only place that reads the environment. Every variable is declared here,
//! once, and `recoup --help` lists them from here.
#![expect(clippy::disallowed_methods, reason = "this is the one place that asks")]

use std::path::PathBuf;

use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};

/// A variable that means something to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

pub(super) const HOME: EnvVar = EnvVar { name: "HOME", meaning: "the user's home directory" };
pub(super) const RECOUP_HOME: EnvVar =
    EnvVar { name: "RECOUP_HOME", meaning: "where recoup keeps its files (default: ~/.recoup)" };
pub(super) const RECOUP_STORE: EnvVar = EnvVar {
    name: "RECOUP_STORE",
    meaning: "where entries are kept (default: sqlite:~/.recoup/cache.db)",
};
pub(super) const RECOUP_SCOPE: EnvVar =
    EnvVar { name: "RECOUP_SCOPE", meaning: "who shares them (default: project)" };
const NO_COLOR: EnvVar = EnvVar { name: "NO_COLOR", meaning: "when set, output has no colours" };

/// All of them, for people.
pub const VARIABLES: [EnvVar; 5] = [RECOUP_HOME, RECOUP_STORE, RECOUP_SCOPE, HOME, NO_COLOR];

/// A path; an empty value is none.
pub(super) fn path(variable: &EnvVar) -> Option<PathBuf> {
    std::env::var_os(variable.name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Text; an empty value is none.
pub(super) fn text(variable: &EnvVar) -> Result<Option<String>> {
    match std::env::var_os(variable.name).filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => value.into_string().map(Some).map_err(|value| {
            Error::usage(format!("{} is not valid UTF-8: {}", variable.name, value.display()))
        }),
    }
}

pub(super) fn current_dir() -> Result<PathBuf> {
    std::env::current_dir().doing(|| "finding the working directory".to_owned())
}
