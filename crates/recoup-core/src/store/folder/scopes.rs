//! Scopes as sub-directories: `tenant:NAME` is `tenant/NAME`, and `global` is the directory itself.
//! Scope names are validated, so none leads elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{StoreFolder, visit_entries};
use crate::error::{IoContext as _, Result};
use crate::key::Scope;

/// Scope types: the text before the colon.
const SCOPE_TYPES: [&str; 3] = ["project", "tenant", "session"];

impl StoreFolder {
    /// The directory of a scope.
    pub(in crate::store) fn scope_dir(&self, scope: &Scope) -> PathBuf {
        match scope.as_str().split_once(':') {
            None => self.root().to_owned(),
            Some((sort, name)) => self.root().join(sort).join(name),
        }
    }

    /// The scopes that have a directory; `global` always does.
    pub(in crate::store) fn scopes(&self) -> Result<Vec<Scope>> {
        let mut scopes = vec![Scope::global()];
        for sort in SCOPE_TYPES {
            let names = directories_in(&self.root().join(sort))?;
            scopes.extend(
                names.iter().filter_map(|name| Scope::parse(&format!("{sort}:{name}")).ok()),
            );
        }
        Ok(scopes)
    }
}

/// The names of the sub-directories. Links are not followed, neither below `dir` nor in its place,
/// and files are skipped.
fn directories_in(dir: &Path) -> Result<Vec<String>> {
    let is_dir = fs::symlink_metadata(dir).map(|found| found.is_dir());
    match is_dir {
        Ok(false) => return Ok(Vec::new()),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        looked => looked.with_context(|| format!("looking at {}", dir.display()))?,
    };
    let mut names = Vec::new();
    visit_entries(dir, &mut |entry, name| {
        if entry.file_type().is_ok_and(|sort| sort.is_dir()) {
            names.push(name.to_owned());
        }
    })?;
    Ok(names)
}
