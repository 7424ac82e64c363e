//! Our hooks in the settings of clients. `recoup exec` in front of a client needs this for the cache
//! key: the rules that its agent will be given are then part of it.
//!
//! A client has our hooks if one of its hooks is a call of ours (`call.rs`). A file that is
//! missing, unreadable, too large or malformed has none, as for the client. Where clients differ in
//! what they read, any reading with our hooks counts: a rule too many in a key costs a run, one too
//! few gives out an answer that was made without it.
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
use recoup_core::base::fsx;
use serde_json::Value;
use toml_edit::Document;

use super::call::{HOOK, PROGRAM, call_in_hook, hooks_at_events};
use super::spec::{FileContent, FileDir, FileSpec, InstallLevel, JsonDialect, OffSwitch};
use super::{AgentClient, ClientDirs, ClientPlaces, replace_lone_surrogates, toml_item_to_json};

/// Largest settings file that is read. Claude Code's own file grows with every project.
pub const LARGEST: u64 = 64 << 20;

/// A settings file of a client as it is now; none if it can't be read.
struct HookFile {
    path: PathBuf,
    content: FileContent,
    root: Value,
}

/// Name of our plugin, in front of that of the marketplace that it comes from.
const PLUGIN: &str = "recoup@";

/// True if `client` calls us, by hooks in the user's or the project's settings or by our plugin.
pub fn has_our_hooks(client: AgentClient, places: &ClientPlaces<'_>) -> bool {
    has_hooks_in_settings(client, places) || has_our_plugin(client, places)
}

/// True if hooks in the user's or the project's settings call us.
pub fn has_hooks_in_settings(client: AgentClient, places: &ClientPlaces<'_>) -> bool {
    let calls_us = |file: &HookFile| match file.content {
        FileContent::Extension => has_pi_extension(extension_dir(&file.path), &places.dirs.home),
        _ => file.calls_us(),
    };
    is_in_settings(client, places, |files| files.iter().any(&calls_us))
}

/// True if the user's or the project's settings enable our plugin.
pub fn has_our_plugin(client: AgentClient, places: &ClientPlaces<'_>) -> bool {
    matches!(client, AgentClient::ClaudeCode | AgentClient::Codex)
        && is_in_settings(client, places, |files| {
            files.iter().find_map(HookFile::plugin_state) == Some(true)
        })
}

/// True if hooks run, and the files that may have them are as asked for.
fn is_in_settings(
    client: AgentClient,
    places: &ClientPlaces<'_>,
    is_as_asked: impl Fn(&[HookFile]) -> bool,
) -> bool {
    let Some(hooks) = &client.spec().hooks else { return false };
    // The project's settings may be in any folder from here up to its root.
    let start = places.cwd.unwrap_or(places.root);
    let within = start.ancestors().take_while(|dir| dir.starts_with(places.root));
    let mut projects: Vec<&Path> = within.collect();
    if projects.is_empty() {
        projects = vec![start, places.root];
    }
    let switch = hooks.off_switch.filter(|switch| switch.is_final);
    projects.into_iter().any(|root| {
        let files = read_hook_files(client, places.dirs, Some(root));
        let is_off = switch.is_some_and(|switch| file_disabling(&files, switch).is_some());
        !is_off && is_as_asked(&files)
    })
}

/// Returns the file that tells a client to run no hooks at all, in the user's settings and, if a
/// project counts as well, in those of its root. The file with the highest precedence that says
/// anything about it decides.
pub fn hooks_disabled_by(
    client: AgentClient,
    dirs: &ClientDirs,
    root: Option<&Path>,
) -> Option<PathBuf> {
    let switch = client.spec().hooks.as_ref()?.off_switch?;
    let files = read_hook_files(client, dirs, root);
    file_disabling(&files, switch).map(Path::to_path_buf)
}

fn file_disabling(files: &[HookFile], switch: OffSwitch) -> Option<&Path> {
    let value = |file: &HookFile| {
        let value_at = |path: &&[&str]| get_path(&file.root, path)?.as_bool();
        switch.paths.iter().find_map(value_at)
    };
    let said = files.iter().find_map(|file| Some((&file.path, value(file)?)));
    said.filter(|(_, said)| *said == switch.off).map(|(path, _)| &**path)
}

/// Reads the files that may have hooks, the one with the highest precedence first.
fn read_hook_files(client: AgentClient, dirs: &ClientDirs, root: Option<&Path>) -> Vec<HookFile> {
    let at_level = |level| {
        let is_read = move |file: &&FileSpec| file.level == level && file.content.has_hooks();
        client.spec().files.iter().filter(is_read)
    };
    let project = root.into_iter().flat_map(|_| at_level(InstallLevel::Project));
    let all = project.chain(at_level(InstallLevel::User)).flat_map(|file| {
        let dir = match (file.dir, root) {
            (FileDir::Root, Some(root)) => root.to_owned(),
            _ => dirs.of(client),
        };
        // Only one of both counts for the client, but any reading with our hooks counts here.
        let all = [Some((file.path, file.content)), file.alternative];
        all.into_iter().flatten().map(move |(path, content)| (dir.join(path), content))
    });
    let read = |(path, content): (PathBuf, FileContent)| {
        let root = match content {
            FileContent::Extension => Value::Null,
            FileContent::TomlServers | FileContent::TomlHooks => read_toml(&path)?,
            FileContent::Hooks(_, dialect) | FileContent::Servers(_, _, dialect) => {
                read_json(&path, dialect)?
            }
        };
        Some(HookFile { path, content, root })
    };
    all.filter_map(read).collect()
}

impl HookFile {
    fn calls_us(&self) -> bool {
        let groups = |hooks: &Value| hooks_at_events(hooks).next().is_some();
        match self.content {
            FileContent::Hooks(at, _) => get_path(&self.root, at).is_some_and(groups),
            FileContent::TomlServers => self.root.get("hooks").is_some_and(groups),
            FileContent::TomlHooks => {
                let hooks = self.root.get("hooks").and_then(Value::as_array);
                hooks.into_iter().flatten().any(|hook| call_in_hook(hook).is_some())
            }
            FileContent::Servers(..) | FileContent::Extension => false,
        }
    }

    /// True if the file enables our plugin, false if it disables it; none if it does neither.
    fn plugin_state(&self) -> Option<bool> {
        // Claude Code's table of plugins, and Codex's.
        let tables = ["enabledPlugins", "plugins"];
        let tables = tables.into_iter().filter_map(|name| self.root.get(name)?.as_object());
        let ours = tables.flatten().filter(|(name, _)| name.starts_with(PLUGIN));
        let is_on = |value: &Value| {
            value.as_bool().or_else(|| value.get("enabled")?.as_bool()).unwrap_or(true)
        };
        ours.map(|(_, value)| is_on(value)).reduce(|one, other| one || other)
    }
}

/// True if a file has hooks of anybody, in the object at a path.
pub(super) fn has_any_hooks(path: &Path, at: &[&str], dialect: JsonDialect) -> bool {
    let root = read_json(path, dialect);
    let events = root.as_ref().and_then(|root| get_path(root, at)?.as_object());
    let is_some = |groups: &Value| groups.as_array().is_some_and(|all| !all.is_empty());
    events.is_some_and(|events| events.values().any(is_some))
}

/// Value at a path of names.
fn get_path<'v>(root: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, name| value.get(name))
}

/// Content of a file; none if it can't be read, or is too large.
fn content(path: &Path) -> Option<Vec<u8>> {
    fsx::read_regular(path, LARGEST).ok()?
}

/// Content of a JSON file.
pub(super) fn read_json(path: &Path, dialect: JsonDialect) -> Option<Value> {
    let content = content(path)?;
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
    let text = replace_lone_surrogates(std::str::from_utf8(content).ok()?);
    match dialect {
        JsonDialect::Strict => serde_json::from_str(&text).ok(),
        JsonDialect::Comments => {
            jsonc_parser::parse_to_serde_value(&text, &jsonc_parser::ParseOptions::default()).ok()
        }
    }
}

/// Content of a TOML file, as JSON.
fn read_toml(path: &Path) -> Option<Value> {
    let content = content(path)?;
    let text = std::str::from_utf8(&content).ok()?;
    let document = Document::parse(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    Some(toml_item_to_json(document.as_item()))
}

/// Text before the program in our extension, and behind it.
const BEFORE: &str = "const PROGRAM = process.env.RECOUP_BIN ?? ";
const BEHIND: char = ';';

/// Most entries of a folder that are read.
const MOST_ENTRIES: usize = 1_000;

/// Levels of folders: a listed one may hold folders of extensions.
const FOLDER_DEPTH: usize = 3;

/// Directory of Pi that a file of its extensions is in.
fn extension_dir(path: &Path) -> &Path {
    path.ancestors().nth(2).unwrap_or(path)
}

/// True if Pi finds an extension from `dir` that calls us.
fn has_pi_extension(dir: &Path, home: &Path) -> bool {
    let listed = read_json(&dir.join("settings.json"), JsonDialect::Strict);
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
    let manifest = read_json(&path.join("package.json"), JsonDialect::Strict);
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
pub fn extension_program(text: &str) -> Option<Range<usize>> {
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
