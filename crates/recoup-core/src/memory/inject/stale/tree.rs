//! Files of a project, as far as they can be listed quickly.

use std::path::Path;

use ignore::WalkBuilder;

use crate::base::glob::{self, SlashMatching};

/// Most files that are listed; if there are more, nothing is known to be missing.
const MOST: usize = 5_000;

/// Directories that are generated or fetched, which come and go.
const PASSED_OVER: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// Paths of a project, from its root.
#[derive(Debug)]
pub(super) struct ProjectTree {
    paths: Vec<String>,
    whole: bool,
}

impl ProjectTree {
    pub(super) fn of(root: &Path) -> Self {
        let passed = |name: &std::ffi::OsStr| PASSED_OVER.iter().any(|it| name == *it);
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .filter_entry(move |entry| entry.depth() == 0 || !passed(entry.file_name()))
            .build();
        let mut tree = Self { paths: Vec::new(), whole: true };
        for found in walk {
            let Ok(found) = found else {
                tree.whole = false;
                continue;
            };
            if tree.paths.len() >= MOST {
                tree.whole = false;
                break;
            }
            let Ok(inside) = found.path().strip_prefix(root) else { continue };
            tree.paths.push(inside.to_string_lossy().into_owned());
        }
        tree
    }

    /// True if certainly nothing in the project ends like `path`.
    pub(super) fn lacks(&self, path: &str) -> bool {
        let ends_so = |it: &String| {
            it.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        self.whole && !self.paths.iter().any(ends_so)
    }

    /// True if certainly no file matches; an invalid glob might match.
    pub(super) fn lacks_glob(&self, glob: &str) -> bool {
        let anywhere = format!("{{{glob},**/{glob}}}");
        let Ok(glob) = glob::compile_glob(&anywhere, SlashMatching::Separates) else {
            return false;
        };
        self.whole && !self.paths.iter().any(|it| glob.is_match(it))
    }

    /// Files with one of these names, from the root; none if the list is incomplete.
    pub(super) fn files_named(&self, names: &[&str]) -> Option<Vec<&str>> {
        let is_named =
            |path: &&String| names.contains(&path.rsplit('/').next().unwrap_or_default());
        self.whole.then(|| self.paths.iter().filter(is_named).map(String::as_str).collect())
    }
}
