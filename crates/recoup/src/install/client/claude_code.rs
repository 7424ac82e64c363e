//! Claude Code: hooks in its settings, servers in a file of its own.
//!
//! ```text
//! user      ~/.claude/settings.json            hooks
//!           ~/.claude.json                     mcpServers
//! project   .claude/settings.local.json        hooks: `settings.json` would go to the whole team
//!           ~/.claude.json                     projects.ROOT.mcpServers, as `claude mcp add` has it
//! ```
//!
//! A project's `.mcp.json` and `settings.json` belong to everybody who works there; the path
//! of a program on this machine, and the wish to be remembered, are one person's.

use std::path::PathBuf;

use super::{Client, Form, Holds, Hooks, Level, Servers, Shape, Slot};
use crate::install::edit::Dialect;
use crate::install::places::Places;

/// Nothing here takes a second; a session's end is cut short without a limit of its own.
const SECONDS: u64 = 10;

const HOOKS: Hooks = Hooks {
    events: &[
        ("SessionStart", SECONDS),
        ("UserPromptSubmit", SECONDS),
        ("PreToolUse", SECONDS),
        ("PostToolUse", SECONDS),
        ("PostToolUseFailure", SECONDS),
        ("PostToolBatch", SECONDS),
        ("SubagentStart", SECONDS),
        ("SubagentStop", SECONDS),
        ("PreCompact", SECONDS),
        ("Stop", SECONDS),
        ("StopFailure", SECONDS),
        ("SessionEnd", SECONDS),
    ],
    form: Form::Exec,
    args: &["hook"],
};

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.claude.clone()], &["claude"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let (settings, at) = match level {
        Level::User => (places.claude.join("settings.json"), vec!["mcpServers".to_owned()]),
        Level::Project => {
            let root = places.root.display().to_string();
            let at = vec!["projects".to_owned(), root, "mcpServers".to_owned()];
            (places.root.join(".claude/settings.local.json"), at)
        }
    };
    let servers = Servers { at, shape: Shape::Typed, dialect: Dialect::Strict };
    let slot = |path, holds| Slot::new(Client::ClaudeCode, level, path, holds).private();
    vec![
        slot(settings, Holds::Hooks(HOOKS)),
        slot(places.claude_json.clone(), Holds::Servers(servers)),
    ]
}
