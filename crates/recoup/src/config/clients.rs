//! Directories in which clients keep their settings; looked up only by commands that need them.

use std::path::{Path, PathBuf};

use crate::hooked;

use super::env;

/// The directories of the clients.
#[derive(Debug)]
pub(crate) struct ClientDirs {
    home: PathBuf,
    pub(crate) claude: Option<PathBuf>,
    pub(crate) codex: Option<PathBuf>,
    pub(crate) pi: Option<PathBuf>,
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
}
