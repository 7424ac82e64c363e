//! The settings files of a client on this machine, worked out from its description.

use std::path::{Path, PathBuf};

use super::spec::{
    ClientVersion, EventSpec, FileContent, FileRole, FileSpec, HookCommandForm, HookSpec,
    InstallLevel, JsonDialect, PROJECT_ROOT, ServerEntryShape,
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
    pub(crate) holds: SettingsContent,
}

/// Content that we add to a settings file.
#[derive(Debug, Clone)]
pub(crate) enum SettingsContent {
    /// Commands for events.
    Hooks(HookLayout),
    /// Commands for events, in TOML.
    TomlHooks(HookLayout),
    /// A server among others.
    Servers(ServerLayout),
    /// A server among others, in TOML.
    TomlServers,
    /// The whole file: Pi's extension.
    Extension,
}

/// Hooks as one version of a client takes them.
#[derive(Debug, Clone)]
pub(crate) struct HookLayout {
    /// Path of the object with all events.
    pub(crate) at: &'static [&'static str],
    pub(crate) dialect: JsonDialect,
    /// The events in use, each with its timeout in the client's unit.
    pub(crate) events: Vec<(&'static str, u64)>,
    /// True if the program and its arguments are apart, so that no shell is started.
    pub(crate) has_args: bool,
    /// Arguments of our program.
    pub(crate) args: &'static [&'static str],
    /// Version that the file has to name.
    pub(crate) file_version: Option<u64>,
}

/// Location and layout of a client's MCP servers.
#[derive(Debug, Clone)]
pub(crate) struct ServerLayout {
    /// Path of the object with all servers.
    pub(crate) at: Vec<String>,
    pub(crate) shape: ServerEntryShape,
    pub(crate) dialect: JsonDialect,
}

/// Version assumed for the choice of events if a client does not report one. Such a client gets
/// `args`: without them, `recoup` answers all the same.
const ASSUMED_VERSION: ClientVersion = ClientVersion(2, 1, 100);

impl AgentClient {
    /// Returns the files of a level, with the content for the installed version of the client.
    pub(crate) fn files_at(
        self,
        level: InstallLevel,
        dirs: &ClientDirs,
        root: &Path,
        version: Option<ClientVersion>,
    ) -> Vec<SettingsFile> {
        let files = self.spec().files.iter().filter(|file| file.level == level);
        files.map(|file| SettingsFile::resolve(self, file, dirs, root, version)).collect()
    }
}

impl SettingsFile {
    fn resolve(
        client: AgentClient,
        file: &FileSpec,
        dirs: &ClientDirs,
        root: &Path,
        version: Option<ClientVersion>,
    ) -> Self {
        let dir = dirs.of_file(client, file.dir, root);
        let alternative = file.alternative.filter(|(path, _)| dir.join(path).exists());
        let (path, content) = alternative.unwrap_or((file.path, file.content));
        let hooks =
            |at, dialect| HookLayout::new(client.spec().hooks.as_ref(), at, dialect, version);
        let holds = match content {
            FileContent::Hooks(at, dialect) => SettingsContent::Hooks(hooks(at, dialect)),
            FileContent::TomlHooks => SettingsContent::TomlHooks(hooks(&[], JsonDialect::Strict)),
            FileContent::Servers(at, shape, dialect) => {
                let name = |name: &&str| match *name {
                    PROJECT_ROOT => root.display().to_string(),
                    name => name.to_owned(),
                };
                let at = at.iter().map(name).collect();
                SettingsContent::Servers(ServerLayout { at, shape, dialect })
            }
            FileContent::TomlServers => SettingsContent::TomlServers,
            FileContent::Extension => SettingsContent::Extension,
        };
        let shared = !file.personal;
        Self { client, level: file.level, path: dir.join(path), shared, role: file.role, holds }
    }
}

impl SettingsContent {
    /// True if our hooks go there.
    pub(crate) fn is_for_hooks(&self) -> bool {
        matches!(self, Self::Hooks(_) | Self::TomlHooks(_) | Self::Extension)
    }

    /// True if our server goes there.
    pub(crate) fn is_for_servers(&self) -> bool {
        matches!(self, Self::Servers(_) | Self::TomlServers)
    }
}

impl HookLayout {
    fn new(
        hooks: Option<&HookSpec>,
        at: &'static [&'static str],
        dialect: JsonDialect,
        version: Option<ClientVersion>,
    ) -> Self {
        let Some(hooks) = hooks else {
            let events = Vec::new();
            return Self { at, dialect, events, has_args: false, args: &[], file_version: None };
        };
        let known = hooks.events.iter().filter(|it| it.is_in(version.unwrap_or(ASSUMED_VERSION)));
        Self {
            at,
            dialect,
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
