//! Settings of Claude Code and Codex: both have hooks in the same layout, in JSON and, for Codex,
//! in TOML as well.
//!
//! ```text
//! {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …, "args": […]}]}]}}
//! ```

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::{HookClient, call, content, json};

/// Levels of nesting that are read: event, groups, group, hooks, hook, arguments.
const DEPTH: usize = 8;

/// Returns the file that tells a client to run no hooks at all, with the user's settings in `user`
/// and, if a project counts as well, those in its root. The file with the highest precedence that
/// says anything about it decides.
pub fn hooks_disabled_by(client: HookClient, user: &Path, root: Option<&Path>) -> Option<PathBuf> {
    let project = |name: &str| root.map(|root| root.join(name)).into_iter();
    let files: Vec<PathBuf> = match client {
        HookClient::ClaudeCode => {
            let project = project(".claude").flat_map(|dir| of_claude_code(&dir));
            project.chain([user.join("settings.json")]).collect()
        }
        HookClient::Codex => {
            let dirs = project(".codex").chain([user.to_owned()]);
            dirs.map(|dir| dir.join("config.toml")).collect()
        }
        HookClient::Pi => Vec::new(),
    };
    let is_on = |path: &Path| match client {
        HookClient::Codex => features_have_hooks(path),
        _ => hooks_are_on(&json(path)?),
    };
    let said = files.into_iter().find_map(|path| is_on(&path).map(|on| (path, on)));
    said.filter(|(_, on)| !on).map(|(path, _)| path)
}

/// A project's settings of Claude Code, the highest precedence first.
fn of_claude_code(project: &Path) -> [PathBuf; 2] {
    [project.join("settings.local.json"), project.join("settings.json")]
}

fn hooks_are_on(settings: &Value) -> Option<bool> {
    settings.get("disableAllHooks")?.as_bool().map(|off| !off)
}

/// `codex_hooks` is the older name.
fn features_have_hooks(path: &Path) -> Option<bool> {
    let features = toml(path, "features")?;
    ["hooks", "codex_hooks"].iter().find_map(|name| features.get(name)?.as_bool())
}

/// True if Claude Code calls us, with the project's settings in `project` and the user's in `user`.
/// The file with the highest precedence that says so may switch all hooks off.
pub(super) fn claude_code_calls_us(project: &Path, user: &Path) -> bool {
    let strongest_first = of_claude_code(project).into_iter().chain([user.join("settings.json")]);
    let found: Vec<Value> = strongest_first.filter_map(|path| json(&path)).collect();
    let on = found.iter().find_map(hooks_are_on).unwrap_or(true);
    on && found.iter().filter_map(|settings| settings.get("hooks")).any(have_our_call)
}

/// True if Codex calls us, with settings in `dir`. Its switch for all hooks is ignored: profiles
/// and flags may turn them on again.
pub(super) fn codex_calls_us(dir: &Path) -> bool {
    let in_json = || json(&dir.join("hooks.json"))?.get("hooks").map(have_our_call);
    let in_toml = || toml(&dir.join("config.toml"), "hooks").as_ref().map(have_our_call);
    in_json().unwrap_or(false) || in_toml().unwrap_or(false)
}

fn have_our_call(hooks: &Value) -> bool {
    call::hooks_at_events(hooks).next().is_some()
}

/// Value of a name in a TOML file, as JSON.
fn toml(path: &Path, name: &str) -> Option<Value> {
    let content = content(path)?;
    let text = std::str::from_utf8(&content).ok()?;
    let table = DeTable::parse(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    Some(as_json(table.get_ref().get(name)?.get_ref(), DEPTH))
}

/// Converts strings, booleans, arrays and tables; others are not needed.
fn as_json(value: &DeValue<'_>, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| as_json(item.get_ref(), depth)).collect())
        }
        DeValue::Table(table) => {
            let field = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
                let name: &std::borrow::Cow<'_, str> = name.get_ref();
                (name.to_string(), as_json(value.get_ref(), depth))
            };
            Value::Object(table.iter().map(field).collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
