//! Scopes as sub-directories: `tenant:NAME` is `tenant/NAME`, and `global` is
//! the directory itself. Scopes are validated names, so none leads elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Folder;
use crate::error::{IoContext as _, Result};
use crate::key::Scope;

/// What stands before the colon.
const SORTS: [&str; 3] = ["project", "tenant", "session"];

impl Folder {
    /// Where the files of a scope are.
    pub(in crate::store) fn of(&self, scope: &Scope) -> PathBuf {
        match scope.as_str().split_once(':') {
            None => self.root().to_owned(),
            Some((sort, name)) => self.root().join(sort).join(name),
        }
    }

    /// The scopes that have a directory; `global` always has.
    pub(in crate::store) fn scopes(&self) -> Result<Vec<Scope>> {
        let mut scopes = vec![Scope::global()];
        for sort in SORTS {
            let names = directories_in(&self.root().join(sort))?;
            scopes.extend(
                names.iter().filter_map(|name| Scope::parse(&format!("{sort}:{name}")).ok()),
            );
        }
        Ok(scopes)
    }
}

/// Links are not followed: what they lead to is somebody else's.
fn directories_in(dir: &Path) -> Result<Vec<String>> {
    let listing = || format!("listing {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        entries => entries.doing(listing)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.doing(listing)?;
        if entry.file_type().doing(listing)?.is_dir() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    Ok(names)
}
