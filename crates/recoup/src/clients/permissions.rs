//! Commands that Claude Code runs without asking, as its settings say: `permissions.allow`, `ask` and `deny`,
//! each a list of rules such as `Bash(npm test:*)`.
//!
//! In doubt a command is not allowed, and is asked about or denied. What the person has allowed for
//! a session, and what command-line flags say, is not known here.

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::text::matches_stars;
use serde_json::Value;

use super::hook_settings::read_json;
use super::spec::JsonDialect;
use super::{AgentClient, ClientDirs};

/// Settings of the administrator, and the directory with more of them.
const MANAGED: [&str; 2] =
    ["/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d"];
/// Settings of a project.
const OF_PROJECT: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
/// Name of the tool that runs commands.
const TOOL: &str = "Bash";
/// Tools whose rules hold for the files that a command names: `cat x` needs what reading `x` needs.
const FILE_TOOLS: [&str; 5] = ["Read", "Edit", "Write", "MultiEdit", "NotebookEdit"];

/// Rules for shell commands from all settings.
#[derive(Debug, Default)]
pub(crate) struct CommandPermissions {
    allow: Vec<String>,
    /// Rules that refuse, or that have the person asked.
    restrict: Vec<String>,
    restricts_files: bool,
    /// True if there are settings that can't be read.
    is_unknown: bool,
}

impl CommandPermissions {
    /// Reads the settings of the user, of the administrator, and of the directory that the client was
    /// started in. Those of the project at `root`, if it is another, only restrict.
    pub(crate) fn read(dirs: &ClientDirs, started: &Path, root: &Path) -> Self {
        let mut found = Self::default();
        found.add(&dirs.of(AgentClient::ClaudeCode).join("settings.json"), true);
        let [managed, more] = MANAGED;
        let more = fs::read_dir(more).into_iter().flatten().flatten().map(|it| it.path());
        more.chain([PathBuf::from(managed)]).for_each(|file| found.add(&file, true));
        let is_trusted = is_trusted(dirs, started, root);
        for file in OF_PROJECT {
            found.add(&started.join(file), is_trusted);
            if started != root {
                found.add(&root.join(file), false);
            }
        }
        found
    }

    fn add(&mut self, file: &Path, allows: bool) {
        let Some(settings) = read_json(file, JsonDialect::Strict) else {
            self.is_unknown |= file.exists();
            return;
        };
        let Some(permissions) = settings.get("permissions") else { return };
        if allows {
            self.allow.extend(rules_in(permissions, "allow"));
        }
        for name in ["ask", "deny"] {
            self.restrict.extend(rules_in(permissions, name));
            self.restricts_files |= rules(permissions, name).any(is_for_files);
        }
    }

    /// True if the client runs all of these commands without asking.
    pub(crate) fn allow(&self, commands: &[String]) -> bool {
        !self.restrict(commands)
            && commands.iter().all(|it| self.allow.iter().any(|rule| covers(rule, it)))
    }

    /// True if the client may ask about one of these commands, or refuse it.
    pub(crate) fn restrict(&self, commands: &[String]) -> bool {
        let is_named = |it: &String| self.restrict.iter().any(|rule| may_cover(rule, it));
        self.is_unknown || commands.iter().any(is_named)
    }

    /// True if the client may ask about some files, or refuse them.
    pub(crate) fn restrict_files(&self) -> bool {
        self.restricts_files
    }
}

/// True if the person has trusted the directory: else the client takes no permission from its files.
fn is_trusted(dirs: &ClientDirs, started: &Path, root: &Path) -> bool {
    let state = dirs.home_or_moved(AgentClient::ClaudeCode).join(".claude.json");
    let state = read_json(&state, JsonDialect::Strict).unwrap_or_default();
    let is_known = |dir: &Path| {
        let project = dir.to_str().map(|dir| &state["projects"][dir]);
        project.is_some_and(|it| it["hasTrustDialogAccepted"] == true)
    };
    started.ancestors().take_while(|dir| dir.starts_with(root)).any(is_known) || is_known(started)
}

fn rules<'a>(permissions: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    let list = permissions.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::trim)
}

fn is_for_files(rule: &str) -> bool {
    FILE_TOOLS.contains(&rule.split('(').next().unwrap_or_default())
}

/// Contents of the rules for shell commands; `*` for a rule without contents.
fn rules_in(permissions: &Value, name: &str) -> Vec<String> {
    let content = |rule: &str| {
        let inside = rule.strip_prefix(TOOL)?;
        if inside.is_empty() {
            return Some("*".to_owned());
        }
        Some(inside.strip_prefix('(')?.strip_suffix(')')?.to_owned())
    };
    rules(permissions, name).filter_map(content).collect()
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

/// True if a rule that restricts may name a command: the client finds it behind variables and programs
/// that start others (`CI=1 timeout 9 npm test`), and whatever is quoted.
fn may_cover(rule: &str, command: &str) -> bool {
    let unquoted = |text: &str| text.replace(['\'', '"', '\\'], "");
    let (rule, command) = (unquoted(rule), unquoted(command));
    let rule = rule.strip_suffix(":*").map_or_else(|| rule.clone(), |start| format!("{start} *"));
    let behind_spaces = command.match_indices(' ').map(|(at, _)| at + 1);
    std::iter::once(0).chain(behind_spaces).any(|at| covers(&rule, &command[at..]))
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

    #[test]
    fn rules_that_restrict_are_found_behind_what_starts_a_command() {
        for (rule, command, expected) in [
            ("npm test:*", "npm test", true),
            ("npm test:*", "CI=1 npm test -- x", true),
            ("npm test", "timeout 9 npm test", true),
            ("npm test:*", "'npm' test", true),
            ("npm run \"a b\"", "npm run 'a b'", true),
            ("npm *:*", "npm run x", true),
            ("npm test:*", "npm tests", false),
        ] {
            assert_eq!(may_cover(rule, command), expected, "{rule}: {command}");
        }
    }
}
