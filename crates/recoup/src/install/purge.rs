//! Deleting everything that is remembered and kept: only what is known to be ours.

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::{Error, Result};

/// What recoup keeps in its own directory. What begins with one of the databases belongs to it.
const OURS: [&str; 21] = [
    "backups",
    "breakers",
    "claims",
    "config.toml",
    "early-exit",
    "history",
    "hooks",
    "install.lock",
    "installed.json",
    "judge.json",
    "judge.lock",
    "ledger",
    "logs",
    "mcp-token",
    "mirrors.json",
    "mirrors.lock",
    "projects",
    "queue",
    "trust.json",
    "trust.lock",
    "trusted",
];

/// The databases, with what SQLite and we put beside them.
const DATABASES: [&str; 3] = ["cache.db", "memory.db", "near.db"];

/// What is in our own directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Purge {
    /// To be deleted.
    pub(crate) ours: Vec<PathBuf>,
    /// Not known, and left.
    pub(crate) others: Vec<PathBuf>,
}

/// Looks at what is there. A directory that can't be ours alone is refused.
pub(crate) fn look(own: &Path, user_home: &Path) -> Result<Purge> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (own_real, home) = (real(own), real(user_home));
    if own_real.parent().is_none() || home.starts_with(&own_real) || own.join(".git").exists() {
        return Err(Error::usage(format!(
            "{} is not a directory of recoup's alone: nothing in it is deleted; remove by hand what \
             you no longer want",
            own.display()
        )));
    }
    let mut found = Purge::default();
    let Ok(entries) = fs::read_dir(own) else { return Ok(found) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_ours(&name) { found.ours.push(entry.path()) } else { found.others.push(entry.path()) }
    }
    found.ours.sort();
    found.others.sort();
    Ok(found)
}

/// Deletes it, and the directory if nothing is left in it.
pub(crate) fn carry_out(own: &Path, user_home: &Path) -> Result<()> {
    look(own, user_home)?.ours.iter().try_for_each(|path| fsx::remove_tree(path))?;
    if !own.is_symlink() {
        fsx::remove_empty_dir(own)?;
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    let database = |base: &str| {
        let rest = name.strip_prefix(base);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    };
    OURS.contains(&name) || DATABASES.into_iter().any(database) || fsx::is_hidden_temporary(name)
}
