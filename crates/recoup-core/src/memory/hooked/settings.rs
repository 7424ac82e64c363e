//! The settings of Claude Code and Codex: both have hooks in the same layout, in JSON
//! and, for Codex, in TOML as well.
//!
//! ```text
//! {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …, "args": […]}]}]}}
//! ```

use std::path::Path;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::shell;
use super::{content, json};

/// How deep hooks lie in a file: event, groups, group, hooks, hook, arguments.
const DEPTH: usize = 8;

/// Claude Code with the project's settings in `project` and the user's in `user`. The
/// strongest file that says so may switch all hooks off.
pub(super) fn claude_code(project: &Path, user: &Path) -> bool {
    let strongest_first = [
        project.join("settings.local.json"),
        project.join("settings.json"),
        user.join("settings.json"),
    ];
    let found: Vec<Value> = strongest_first.iter().filter_map(|path| json(path)).collect();
    let off = found.iter().find_map(|it| it.get("disableAllHooks")?.as_bool()).unwrap_or(false);
    !off && found.iter().filter_map(|settings| settings.get("hooks")).any(call_us)
}

/// Codex with settings in `dir`. Its switch for all hooks is not looked at: profiles and
/// flags may turn them on again.
pub(super) fn codex(dir: &Path) -> bool {
    let in_json = || json(&dir.join("hooks.json"))?.get("hooks").map(call_us);
    let in_toml = || toml_hooks(&dir.join("config.toml")).as_ref().map(call_us);
    in_json().unwrap_or(false) || in_toml().unwrap_or(false)
}

fn call_us(hooks: &Value) -> bool {
    let Some(events) = hooks.as_object() else { return false };
    let groups = events.values().filter_map(Value::as_array).flatten();
    let hooks = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
    hooks.into_iter().any(is_ours)
}

fn is_ours(hook: &Value) -> bool {
    let is_command = hook.get("type").is_none_or(|kind| kind == "command");
    let Some(command) = hook.get("command").and_then(Value::as_str) else { return false };
    is_command
        && match hook.get("args") {
            // The exec form: no shell reads it.
            Some(Value::Array(args)) => {
                let args = args.iter().filter_map(Value::as_str);
                let words: Vec<String> =
                    std::iter::once(command).chain(args).map(str::to_owned).collect();
                shell::our_words(&words).is_some()
            }
            _ => shell::calls_us(command),
        }
}

/// The table `hooks` of a TOML file, as JSON would have it.
fn toml_hooks(path: &Path) -> Option<Value> {
    let content = content(path)?;
    let text = std::str::from_utf8(&content).ok()?;
    let table = DeTable::parse(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    Some(as_json(table.get_ref().get("hooks")?.get_ref(), DEPTH))
}

/// Texts, arrays and tables; nothing else is asked for.
fn as_json(value: &DeValue<'_>, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
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
