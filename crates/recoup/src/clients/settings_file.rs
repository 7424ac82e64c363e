//! The settings files of a client on this machine, worked out from its description, and what we put
//! into each.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hook_settings::has_any_hooks;
use super::spec::{
    ClientVersion, EventSpec, FileContent, FileRole, HookCommandForm, HookSpec, InstallLevel,
    JsonDialect, PROJECT_ROOT, ServerEntryShape,
};
use super::{AgentClient, ClientDirs};

/// A settings file of a client, and the content that we add to it.
#[derive(Debug, Clone)]
pub(crate) struct SettingsFile {
    pub(crate) client: AgentClient,
    pub(crate) level: InstallLevel,
    pub(crate) path: PathBuf,
    /// True if the repository shares the file with others: then it must not hold a path of this
    /// machine.
    pub(crate) shared: bool,
    pub(crate) role: FileRole,
    /// False if the client reads the file beside it instead.
    pub(crate) is_read: bool,
    pub(crate) holds: InstalledContent,
    /// Our hooks, if they go there.
    pub(crate) hooks: Option<HookLayout>,
    /// Layout of our server's entry, if it goes there.
    pub(crate) shape: ServerEntryShape,
}

/// One kind of content that we put into a file, as the receipt stores it: removal must work even if
/// all paths are configured differently by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InstalledContent {
    /// Commands for events, in the object `hooks`.
    Hooks,
    /// Commands for events, in the object at this path.
    HooksAt {
        at: Vec<String>,
        /// True if the file may have comments.
        comments: bool,
    },
    /// Commands for events, in TOML.
    TomlHooks,
    /// A server, in the object at this path.
    Servers {
        at: Vec<String>,
        /// True if the file may have comments.
        comments: bool,
    },
    /// A server, in TOML.
    TomlServers,
    /// Other servers behind our proxy, in the object at this path.
    ProxiedServers {
        at: Vec<String>,
        /// True if the file may have comments.
        comments: bool,
    },
    /// Other servers behind our proxy, in TOML.
    ProxiedTomlServers,
    /// Pi's extension: the whole file.
    Extension,
    /// A line of git's `info/exclude`.
    Line(String),
}

impl InstalledContent {
    /// Syntax of the file.
    pub(crate) fn syntax(&self) -> SettingsSyntax {
        match self {
            Self::TomlHooks | Self::TomlServers | Self::ProxiedTomlServers => SettingsSyntax::Toml,
            Self::HooksAt { comments, .. }
            | Self::Servers { comments, .. }
            | Self::ProxiedServers { comments, .. } => {
                SettingsSyntax::Json(JsonDialect::with_comments(*comments))
            }
            Self::Hooks | Self::Extension | Self::Line(_) => {
                SettingsSyntax::Json(JsonDialect::Strict)
            }
        }
    }

    /// Path of the object with events, if hooks are in it.
    pub(crate) fn events_at(&self) -> Option<Vec<&str>> {
        match self {
            Self::Hooks | Self::TomlServers => Some(vec!["hooks"]),
            Self::HooksAt { at, .. } => Some(at.iter().map(String::as_str).collect()),
            _ => None,
        }
    }

    /// Path of the object with servers, if it has any.
    pub(crate) fn servers_at(&self) -> Option<Vec<String>> {
        match self {
            Self::Servers { at, .. } | Self::ProxiedServers { at, .. } => Some(at.clone()),
            Self::TomlServers | Self::ProxiedTomlServers => Some(vec![CODEX_SERVERS.to_owned()]),
            _ => None,
        }
    }

    /// True for other servers behind our proxy.
    pub(crate) fn is_proxied(&self) -> bool {
        matches!(self, Self::ProxiedServers { .. } | Self::ProxiedTomlServers)
    }

    /// Returns the kind for other servers behind our proxy; none if there are no servers.
    pub(crate) fn of_proxied(&self) -> Option<Self> {
        match self {
            Self::Servers { at, comments } => {
                Some(Self::ProxiedServers { at: at.clone(), comments: *comments })
            }
            Self::TomlServers => Some(Self::ProxiedTomlServers),
            _ => None,
        }
    }

    /// True if our hooks go there.
    pub(crate) fn is_for_hooks(&self) -> bool {
        matches!(self, Self::Hooks | Self::HooksAt { .. } | Self::TomlHooks | Self::Extension)
    }

    /// True if our server goes there.
    pub(crate) fn is_for_servers(&self) -> bool {
        matches!(self, Self::Servers { .. } | Self::TomlServers)
    }
}

/// Hooks as one version of a client takes them.
#[derive(Debug, Clone)]
pub(crate) struct HookLayout {
    /// The events in use, each with its timeout in the client's unit.
    pub(crate) events: Vec<(&'static str, u64)>,
    /// True if the program and its arguments are apart, so that no shell is started.
    pub(crate) has_args: bool,
    /// Arguments of our program.
    pub(crate) args: &'static [&'static str],
    /// Version that the file has to name.
    pub(crate) file_version: Option<u64>,
}

/// Syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsSyntax {
    Json(JsonDialect),
    Toml,
}

/// Codex's table of MCP servers.
pub(crate) const CODEX_SERVERS: &str = "mcp_servers";

/// Version assumed for the choice of events if a client does not report one. Such a client gets
/// `args`: without them, `recoup` answers all the same.
const ASSUMED_VERSION: ClientVersion = ClientVersion(2, 1, 100);

impl AgentClient {
    /// Returns the files of a level, with the content for the installed version of the client. Of
    /// two that take each other's place, both are there.
    pub(crate) fn files_at(
        self,
        level: InstallLevel,
        dirs: &ClientDirs,
        root: &Path,
        version: Option<ClientVersion>,
    ) -> Vec<SettingsFile> {
        let files = self.spec().files.iter().filter(|file| file.level == level);
        let both = files.flat_map(|file| {
            let dir = dirs.of_file(self, file.dir, root);
            let is_other_read = file.alternative.is_some_and(|(path, content)| match content {
                FileContent::Hooks(at, dialect) => has_any_hooks(&dir.join(path), at, dialect),
                _ => dir.join(path).exists(),
            });
            let first = Some((file.path, file.content, !is_other_read));
            let other = file.alternative.map(|(path, content)| (path, content, is_other_read));
            [first, other].into_iter().flatten().map(move |(path, content, is_read)| {
                let (holds, shape) = content.as_installed(root);
                let hooks = self.spec().hooks.as_ref().filter(|_| holds.is_for_hooks());
                SettingsFile {
                    client: self,
                    level,
                    path: dir.join(path),
                    shared: !file.personal,
                    role: file.role,
                    is_read,
                    holds,
                    hooks: hooks.map(|hooks| HookLayout::new(hooks, version)),
                    shape,
                }
            })
        });
        both.collect()
    }
}

impl FileContent {
    /// Returns our content for such a file, and the layout of a server's entry.
    fn as_installed(self, root: &Path) -> (InstalledContent, ServerEntryShape) {
        let holds = match self {
            // The short form, as earlier versions wrote it.
            Self::Hooks(["hooks"], JsonDialect::Strict) => InstalledContent::Hooks,
            Self::Hooks(at, dialect) => InstalledContent::HooksAt {
                at: at.iter().map(|name| (*name).to_owned()).collect(),
                comments: dialect == JsonDialect::Comments,
            },
            Self::TomlHooks => InstalledContent::TomlHooks,
            Self::Servers(at, shape, dialect) => {
                let name = |name: &&str| match *name {
                    PROJECT_ROOT => root.display().to_string(),
                    name => name.to_owned(),
                };
                let comments = dialect == JsonDialect::Comments;
                let at = at.iter().map(name).collect();
                return (InstalledContent::Servers { at, comments }, shape);
            }
            Self::TomlServers => InstalledContent::TomlServers,
            Self::Extension => InstalledContent::Extension,
        };
        (holds, ServerEntryShape::Plain)
    }
}

impl HookLayout {
    fn new(hooks: &HookSpec, version: Option<ClientVersion>) -> Self {
        let known = hooks.events.iter().filter(|it| it.is_in(version.unwrap_or(ASSUMED_VERSION)));
        Self {
            events: known.map(|it| (it.name, it.timeout)).collect(),
            has_args: hooks.command.has_args(version),
            args: hooks.args,
            file_version: hooks.file_version,
        }
    }
}

impl EventSpec {
    /// True if this version of the client supports the event.
    pub(crate) fn is_in(&self, version: ClientVersion) -> bool {
        self.since.is_none_or(|since| since <= version)
    }
}

impl HookCommandForm {
    /// True if the client takes `args`; an unknown version does.
    pub(crate) fn has_args(self, version: Option<ClientVersion>) -> bool {
        match self {
            Self::ExecSince(since) => version.is_none_or(|version| version >= since),
            Self::Shell => false,
        }
    }
}
