//! The names of projects: entries know only ids. One small file for each, in
//! `~/.recoup/projects/`, with the path of its root.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::key::Scope;

/// No path is longer.
const MAX_LEN: u64 = 16 << 10;

fn dir_in(home: &Path) -> PathBuf {
    home.join("projects")
}

/// Remembers where a project is. One that is known by another root that is still
/// there is a second worktree or clone, and the first name stays.
pub(super) fn remember(home: &Path, project: &Project) {
    let file = dir_in(home).join(project.id().as_str());
    let known = fsx::read_regular(&file, MAX_LEN).ok().flatten();
    let root = project.root();
    let is_known = known.is_some_and(|known| {
        known == root.as_os_str().as_bytes() || path_of(&known).is_some_and(|path| path.is_dir())
    });
    if !is_known {
        // A name that can't be kept is only not shown.
        let _ = write(home, &file, root);
    }
}

fn write(home: &Path, file: &Path, root: &Path) -> Result<()> {
    fsx::ensure_dir(&dir_in(home))?;
    fsx::write_whole(file, root.as_os_str().as_bytes())
}

fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    let text = str::from_utf8(bytes).ok().filter(|text| text.starts_with('/'))?;
    Some(PathBuf::from(text))
}

/// What people call the scopes that are projects.
#[derive(Debug, Default)]
pub(super) struct Names {
    roots: BTreeMap<String, String>,
}

impl Names {
    /// All that are known.
    pub(super) fn read(home: &Path) -> Self {
        let mut roots = BTreeMap::new();
        for entry in std::fs::read_dir(dir_in(home)).into_iter().flatten().flatten() {
            let id = entry.file_name().to_str().and_then(|name| ProjectId::parse(name).ok());
            let Some(id) = id else { continue };
            let root = fsx::read_regular(&entry.path(), MAX_LEN).ok().flatten();
            if let Some(root) = root {
                let root = String::from_utf8_lossy(&root).into_owned();
                roots.insert(Scope::project(&id).to_string(), root);
            }
        }
        Self { roots }
    }

    /// Where they all are, or were.
    pub(super) fn all_roots(&self) -> Vec<PathBuf> {
        self.roots.values().map(PathBuf::from).collect()
    }

    /// The root of a scope that is a project, if it is known.
    pub(super) fn root(&self, scope: &Scope) -> Option<&str> {
        self.roots.get(scope.as_str()).map(String::as_str)
    }

    /// The last part of its root; with its parent, where two would be called the
    /// same. What is no project has its own name.
    pub(super) fn of(&self, scope: &Scope) -> String {
        let Some(root) = self.root(scope) else { return short(scope) };
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

/// `project:0123456…`
fn short(scope: &Scope) -> String {
    match scope.as_str().strip_prefix("project:") {
        Some(id) => format!("project:{}…", id.get(..7).unwrap_or(id)),
        None => scope.to_string(),
    }
}
