//! Codex: hooks in `hooks.json`, servers in `config.toml`, both in `~/.codex` or `.codex` of a
//! project.
//!
//! Its hooks have the layout of Claude Code's, but no `args`: the command is a shell line. They
//! are on unless `features.hooks` is false, and run once the user has approved them in Codex.
//! `notify` would only repeat what the hooks report.

use std::path::PathBuf;

use super::{Client, Form, Holds, Hooks, Level, Slot};
use crate::install::places::Places;

const SECONDS: u64 = 10;

/// Codex allows a hook no more at a session's end.
const AT_THE_END: u64 = 3;

const EVENTS: [(&str, u64); 9] = [
    ("SessionStart", SECONDS),
    ("UserPromptSubmit", SECONDS),
    ("PreToolUse", SECONDS),
    ("PostToolUse", SECONDS),
    ("SubagentStart", SECONDS),
    ("SubagentStop", SECONDS),
    ("PreCompact", SECONDS),
    ("Stop", SECONDS),
    ("SessionEnd", AT_THE_END),
];

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.codex.clone()], &["codex"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let dir = match level {
        Level::User => places.codex.clone(),
        Level::Project => places.root.join(".codex"),
    };
    let slot = |name, holds| Slot::new(Client::Codex, level, dir.join(name), holds);
    let hooks =
        Hooks { events: EVENTS.to_vec(), form: Form::Shell, args: &["hook", "--client", "codex"] };
    vec![slot("hooks.json", Holds::Hooks(hooks)), slot("config.toml", Holds::TomlServers)]
}
