//! Names of projects: entries know only ids. The registry in `~/.recoup/projects/` has the path of
//! a root for each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recoup_core::base::project::ProjectRegistry;
use recoup_core::key::Scope;

/// Display names of scopes that are projects.
#[derive(Debug, Default)]
pub(crate) struct ProjectNames {
    roots: BTreeMap<String, String>,
}

impl ProjectNames {
    /// Reads all known projects.
    pub(crate) fn read(home: &Path) -> Self {
        let noted = ProjectRegistry::below(home).all_records().into_iter();
        let named = noted.filter(|(_, note)| !note.root.is_empty());
        let roots = named.map(|(id, note)| (Scope::project(&id).to_string(), note.root)).collect();
        Self { roots }
    }

    /// Roots of all known projects; some may be gone.
    pub(crate) fn all_roots(&self) -> Vec<PathBuf> {
        self.roots.values().map(PathBuf::from).collect()
    }

    /// The root of a scope that is a project, if it is known.
    pub(crate) fn root(&self, scope: &Scope) -> Option<&str> {
        self.roots.get(scope.as_str()).map(String::as_str)
    }

    /// Display name: the last component of the project's root, with its parent if that is
    /// ambiguous. Other scopes have their own name.
    pub(crate) fn display_name(&self, scope: &Scope) -> String {
        let Some(root) = self.root(scope) else {
            return match scope.as_str().strip_prefix("project:") {
                Some(id) => format!("project:{}…", id.get(..7).unwrap_or(id)),
                None => scope.to_string(),
            };
        };
        let last = |root: &str| root.rsplit('/').next().unwrap_or(root).to_owned();
        let name = last(root);
        let alike = self.roots.values().filter(|other| last(other) == name).count();
        let parent = Path::new(root).parent().and_then(Path::file_name);
        match parent {
            Some(parent) if alike > 1 => format!("{}/{name}", parent.to_string_lossy()),
            _ if name.is_empty() => root.to_owned(),
            _ => name,
        }
    }
}
