//! The extensions of Pi: programs, not settings. One that has the words `recoup` and
//! `hook` in it calls us; that it may only talk about us does no harm. Ours is one that does
//! and says in a line of its own which program it starts.
//!
//! ```text
//! DIR/extensions/NAME.ts                      DIR is ~/.pi/agent or .pi of the project
//! DIR/extensions/NAME/index.ts
//! DIR/extensions/NAME/package.json            {"pi": {"extensions": [PATH…]}}
//! DIR/settings.json                           {"extensions": [PATH…]}: files, folders, globs
//! ```
//!
//! Packages that Pi fetches itself (`packages` in its settings) are not looked into.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::Value;

use super::{HOOK, PROGRAM, content, json};

/// What stands before the program in ours, and behind.
const BEFORE: &str = "const PROGRAM = process.env.RECOUP_BIN ?? ";
const BEHIND: char = ';';

/// So many entries of a folder are looked at.
const MOST: usize = 1_000;

/// A listed folder may hold folders of extensions.
const DEPTH: usize = 3;

/// Whether an extension calls us that Pi finds from `dir`.
pub(super) fn of_pi(dir: &Path, home: &Path) -> bool {
    let listed = json(&dir.join("settings.json"));
    let listed = listed.as_ref().and_then(|settings| settings.get("extensions"));
    calls_us(&dir.join("extensions"), DEPTH - 1)
        || paths(listed, dir, home).iter().any(|path| calls_us(path, DEPTH))
}

/// The paths of a list in a file of `dir`. Of a glob, the folder that it begins with;
/// what is excluded is not told apart from what was never there.
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

/// Whether the extension at `path` does, or one in the folder there.
fn calls_us(path: &Path, depth: usize) -> bool {
    if !path.is_dir() {
        return is_script(path) && content(path).is_some_and(|text| names_us(&text));
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let manifest = json(&path.join("package.json"));
    let listed = manifest.as_ref().and_then(|it| it.get("pi")?.get("extensions"));
    let inside = || {
        let Ok(entries) = fs::read_dir(path) else { return false };
        let mut entries = entries.take(MOST).flatten().map(|entry| entry.path());
        entries.any(|entry| !is_aside(&entry) && calls_us(&entry, depth))
    };
    paths(listed, path, path).iter().any(|path| calls_us(path, depth)) || inside()
}

/// What an extension brings along is not looked through.
fn is_aside(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_none_or(|name| name == "node_modules" || name.starts_with('.'))
}

fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["ts", "js", "mts", "mjs", "cts", "cjs"].contains(&ending))
}

/// Where in an extension of ours the program stands, as a literal; none where it is not ours.
pub fn program(text: &str) -> Option<Range<usize>> {
    let start = text.find(BEFORE)? + BEFORE.len();
    let line = text[start..].lines().next()?;
    names_us(text.as_bytes()).then_some(start..start + line.rfind(BEHIND)?)
}

fn names_us(text: &[u8]) -> bool {
    has_word(text, PROGRAM) && has_word(text, HOOK)
}

/// Whether `word` is there, and not as a part of another one.
fn has_word(text: &[u8], word: &str) -> bool {
    let is_letter =
        |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memmem::find_iter(text, word.as_bytes()).any(|start| {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        !is_letter(before) && !is_letter(text.get(start + word.len()))
    })
}
