//! Clients that have only MCP servers, as one table.

use std::path::PathBuf;

use super::{
    AgentClient, InstallLevel, ServerEntryShape, ServerLayout, SettingsContent, SettingsFile,
};
use crate::install::edit::JsonDialect;
use crate::install::places::InstallPaths;

/// A client that has only servers.
struct ServerClient {
    client: AgentClient,
    /// The programs that start it.
    programs: &'static [&'static str],
    /// The user's directory of it.
    dir: fn(&InstallPaths) -> PathBuf,
    /// The file in that directory.
    file: &'static str,
    /// The file in a project; none if it has none.
    project_file: Option<&'static str>,
    /// Name of the object with all servers.
    at: &'static str,
    shape: ServerEntryShape,
}

const SERVER_CLIENTS: [ServerClient; 6] = [
    ServerClient {
        client: AgentClient::Cursor,
        programs: &["cursor", "cursor-agent"],
        dir: |places| places.home.join(".cursor"),
        file: "mcp.json",
        project_file: Some(".cursor/mcp.json"),
        at: "mcpServers",
        shape: ServerEntryShape::Plain,
    },
    // Since June 2026 it is called Devin Desktop. Cascade still reads that file, and so does the
    // agent that replaces Cascade, which keeps its own settings in `~/.config/devin`.
    ServerClient {
        client: AgentClient::Windsurf,
        programs: &["windsurf"],
        dir: |places| places.home.join(".codeium/windsurf"),
        file: "mcp_config.json",
        project_file: None,
        at: "mcpServers",
        shape: ServerEntryShape::Plain,
    },
    // In the default profile.
    ServerClient {
        client: AgentClient::VsCode,
        programs: &["code"],
        dir: |places| {
            if cfg!(target_os = "macos") {
                places.home.join("Library/Application Support/Code/User")
            } else {
                places.config.join("Code/User")
            }
        },
        file: "mcp.json",
        project_file: Some(".vscode/mcp.json"),
        at: "servers",
        shape: ServerEntryShape::Typed,
    },
    // On macOS it ignores `XDG_CONFIG_HOME`. Older versions require the source of a server, newer
    // ones ignore it.
    ServerClient {
        client: AgentClient::Zed,
        programs: &["zed", "zeditor"],
        dir: |places| {
            if cfg!(target_os = "macos") {
                places.home.join(".config/zed")
            } else {
                places.config.join("zed")
            }
        },
        file: "settings.json",
        project_file: Some(".zed/settings.json"),
        at: "context_servers",
        shape: ServerEntryShape::Custom,
    },
    ServerClient {
        client: AgentClient::Gemini,
        programs: &["gemini"],
        dir: |places| places.home.join(".gemini"),
        file: "settings.json",
        project_file: Some(".gemini/settings.json"),
        at: "mcpServers",
        shape: ServerEntryShape::Plain,
    },
    // Or `opencode.jsonc`, if that exists.
    ServerClient {
        client: AgentClient::OpenCode,
        programs: &["opencode"],
        dir: |places| places.config.join("opencode"),
        file: "opencode.json",
        project_file: Some("opencode.json"),
        at: "mcp",
        shape: ServerEntryShape::Local,
    },
];

/// Returns the directories and programs that show that a client is on this machine.
pub(super) fn detection_hints(
    client: AgentClient,
    places: &InstallPaths,
) -> (Vec<PathBuf>, &'static [&'static str]) {
    let Some(known) = SERVER_CLIENTS.iter().find(|it| it.client == client) else {
        return (Vec::new(), &[]);
    };
    let renamed = (client == AgentClient::Windsurf).then(|| places.config.join("devin"));
    ([(known.dir)(places)].into_iter().chain(renamed).collect(), known.programs)
}

/// Returns the settings file of a client at a level; none if it has no such level.
pub(super) fn settings_file(
    client: AgentClient,
    level: InstallLevel,
    places: &InstallPaths,
) -> Option<SettingsFile> {
    let known = SERVER_CLIENTS.iter().find(|it| it.client == client)?;
    let path = match level {
        InstallLevel::User => (known.dir)(places).join(known.file),
        InstallLevel::Project => places.root.join(known.project_file?),
    };
    let commented = path.with_extension("jsonc");
    let has_comments = client == AgentClient::OpenCode && commented.exists();
    let path = if has_comments { commented } else { path };
    let at = vec![known.at.to_owned()];
    let servers = ServerLayout { at, shape: known.shape, dialect: JsonDialect::Comments };
    Some(SettingsFile::new(client, level, path, SettingsContent::Servers(servers)))
}
