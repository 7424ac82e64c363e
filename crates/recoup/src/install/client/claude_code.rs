//! Claude Code: hooks in its settings, servers in a file of its own.
//!
//! ```text
//! user      ~/.claude/settings.json            hooks
//!           ~/.claude.json                     mcpServers
//! project   .claude/settings.local.json        hooks: `settings.json` would go to the whole team
//!           ~/.claude.json                     projects.ROOT.mcpServers, as `claude mcp add` has it
//! ```
//!
//! A project's `.mcp.json` and `settings.json` belong to everybody who works there; the path of a
//! program on this machine is one person's.

use std::path::PathBuf;

use super::{
    AgentClient, HookCommandForm, HookLayout, InstallLevel, ServerEntryShape, ServerLayout,
    SettingsContent, SettingsFile,
};
use crate::install::edit::JsonDialect;
use crate::install::places::InstallPaths;
use crate::install::version::ClientVersion;

/// Ample; without a timeout of its own, a hook at a session's end is cut short.
const SECONDS: u64 = 10;

/// The events in use, each with the first version that supports it, as published on npm. A version
/// that does not know an event skips the whole settings file.
const EVENTS: [(&str, ClientVersion); 12] = [
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
const ARGS: ClientVersion = ClientVersion(2, 1, 139);

/// Version assumed for the choice of events if the client does not report one. Such a client gets
/// `args`: without them, `recoup` answers all the same.
const ASSUMED_VERSION: ClientVersion = ClientVersion(2, 1, 100);

/// Returns the hooks that the installed version supports.
fn hooks(places: &InstallPaths) -> HookLayout {
    let version = places.claude_version.unwrap_or(ASSUMED_VERSION);
    let known = EVENTS.iter().filter(|(_, since)| *since <= version);
    let form = if knows_args(places) { HookCommandForm::Exec } else { HookCommandForm::Shell };
    HookLayout {
        events: known.map(|(event, _)| (*event, SECONDS)).collect(),
        form,
        args: &["hook"],
    }
}

/// Returns the events that the installed version is known not to support.
pub(super) fn unknown_events(places: &InstallPaths) -> Vec<&'static str> {
    let is_unknown = |since: ClientVersion| places.claude_version.is_some_and(|it| it < since);
    EVENTS.iter().filter(|(_, since)| is_unknown(*since)).map(|(event, _)| *event).collect()
}

/// False if the installed version is known not to support a hook's `args`.
pub(super) fn knows_args(places: &InstallPaths) -> bool {
    places.claude_version.is_none_or(|version| version >= ARGS)
}

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.claude.clone()], &["claude"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let (settings, at) = match level {
        InstallLevel::User => (places.claude.join("settings.json"), vec!["mcpServers".to_owned()]),
        InstallLevel::Project => {
            let root = places.root.display().to_string();
            let at = vec!["projects".to_owned(), root, "mcpServers".to_owned()];
            (places.root.join(".claude/settings.local.json"), at)
        }
    };
    let servers = ServerLayout { at, shape: ServerEntryShape::Typed, dialect: JsonDialect::Strict };
    let slot =
        |path, holds| SettingsFile::new(AgentClient::ClaudeCode, level, path, holds).not_shared();
    vec![
        slot(settings, SettingsContent::Hooks(hooks(places))),
        slot(places.claude_json.clone(), SettingsContent::Servers(servers)),
    ]
}
