//! Clients with hooks: Claude Code, Codex and Pi.

use super::{
    AgentClient, HookCommandForm, HookLayout, InstallLevel, ServerEntryShape, ServerLayout,
    SettingsContent, SettingsFile,
};
use crate::install::edit::JsonDialect;
use crate::install::places::InstallPaths;
use crate::install::version::ClientVersion;

/// Time limit of a hook: ample; without a timeout of its own, a hook at a session's end is cut
/// short.
const TIMEOUT_SECONDS: u64 = 10;

/// Claude Code's events in use, each with the first version that supports it, as published on npm.
/// A version that does not know an event skips the whole settings file.
const CLAUDE_EVENTS: [(&str, ClientVersion); 12] = [
    ("SessionStart", ClientVersion(1, 0, 62)),
    ("UserPromptSubmit", ClientVersion(1, 0, 53)),
    ("PreToolUse", ClientVersion(1, 0, 48)),
    ("PostToolUse", ClientVersion(1, 0, 48)),
    ("PostToolUseFailure", ClientVersion(2, 0, 56)),
    ("PostToolBatch", ClientVersion(2, 1, 118)),
    ("SubagentStart", ClientVersion(2, 0, 44)),
    ("SubagentStop", ClientVersion(1, 0, 48)),
    ("PreCompact", ClientVersion(1, 0, 48)),
    ("Stop", ClientVersion(1, 0, 48)),
    ("StopFailure", ClientVersion(2, 1, 78)),
    ("SessionEnd", ClientVersion(1, 0, 85)),
];

/// First version that supports a hook's `args`. Older ones drop them, and run the program bare.
const ARGS_SINCE: ClientVersion = ClientVersion(2, 1, 139);

/// Version assumed for the choice of events if the client does not report one. Such a client gets
/// `args`: without them, `recoup` answers all the same.
const ASSUMED_VERSION: ClientVersion = ClientVersion(2, 1, 100);

/// Codex allows a hook no more at a session's end.
const SESSION_END_TIMEOUT_SECONDS: u64 = 3;

/// Codex's events in use, each with its time limit.
const CODEX_EVENTS: [(&str, u64); 9] = [
    ("SessionStart", TIMEOUT_SECONDS),
    ("UserPromptSubmit", TIMEOUT_SECONDS),
    ("PreToolUse", TIMEOUT_SECONDS),
    ("PostToolUse", TIMEOUT_SECONDS),
    ("SubagentStart", TIMEOUT_SECONDS),
    ("SubagentStop", TIMEOUT_SECONDS),
    ("PreCompact", TIMEOUT_SECONDS),
    ("Stop", TIMEOUT_SECONDS),
    ("SessionEnd", SESSION_END_TIMEOUT_SECONDS),
];

/// Returns the events that the installed version is known not to support.
pub(super) fn unknown_events(places: &InstallPaths) -> Vec<&'static str> {
    let is_unknown = |since: ClientVersion| places.claude_version.is_some_and(|it| it < since);
    CLAUDE_EVENTS.iter().filter(|(_, since)| is_unknown(*since)).map(|(event, _)| *event).collect()
}

/// False if the installed version is known not to support a hook's `args`.
pub(super) fn knows_args(places: &InstallPaths) -> bool {
    places.claude_version.is_none_or(|version| version >= ARGS_SINCE)
}

/// Returns Claude Code's files: hooks in its settings, servers in a file of its own.
///
/// ```text
/// user      ~/.claude/settings.json            hooks
///           ~/.claude.json                     mcpServers
/// project   .claude/settings.local.json        hooks: `settings.json` would go to the whole team
///           ~/.claude.json                     projects.ROOT.mcpServers, as `claude mcp add` has it
/// ```
///
/// A project's `.mcp.json` and `settings.json` belong to everybody who works there; the path of a
/// program on this machine is one person's.
pub(super) fn claude_code_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let (settings, at) = match level {
        InstallLevel::User => (places.claude.join("settings.json"), vec!["mcpServers".to_owned()]),
        InstallLevel::Project => {
            let root = places.root.display().to_string();
            let at = vec!["projects".to_owned(), root, "mcpServers".to_owned()];
            (places.root.join(".claude/settings.local.json"), at)
        }
    };
    let servers = ServerLayout { at, shape: ServerEntryShape::Typed, dialect: JsonDialect::Strict };
    let version = places.claude_version.unwrap_or(ASSUMED_VERSION);
    let known = CLAUDE_EVENTS.iter().filter(|(_, since)| *since <= version);
    let form = if knows_args(places) { HookCommandForm::Exec } else { HookCommandForm::Shell };
    let events = known.map(|(event, _)| (*event, TIMEOUT_SECONDS)).collect();
    let hooks = HookLayout { events, form, args: &["hook"] };
    let slot =
        |path, holds| SettingsFile::new(AgentClient::ClaudeCode, level, path, holds).not_shared();
    vec![
        slot(settings, SettingsContent::Hooks(hooks)),
        slot(places.claude_json.clone(), SettingsContent::Servers(servers)),
    ]
}

/// A project's file with the MCP servers of its team.
pub(crate) const TEAM_FILE: &str = ".mcp.json";

/// Returns a project's `.mcp.json`, which Claude Code reads once its user has approved it.
pub(super) fn claude_code_team_file(places: &InstallPaths) -> SettingsFile {
    let at = vec!["mcpServers".to_owned()];
    let servers = ServerLayout { at, shape: ServerEntryShape::Typed, dialect: JsonDialect::Strict };
    SettingsFile::new(
        AgentClient::ClaudeCode,
        InstallLevel::Project,
        places.root.join(TEAM_FILE),
        SettingsContent::Servers(servers),
    )
}

/// Returns Codex's files: hooks in `hooks.json`, servers in `config.toml`, both in `~/.codex` or
/// `.codex` of a project.
///
/// Its hooks have the layout of Claude Code's, but no `args`: the command is a shell line. They are
/// on unless `features.hooks` is false, and run once the user has approved them in Codex. `notify`
/// would only repeat what the hooks report.
pub(super) fn codex_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let dir = match level {
        InstallLevel::User => places.codex.clone(),
        InstallLevel::Project => places.root.join(".codex"),
    };
    let slot = |name, holds| SettingsFile::new(AgentClient::Codex, level, dir.join(name), holds);
    let hooks = HookLayout {
        events: CODEX_EVENTS.to_vec(),
        form: HookCommandForm::Shell,
        args: &["hook", "--client", "codex"],
    };
    vec![
        slot("hooks.json", SettingsContent::Hooks(hooks)),
        slot("config.toml", SettingsContent::TomlServers),
    ]
}

/// Returns Pi's files: an extension that calls our hooks, and servers in a file of their own.
///
/// ```text
/// user      ~/.pi/agent/extensions/recoup.ts, ~/.pi/agent/mcp.json
/// project   .pi/extensions/recoup.ts, .pi/mcp.json: both once Pi's user trusts the project
/// ```
///
/// Older versions have no servers, and ignore that file.
pub(super) fn pi_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let dir = match level {
        InstallLevel::User => places.pi.clone(),
        InstallLevel::Project => places.root.join(".pi"),
    };
    // Pi accepts no comments there.
    let at = vec!["mcpServers".to_owned()];
    let servers = ServerLayout { at, shape: ServerEntryShape::Plain, dialect: JsonDialect::Strict };
    let slot = |name, holds| SettingsFile::new(AgentClient::Pi, level, dir.join(name), holds);
    vec![
        slot("extensions/recoup.ts", SettingsContent::Extension),
        slot("mcp.json", SettingsContent::Servers(servers)),
    ]
}
