//! Files and limits of a client, as this machine and the installed version have them.

use std::path::PathBuf;

use super::places::InstallPaths;
use crate::clients::{
    AgentClient, ClientVersion, FileRole, InstallLevel, SettingsFile, hooks_disabled_by,
};

impl AgentClient {
    /// Returns the settings file that disables all hooks, for the user or in the project. What is
    /// off for the user is off in every project that does not switch it on.
    pub(crate) fn file_disabling_hooks(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Option<PathBuf> {
        let root = (level == InstallLevel::Project).then_some(&*places.root);
        hooks_disabled_by(self, &places.dirs, root)
    }

    /// Returns the installed version, if it is known.
    pub(crate) fn version(self, places: &InstallPaths) -> Option<ClientVersion> {
        places.claude_version.filter(|_| self == Self::ClaudeCode)
    }

    /// Returns the events in use that the installed version is known not to support.
    pub(crate) fn unknown_events(self, places: &InstallPaths) -> Vec<&'static str> {
        let (Some(hooks), Some(version)) = (&self.spec().hooks, self.version(places)) else {
            return Vec::new();
        };
        hooks.events.iter().filter(|it| !it.is_in(version)).map(|it| it.name).collect()
    }

    /// True if the installed version is known not to support a hook's `args`, and others do.
    pub(crate) fn lacks_args(self, places: &InstallPaths) -> bool {
        let version = self.version(places);
        let hooks = self.spec().hooks.as_ref();
        hooks.is_some_and(|it| it.command.has_args(None) && !it.command.has_args(version))
    }

    /// True if the client is on this machine: its directory or its program exists.
    pub(crate) fn is_present(self, places: &InstallPaths) -> bool {
        places.dirs.has_any(self)
            || self.spec().programs.iter().any(|name| places.find_program(name).is_some())
    }

    /// Returns the files that we add to at a level; none if the client has no such level.
    pub(crate) fn settings_files(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Vec<SettingsFile> {
        let mut files = self.settings_files_or_beside(level, places);
        files.retain(|file| file.is_read);
        files
    }

    /// Returns the files that we may have added to at a level, also those that the client does not
    /// read because of another file beside them.
    pub(crate) fn settings_files_or_beside(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Vec<SettingsFile> {
        let mut files = self.files_at(level, &places.dirs, &places.root, self.version(places));
        files.retain(|file| file.role == FileRole::Installed);
        files
    }

    /// Returns the files with MCP servers that the client reads at a level, also those that we never
    /// add our own server to: a project's `.mcp.json` is its team's.
    pub(crate) fn server_files(
        self,
        level: InstallLevel,
        places: &InstallPaths,
    ) -> Vec<SettingsFile> {
        let mut files = self.files_at(level, &places.dirs, &places.root, None);
        files.retain(|file| file.is_read && file.holds.is_for_servers());
        files
    }
}
