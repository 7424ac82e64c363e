//! Codex: hooks in `hooks.json`, servers in `config.toml`, both in `~/.codex` or `.codex` of a
//! project.
//!
//! Its hooks have the layout of Claude Code's, but no `args`: the command is a shell line. They
//! are on unless `features.hooks` is false, and run once the user has approved them in Codex.
//! `notify` would only repeat what the hooks report.

use std::path::PathBuf;

use super::{
    AgentClient, HookCommandForm, HookLayout, InstallLevel, SettingsContent, SettingsFile,
};
use crate::install::places::InstallPaths;

const SECONDS: u64 = 10;

/// Codex allows a hook no more at a session's end.
const SESSION_END_TIMEOUT_SECONDS: u64 = 3;

const EVENTS: [(&str, u64); 9] = [
    ("SessionStart", SECONDS),
    ("UserPromptSubmit", SECONDS),
    ("PreToolUse", SECONDS),
    ("PostToolUse", SECONDS),
    ("SubagentStart", SECONDS),
    ("SubagentStop", SECONDS),
    ("PreCompact", SECONDS),
    ("Stop", SECONDS),
    ("SessionEnd", SESSION_END_TIMEOUT_SECONDS),
];

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.codex.clone()], &["codex"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let dir = match level {
        InstallLevel::User => places.codex.clone(),
        InstallLevel::Project => places.root.join(".codex"),
    };
    let slot = |name, holds| SettingsFile::new(AgentClient::Codex, level, dir.join(name), holds);
    let hooks = HookLayout {
        events: EVENTS.to_vec(),
        form: HookCommandForm::Shell,
        args: &["hook", "--client", "codex"],
    };
    vec![
        slot("hooks.json", SettingsContent::Hooks(hooks)),
        slot("config.toml", SettingsContent::TomlServers),
    ]
}
