//! The clients: how each is detected on a machine, which files it reads, and what goes into them.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod pi;
mod vscode;
mod windsurf;
mod zed;

use std::path::PathBuf;

use recoup_core::memory::hooked;
use serde::{Deserialize, Serialize};

use super::edit::JsonDialect;
use super::places::InstallPaths;
use super::version::ClientVersion;
pub(crate) use crate::clients::AgentClient;

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
            hooked::HookClient::ClaudeCode => &places.claude,
            hooked::HookClient::Codex => &places.codex,
            hooked::HookClient::Pi => &places.pi,
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
        if self == Self::ClaudeCode { claude_code::unknown_events(places) } else { Vec::new() }
    }

    /// False if the installed version is known not to support a hook's `args`.
    pub(crate) fn knows_args(self, places: &InstallPaths) -> bool {
        self != Self::ClaudeCode || claude_code::knows_args(places)
    }

    /// True if the client is on this machine: its directory or its program exists.
    pub(crate) fn is_present(self, places: &InstallPaths) -> bool {
        let (dirs, programs) = self.detection_hints(places);
        dirs.iter().any(|dir| dir.is_dir())
            || programs.iter().any(|name| places.find_program(name).is_some())
    }

    fn detection_hints(self, places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
        match self {
            Self::ClaudeCode => claude_code::detection_hints(places),
            Self::Codex => codex::detection_hints(places),
            Self::Pi => pi::detection_hints(places),
            Self::Cursor => cursor::detection_hints(places),
            Self::Windsurf => windsurf::detection_hints(places),
            Self::VsCode => vscode::detection_hints(places),
            Self::Zed => zed::detection_hints(places),
            Self::Gemini => gemini::detection_hints(places),
            Self::OpenCode => opencode::detection_hints(places),
        }
    }

    /// Returns the files that the client reads at a level; none if it has no such level.
    pub(crate) fn settings_files(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Vec<SettingsFile> {
        match self {
            Self::ClaudeCode => claude_code::settings_files(level, places),
            Self::Codex => codex::settings_files(level, places),
            Self::Pi => pi::settings_files(level, places),
            Self::Cursor => cursor::settings_files(level, places),
            Self::Windsurf => windsurf::settings_files(level, places),
            Self::VsCode => vscode::settings_files(level, places),
            Self::Zed => zed::settings_files(level, places),
            Self::Gemini => gemini::settings_files(level, places),
            Self::OpenCode => opencode::settings_files(level, places),
        }
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

/// Returns the one settings file of a client that has only servers.
fn server_settings_file(
    client: AgentClient,
    level: InstallLevel,
    path: PathBuf,
    at: &str,
    shape: ServerEntryShape,
) -> Vec<SettingsFile> {
    let servers = ServerLayout { at: vec![at.to_owned()], shape, dialect: JsonDialect::Comments };
    vec![SettingsFile::new(client, level, path, SettingsContent::Servers(servers))]
}
