//! Paths of everything that is read and written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use recoup_core::Error;

use super::version::ClientVersion;
use crate::config::{ClientDirs, env};

/// Directories of the user, the clients and the project.
#[derive(Debug, Clone)]
pub(crate) struct InstallPaths {
    /// The user's home.
    pub(crate) home: PathBuf,
    /// Our own directory.
    pub(crate) own: PathBuf,
    /// Directory for settings of programs: `~/.config`, or `XDG_CONFIG_HOME`.
    pub(crate) config: PathBuf,
    /// `~/.claude`, or `CLAUDE_CONFIG_DIR`.
    pub(crate) claude: PathBuf,
    /// Claude Code's other file, beside its directory or, if that was moved, inside.
    pub(crate) claude_json: PathBuf,
    /// `~/.codex`, or `CODEX_HOME`.
    pub(crate) codex: PathBuf,
    /// `~/.pi/agent`, or `PI_CODING_AGENT_DIR`.
    pub(crate) pi: PathBuf,
    pub(crate) root: PathBuf,
    /// The search path for programs.
    pub(crate) search: Option<OsString>,
    /// Version of the installed Claude Code; none if unknown.
    pub(crate) claude_version: Option<ClientVersion>,
}

impl InstallPaths {
    /// Paths of an installation into a project, with our own directory in `own`.
    pub(crate) fn new(dirs: &ClientDirs, own: &Path, root: &Path) -> Self {
        let home = dirs.home().to_owned();
        let moved = |dir: &Option<PathBuf>, usual| dir.clone().unwrap_or_else(|| home.join(usual));
        Self {
            own: own.to_owned(),
            config: env::config_home().unwrap_or_else(|| home.join(".config")),
            claude: moved(&dirs.claude, ".claude"),
            claude_json: dirs.claude.as_ref().unwrap_or(&home).join(".claude.json"),
            codex: moved(&dirs.codex, ".codex"),
            pi: moved(&dirs.pi, ".pi/agent"),
            root: root.to_owned(),
            search: env::search_path(),
            claude_version: None,
            home,
        }
    }

    /// Finds a program on the search path.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let dirs = self.search.as_deref().map(std::env::split_paths)?;
        dirs.filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|path| is_program(path))
    }

    /// Returns the search path without the project's directories: the repository's authors decide
    /// what a name there runs.
    pub(crate) fn search_outside_project(&self) -> Vec<PathBuf> {
        let is_inside = |dir: &Path| {
            self.is_in_project(dir) || dir.canonicalize().is_ok_and(|it| self.is_in_project(&it))
        };
        let dirs = self.search.as_deref().map(std::env::split_paths).into_iter().flatten();
        dirs.filter(|dir| dir.is_absolute() && !is_inside(dir)).collect()
    }

    /// Returns the paths for another project.
    pub(crate) fn with_root(&self, root: &Path) -> Self {
        Self { root: root.to_owned(), ..self.clone() }
    }

    /// True if a path is in the project, and the project does not contain the user's home.
    pub(crate) fn is_in_project(&self, path: &Path) -> bool {
        path.starts_with(&self.root) && !self.home.starts_with(&self.root)
    }

    /// A path as people write it: `~/.claude/settings.json`, `.mcp.json` in the project.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let in_project = path.strip_prefix(&self.root).ok();
        if let Some(rest) = in_project.filter(|_| !self.home.starts_with(&self.root)) {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// Abbreviates the home directory in an error message.
    pub(crate) fn shorten_paths(&self, error: Error) -> Error {
        let (said, home) = (format!(" {error}"), self.home.display());
        let shown = said.replace(&format!(" {home}/"), " ~/");
        if shown == said { error } else { Error::new(error.kind(), &shown[1..]) }
    }
}

/// True if the file is executable.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
