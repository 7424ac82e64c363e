//! What Claude Code runs without asking, as its settings say: `permissions.allow`, `ask` and `deny`,
//! each a list of rules such as `Bash(npm test:*)`.
//!
//! In doubt a command is not allowed, and is asked about or denied. What the person has allowed for
//! a session, and what command-line flags say, is not known here.

use std::path::{Path, PathBuf};

use recoup_core::base::text::matches_stars;
use serde_json::Value;

use super::hook_settings::read_json;
use super::spec::JsonDialect;
use super::{AgentClient, ClientDirs};

/// Settings of the administrator.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
/// Name of the tool that runs commands.
const TOOL: &str = "Bash";

/// Rules for shell commands from all settings.
#[derive(Debug, Default)]
pub(crate) struct CommandPermissions {
    allow: Vec<String>,
    /// Rules that refuse, or that have the person asked.
    restrict: Vec<String>,
}

impl CommandPermissions {
    /// Reads the settings of the user and of the project at `root`.
    pub(crate) fn read(dirs: &ClientDirs, root: &Path) -> Self {
        let project = root.join(".claude");
        let files: [PathBuf; 4] = [
            dirs.of(AgentClient::ClaudeCode).join("settings.json"),
            project.join("settings.json"),
            project.join("settings.local.json"),
            MANAGED.into(),
        ];
        let mut found = Self::default();
        for settings in files.iter().filter_map(|file| read_json(file, JsonDialect::Strict)) {
            let Some(permissions) = settings.get("permissions") else { continue };
            found.allow.extend(rules_in(permissions, "allow"));
            found.restrict.extend(rules_in(permissions, "ask"));
            found.restrict.extend(rules_in(permissions, "deny"));
        }
        found
    }

    /// True if the client runs all of these commands without asking.
    pub(crate) fn allow(&self, commands: &[String]) -> bool {
        !self.restrict(commands)
            && commands.iter().all(|it| self.allow.iter().any(|rule| covers(rule, it)))
    }

    /// True if the client asks about one of these commands, or refuses it.
    pub(crate) fn restrict(&self, commands: &[String]) -> bool {
        commands.iter().any(|it| self.restrict.iter().any(|rule| covers(rule, it)))
    }
}

/// Contents of the rules for shell commands; `*` for a rule without contents.
fn rules_in(permissions: &Value, name: &str) -> Vec<String> {
    let list = permissions.get(name).and_then(Value::as_array);
    let rules = list.into_iter().flatten().filter_map(Value::as_str);
    let content = |rule: &str| {
        let inside = rule.trim().strip_prefix(TOOL)?;
        if inside.is_empty() {
            return Some("*".to_owned());
        }
        Some(inside.strip_prefix('(')?.strip_suffix(')')?.to_owned())
    };
    rules.filter_map(content).collect()
}

/// True if a rule's content names a command: `npm test` itself, `npm test:*` also with more words,
/// `npm * test` with anything in the place of `*`.
fn covers(rule: &str, command: &str) -> bool {
    if let Some(prefix) = rule.strip_suffix(":*") {
        return command.strip_prefix(prefix).is_some_and(|it| it.is_empty() || it.starts_with(' '));
    }
    // `npm test *` names `npm test` as well.
    if rule.strip_suffix(" *").is_some_and(|start| start == command) {
        return true;
    }
    matches_stars(rule, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_commands() {
        for (rule, command, expected) in [
            ("npm test", "npm test", true),
            ("npm test", "npm test -- x", false),
            ("npm test:*", "npm test -- x", true),
            ("npm test:*", "npm tests", false),
            ("npm test *", "npm test", true),
            ("npm * test", "npm --silent test", true),
            ("*", "anything", true),
        ] {
            assert_eq!(covers(rule, command), expected, "{rule}: {command}");
        }
    }
}
