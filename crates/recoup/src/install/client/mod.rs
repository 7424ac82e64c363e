//! The clients: how each is detected on a machine, which files it reads, and what goes into them.

mod servers_only;
mod with_hooks;

use std::path::PathBuf;

use crate::hooked;
use recoup_core::memory::HookClient;
use serde::{Deserialize, Serialize};

use super::edit::JsonDialect;
use super::places::InstallPaths;
use super::version::ClientVersion;
pub(crate) use crate::clients::AgentClient;
pub(crate) use with_hooks::TEAM_FILE;

/// Reach of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InstallLevel {
    /// Everything that this user does.
    User,
    /// One project.
    Project,
}

/// A settings file of a client, and the content that we add to it.
#[derive(Debug, Clone)]
pub(crate) struct SettingsFile {
    pub(crate) client: AgentClient,
    pub(crate) level: InstallLevel,
    pub(crate) path: PathBuf,
    /// True if the repository shares the file with others: then it must not hold a path of this
    /// machine.
    pub(crate) shared: bool,
    pub(crate) holds: SettingsContent,
}

/// Content that we add to a settings file.
#[derive(Debug, Clone)]
pub(crate) enum SettingsContent {
    /// Commands for events.
    Hooks(HookLayout),
    /// A server among others.
    Servers(ServerLayout),
    /// A server among others, in TOML.
    TomlServers,
    /// The whole file: Pi's extension.
    Extension,
}

/// Hook layout of a client: `{"hooks": {EVENT: [{"hooks": [HOOK…]}…]…}}`.
#[derive(Debug, Clone)]
pub(crate) struct HookLayout {
    /// The events in use, each with its timeout in seconds.
    pub(crate) events: Vec<(&'static str, u64)>,
    pub(crate) form: HookCommandForm,
    /// Arguments of our program.
    pub(crate) args: &'static [&'static str],
}

/// How a hook names its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookCommandForm {
    /// A program in `command` and a list in `args`: starts no shell.
    Exec,
    /// A shell line in `command`; `args` is not supported.
    Shell,
}

/// Location and layout of a client's MCP servers.
#[derive(Debug, Clone)]
pub(crate) struct ServerLayout {
    /// Path of the object with all servers.
    pub(crate) at: Vec<String>,
    pub(crate) shape: ServerEntryShape,
    pub(crate) dialect: JsonDialect,
}

/// Layout of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEntryShape {
    /// `{"command": …, "args": […]}`
    Plain,
    /// `Plain` with `"type": "stdio"`.
    Typed,
    /// `Plain` with `"source": "custom"`.
    Custom,
    /// `{"type": "local", "command": [PROGRAM, ARGUMENT…], "enabled": true}`
    Local,
}

impl AgentClient {
    /// Returns the settings file that disables all hooks, for the user or in the project. What is
    /// off for the user is off in every project that does not switch it on.
    pub(crate) fn file_disabling_hooks(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Option<PathBuf> {
        let known = self.as_hook_client()?;
        let user = match known {
            HookClient::ClaudeCode => &places.claude,
            HookClient::Codex => &places.codex,
            HookClient::Pi => &places.pi,
        };
        let root = (level == InstallLevel::Project).then_some(&*places.root);
        hooked::hooks_disabled_by(known, user, root)
    }

    /// Returns the installed version, if it is known.
    pub(crate) fn version(self, places: &InstallPaths) -> Option<ClientVersion> {
        places.claude_version.filter(|_| self == Self::ClaudeCode)
    }

    /// Returns the events in use that the installed version is known not to support.
    pub(crate) fn unknown_events(self, places: &InstallPaths) -> Vec<&'static str> {
        if self == Self::ClaudeCode { with_hooks::unknown_events(places) } else { Vec::new() }
    }

    /// False if the installed version is known not to support a hook's `args`.
    pub(crate) fn knows_args(self, places: &InstallPaths) -> bool {
        self != Self::ClaudeCode || with_hooks::knows_args(places)
    }

    /// True if the client is on this machine: its directory or its program exists.
    pub(crate) fn is_present(self, places: &InstallPaths) -> bool {
        let (dirs, programs): (Vec<PathBuf>, &[&str]) = match self {
            Self::ClaudeCode => (vec![places.claude.clone()], &["claude"]),
            Self::Codex => (vec![places.codex.clone()], &["codex"]),
            Self::Pi => (vec![places.pi.clone()], &["pi"]),
            _ => servers_only::detection_hints(self, places),
        };
        dirs.iter().any(|dir| dir.is_dir())
            || programs.iter().any(|name| places.find_program(name).is_some())
    }

    /// Returns the files that the client reads at a level; none if it has no such level.
    pub(crate) fn settings_files(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Vec<SettingsFile> {
        match self {
            Self::ClaudeCode => with_hooks::claude_code_files(level, places),
            Self::Codex => with_hooks::codex_files(level, places),
            Self::Pi => with_hooks::pi_files(level, places),
            _ => servers_only::settings_file(self, level, places).into_iter().collect(),
        }
    }

    /// Returns the files with MCP servers that the client reads at a level, also those that we never
    /// add our own server to: a project's `.mcp.json` is its team's.
    pub(crate) fn server_files(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Vec<SettingsFile> {
        let is_of_servers = |file: &SettingsFile| {
            matches!(file.holds, SettingsContent::Servers(_) | SettingsContent::TomlServers)
        };
        let mut files = self.settings_files(level, places);
        files.retain(is_of_servers);
        if self == Self::ClaudeCode && level == InstallLevel::Project {
            files.push(with_hooks::claude_code_team_file(places));
        }
        files
    }
}

impl InstallLevel {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    /// Name in files and messages.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl SettingsFile {
    fn new(
        client: AgentClient,
        level: InstallLevel,
        path: PathBuf,
        holds: SettingsContent,
    ) -> Self {
        Self { client, level, path, shared: level == InstallLevel::Project, holds }
    }

    /// Marks a file that belongs to one person, wherever it lies.
    fn not_shared(self) -> Self {
        Self { shared: false, ..self }
    }
}
