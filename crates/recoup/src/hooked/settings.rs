//! Settings of the clients. Claude Code and Codex have hooks in the same layout, in JSON and, for
//! Codex, in TOML as well:
//!
//! ```text
//! {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …, "args": […]}]}]}}
//! ```
//!
//! Extensions of Pi are programs. One that has the words `recoup` and `hook` in it calls us; a mere
//! mention does no harm. Ours also has a line that names the program to start. Packages that Pi
//! fetches itself (`packages` in its settings) are not searched.
//!
//! ```text
//! DIR/extensions/NAME.ts                      DIR is ~/.pi/agent or .pi of the project
//! DIR/extensions/NAME/index.ts
//! DIR/extensions/NAME/package.json            {"pi": {"extensions": [PATH…]}}
//! DIR/settings.json                           {"extensions": [PATH…]}: files, folders, globs
//! ```

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use crate::hooked::{HOOK, PROGRAM, call, content, json};
use recoup_core::memory::HookClient;

/// Levels of nesting that are read: event, groups, group, hooks, hook, arguments.
const NESTING: usize = 8;

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
        // `codex_hooks` is the older name.
        HookClient::Codex => {
            let features = toml(path, "features")?;
            ["hooks", "codex_hooks"].iter().find_map(|name| features.get(name)?.as_bool())
        }
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
    Some(as_json(table.get_ref().get(name)?.get_ref(), NESTING))
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

/// Text before the program in our extension, and behind it.
const BEFORE: &str = "const PROGRAM = process.env.RECOUP_BIN ?? ";
const BEHIND: char = ';';

/// Most entries of a folder that are read.
const MOST_ENTRIES: usize = 1_000;

/// Levels of folders: a listed one may hold folders of extensions.
const FOLDER_DEPTH: usize = 3;

/// True if Pi finds an extension from `dir` that calls us.
pub(super) fn has_pi_extension(dir: &Path, home: &Path) -> bool {
    let listed = json(&dir.join("settings.json"));
    let listed = listed.as_ref().and_then(|settings| settings.get("extensions"));
    calls_us(&dir.join("extensions"), FOLDER_DEPTH - 1)
        || paths(listed, dir, home).iter().any(|path| calls_us(path, FOLDER_DEPTH))
}

/// Paths of a list in a file of `dir`. A glob yields the folder that it begins with; excluded paths
/// are skipped.
fn paths(list: Option<&Value>, dir: &Path, home: &Path) -> Vec<PathBuf> {
    let items = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let included = items.filter(|item| !item.starts_with(['!', '-']));
    let path = |item: &str| {
        let item = item.trim_start_matches('+');
        let parts = Path::new(item).components();
        let plain: PathBuf = parts
            .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
            .collect();
        match plain.strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) => dir.join(plain),
        }
    };
    included.map(path).collect()
}

/// True if the extension at `path` calls us, or one in the folder there.
fn calls_us(path: &Path, depth: usize) -> bool {
    if !path.is_dir() {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_script =
            ending.is_some_and(|it| ["ts", "js", "mts", "mjs", "cts", "cjs"].contains(&it));
        return is_script && content(path).is_some_and(|text| names_us(&text));
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let manifest = json(&path.join("package.json"));
    let listed = manifest.as_ref().and_then(|it| it.get("pi")?.get("extensions"));
    let inside = || {
        let Ok(entries) = fs::read_dir(path) else { return false };
        let mut entries = entries.take(MOST_ENTRIES).flatten().map(|entry| entry.path());
        // Dependencies and hidden files are not searched.
        let is_aside = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_none_or(|name| name == "node_modules" || name.starts_with('.'))
        };
        entries.any(|entry| !is_aside(&entry) && calls_us(&entry, depth))
    };
    paths(listed, path, path).iter().any(|path| calls_us(path, depth)) || inside()
}

/// Position of the program's literal in an extension of ours; none if it is not ours.
pub fn program_range(text: &str) -> Option<Range<usize>> {
    let start = text.find(BEFORE)? + BEFORE.len();
    let line = text[start..].lines().next()?;
    names_us(text.as_bytes()).then_some(start..start + line.rfind(BEHIND)?)
}

fn names_us(text: &[u8]) -> bool {
    has_word(text, PROGRAM) && has_word(text, HOOK)
}

/// True if `word` occurs, and not as a part of another one.
fn has_word(text: &[u8], word: &str) -> bool {
    let is_letter =
        |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memmem::find_iter(text, word.as_bytes()).any(|start| {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        !is_letter(before) && !is_letter(text.get(start + word.len()))
    })
}
