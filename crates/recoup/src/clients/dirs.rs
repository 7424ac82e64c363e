//! Directories in which clients keep their settings.

use std::path::{Path, PathBuf};

use super::AgentClient;
use super::spec::{FileDir, UserDir};

/// The user's directories, and those of clients that variables such as `CODEX_HOME` have moved.
#[derive(Debug, Clone)]
pub struct ClientDirs {
    /// The user's home.
    pub(crate) home: PathBuf,
    /// Settings of programs: `~/.config`, or `XDG_CONFIG_HOME`.
    pub(crate) config: PathBuf,
    moved: Vec<(AgentClient, PathBuf)>,
}

impl ClientDirs {
    /// The default directories, without variables.
    pub fn below(home: &Path) -> Self {
        Self { home: home.to_owned(), config: home.join(".config"), moved: Vec::new() }
    }

    /// Places the programs' settings elsewhere than in `~/.config`.
    pub(crate) fn with_config(self, config: PathBuf) -> Self {
        Self { config, ..self }
    }

    /// Places a client's settings elsewhere.
    #[must_use]
    pub fn with_moved(mut self, client: AgentClient, dir: PathBuf) -> Self {
        self.moved.push((client, dir));
        self
    }

    /// Directory of a client's settings.
    pub(crate) fn of(&self, client: AgentClient) -> PathBuf {
        self.moved_dir(client).map_or_else(|| self.resolve(client.spec().dir), Path::to_path_buf)
    }

    /// True if one of the client's directories exists.
    pub(crate) fn has_any(&self, client: AgentClient) -> bool {
        let others = client.spec().other_dirs.iter().map(|dir| self.resolve(*dir));
        others.chain([self.of(client)]).any(|dir| dir.is_dir())
    }

    /// Directory that a client's file is in.
    pub(super) fn of_file(&self, client: AgentClient, dir: FileDir, root: &Path) -> PathBuf {
        match dir {
            FileDir::Client => self.of(client),
            FileDir::HomeOrMoved => self.home_or_moved(client),
            FileDir::Root => root.to_owned(),
        }
    }

    /// The home directory or, if a variable moves the client's directory, that one.
    pub(crate) fn home_or_moved(&self, client: AgentClient) -> PathBuf {
        self.moved_dir(client).unwrap_or(&self.home).to_owned()
    }

    fn moved_dir(&self, client: AgentClient) -> Option<&Path> {
        self.moved.iter().find(|(it, _)| *it == client).map(|(_, dir)| &**dir)
    }

    fn resolve(&self, dir: UserDir) -> PathBuf {
        match dir {
            UserDir::Home(path) => self.home.join(path),
            UserDir::ConfigOrMacHome(_, path) if cfg!(target_os = "macos") => self.home.join(path),
            UserDir::Config(path) | UserDir::ConfigOrMacHome(path, _) => self.config.join(path),
        }
    }
}

/// Everything that decides which settings a client reads.
#[derive(Debug, Clone, Copy)]
pub struct ClientPlaces<'a> {
    /// The user's directories.
    pub dirs: &'a ClientDirs,
    /// The project's root.
    pub root: &'a Path,
    /// Working directory of the client, if that is not the root: settings on the way to the root
    /// count too.
    pub cwd: Option<&'a Path>,
}
