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
use recoup_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::edit::Dialect;
use super::places::Places;
use super::version::ClientVersion;

/// A program that runs agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    Pi,
    Cursor,
    Windsurf,
    VsCode,
    Zed,
    Gemini,
    OpenCode,
}

/// Reach of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Everything that this user does.
    User,
    /// One project.
    Project,
}

/// A settings file of a client, and the content that we add to it.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) client: Client,
    pub(crate) level: Level,
    pub(crate) path: PathBuf,
    /// True if the repository shares the file with others: then it must not hold a path of this
    /// machine.
    pub(crate) shared: bool,
    pub(crate) holds: Holds,
}

/// Content that we add to a settings file.
#[derive(Debug, Clone)]
pub(crate) enum Holds {
    /// Commands for events.
    Hooks(Hooks),
    /// A server among others.
    Servers(Servers),
    /// A server among others, in TOML.
    TomlServers,
    /// The whole file: Pi's extension.
    Extension,
}

/// Hook layout of a client: `{"hooks": {EVENT: [{"hooks": [HOOK…]}…]…}}`.
#[derive(Debug, Clone)]
pub(crate) struct Hooks {
    /// The events in use, each with its timeout in seconds.
    pub(crate) events: Vec<(&'static str, u64)>,
    pub(crate) form: Form,
    /// Arguments of our program.
    pub(crate) args: &'static [&'static str],
}

/// How a hook names its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A program in `command` and a list in `args`: starts no shell.
    Exec,
    /// A shell line in `command`; `args` is not supported.
    Shell,
}

/// Location and layout of a client's MCP servers.
#[derive(Debug, Clone)]
pub(crate) struct Servers {
    /// Path of the object with all servers.
    pub(crate) at: Vec<String>,
    pub(crate) shape: Shape,
    pub(crate) dialect: Dialect,
}

/// Layout of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{"command": …, "args": […]}`
    Plain,
    /// `Plain` with `"type": "stdio"`.
    Typed,
    /// `Plain` with `"source": "custom"`.
    Custom,
    /// `{"type": "local", "command": [PROGRAM, ARGUMENT…], "enabled": true}`
    Local,
}

impl Client {
    /// Every client, those with hooks first.
    pub(crate) const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::Cursor,
        Self::Windsurf,
        Self::VsCode,
        Self::Zed,
        Self::Gemini,
        Self::OpenCode,
    ];

    /// Name on the command line and in files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::Cursor => "cursor",
            Self::Windsurf => "windsurf",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    /// Other names on the command line: its program, or its title.
    fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["claude"],
            Self::VsCode => &["code", "vs-code"],
            Self::Gemini => &["gemini-cli"],
            _ => &[],
        }
    }

    /// Product name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Pi => "Pi",
            Self::Cursor => "Cursor",
            Self::Windsurf => "Windsurf",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "opencode",
        }
    }

    /// Parses a name from the command line.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        let is_named = |it: &Self| it.as_str() == word || it.aliases().contains(&word);
        Self::ALL.into_iter().find(is_named).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Error::usage(format!("{word:?} is no client that is known here: expected one of {all}"))
        })
    }

    /// The client without hooks that calls itself by this name in MCP, such as `cursor-vscode`,
    /// `Visual Studio Code` or `gemini-cli-mcp-client`.
    pub(crate) fn of_mcp_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let words: Vec<&str> =
            name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.starts_with(&["visual", "studio", "code"]) {
            return Some(Self::VsCode);
        }
        let is_meant = |client: &Self| words.first() == Some(&client.as_str());
        Self::ALL.into_iter().filter(|client| client.with_hooks().is_none()).find(is_meant)
    }

    /// Returns the engine's name for a client with hooks.
    pub(crate) fn with_hooks(self) -> Option<hooked::Client> {
        hooked::Client::ALL.into_iter().find(|client| client.as_str() == self.as_str())
    }

    /// Returns the settings file that disables all hooks, for the user or in the project. What is
    /// off for the user is off in every project that does not switch it on.
    pub(crate) fn hooks_off(self, level: Level, places: &Places) -> Option<PathBuf> {
        let known = self.with_hooks()?;
        let user = match known {
            hooked::Client::ClaudeCode => &places.claude,
            hooked::Client::Codex => &places.codex,
            hooked::Client::Pi => &places.pi,
        };
        let root = (level == Level::Project).then_some(&*places.root);
        hooked::switched_off(known, user, root)
    }

    /// Returns the installed version, if it is known.
    pub(crate) fn version(self, places: &Places) -> Option<ClientVersion> {
        places.claude_version.filter(|_| self == Self::ClaudeCode)
    }

    /// Returns the events in use that the installed version is known not to support.
    pub(crate) fn unknown_events(self, places: &Places) -> Vec<&'static str> {
        if self == Self::ClaudeCode { claude_code::unknown_events(places) } else { Vec::new() }
    }

    /// False if the installed version is known not to support a hook's `args`.
    pub(crate) fn knows_args(self, places: &Places) -> bool {
        self != Self::ClaudeCode || claude_code::knows_args(places)
    }

    /// True if the client is on this machine: its directory or its program exists.
    pub(crate) fn is_here(self, places: &Places) -> bool {
        let (dirs, programs) = self.signs(places);
        dirs.iter().any(|dir| dir.is_dir())
            || programs.iter().any(|name| places.program(name).is_some())
    }

    fn signs(self, places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
        match self {
            Self::ClaudeCode => claude_code::signs(places),
            Self::Codex => codex::signs(places),
            Self::Pi => pi::signs(places),
            Self::Cursor => cursor::signs(places),
            Self::Windsurf => windsurf::signs(places),
            Self::VsCode => vscode::signs(places),
            Self::Zed => zed::signs(places),
            Self::Gemini => gemini::signs(places),
            Self::OpenCode => opencode::signs(places),
        }
    }

    /// Returns the files that the client reads at a level; none if it has no such level.
    pub(crate) fn slots(self, level: Level, places: &Places) -> Vec<Slot> {
        match self {
            Self::ClaudeCode => claude_code::slots(level, places),
            Self::Codex => codex::slots(level, places),
            Self::Pi => pi::slots(level, places),
            Self::Cursor => cursor::slots(level, places),
            Self::Windsurf => windsurf::slots(level, places),
            Self::VsCode => vscode::slots(level, places),
            Self::Zed => zed::slots(level, places),
            Self::Gemini => gemini::slots(level, places),
            Self::OpenCode => opencode::slots(level, places),
        }
    }
}

impl From<Client> for &str {
    fn from(client: Client) -> Self {
        client.as_str()
    }
}

impl TryFrom<String> for Client {
    type Error = Error;

    fn try_from(word: String) -> Result<Self> {
        Self::parse(&word)
    }
}

impl Level {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    /// Name in files and messages.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl Slot {
    fn new(client: Client, level: Level, path: PathBuf, holds: Holds) -> Self {
        Self { client, level, path, shared: level == Level::Project, holds }
    }

    /// Marks a file that belongs to one person, wherever it lies.
    fn private(self) -> Self {
        Self { shared: false, ..self }
    }
}

/// Returns the one settings file of a client that has only servers.
fn servers(client: Client, level: Level, path: PathBuf, at: &str, shape: Shape) -> Vec<Slot> {
    let servers = Servers { at: vec![at.to_owned()], shape, dialect: Dialect::Comments };
    vec![Slot::new(client, level, path, Holds::Servers(servers))]
}
