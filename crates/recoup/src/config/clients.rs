//! Directories in which clients keep their settings; looked up only by commands that need them.

use std::path::{Path, PathBuf};

use recoup_core::memory::hooked;

use super::env;
use crate::install;

/// The directories of the clients.
#[derive(Debug)]
pub(crate) struct ClientDirs {
    home: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
    pi: Option<PathBuf>,
}

impl ClientDirs {
    /// Finds the directories of a client that is started in `cwd`.
    pub(crate) fn find(cwd: &Path) -> Self {
        let home = env::user_home().unwrap_or_default();
        let moved = |variable| {
            let path = env::path(variable)?;
            Some(path.strip_prefix("~").map_or_else(|_| cwd.join(&path), |rest| home.join(rest)))
        };
        Self {
            claude: moved(&env::CLAUDE_CONFIG_DIR),
            codex: moved(&env::CODEX_HOME),
            pi: moved(&env::PI_CODING_AGENT_DIR),
            home,
        }
    }

    /// The user's home.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Claude Code's directory.
    pub(crate) fn claude_code(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// Directories of the user's and the project's settings.
    pub(crate) fn in_project<'a>(
        &'a self,
        root: &'a Path,
        cwd: &'a Path,
    ) -> hooked::ClientPlaces<'a> {
        hooked::ClientPlaces {
            cwd: Some(cwd),
            claude_dir: self.claude.as_deref(),
            codex_dir: self.codex.as_deref(),
            pi_dir: self.pi.as_deref(),
            ..hooked::ClientPlaces::new(&self.home, root)
        }
    }

    /// All paths that an installation reads and writes, with our own directory in `own`.
    pub(crate) fn for_install(&self, own: &Path, root: &Path) -> install::InstallPaths {
        let of_home = |moved: &Option<PathBuf>, usual: &str| {
            moved.clone().unwrap_or_else(|| self.home.join(usual))
        };
        let beside = self.claude.as_ref().unwrap_or(&self.home);
        install::InstallPaths {
            own: own.to_owned(),
            config: env::config_home().unwrap_or_else(|| self.home.join(".config")),
            claude: of_home(&self.claude, ".claude"),
            claude_json: beside.join(".claude.json"),
            codex: of_home(&self.codex, ".codex"),
            pi: of_home(&self.pi, ".pi/agent"),
            root: root.to_owned(),
            search: env::search_path(),
            claude_version: None,
            home: self.home.clone(),
        }
    }
}
