//! Extensions of Pi, which are programs, not settings. One that has the words `recoup` and `hook`
//! in it calls us; a mere mention does no harm. Ours also has a line that names the program to
//! start.
//!
//! ```text
//! DIR/extensions/NAME.ts                      DIR is ~/.pi/agent or .pi of the project
//! DIR/extensions/NAME/index.ts
//! DIR/extensions/NAME/package.json            {"pi": {"extensions": [PATH…]}}
//! DIR/settings.json                           {"extensions": [PATH…]}: files, folders, globs
//! ```
//!
//! Packages that Pi fetches itself (`packages` in its settings) are not searched.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::Value;

use super::{HOOK, PROGRAM, content, json};

/// Text before the program in our extension, and behind it.
const BEFORE: &str = "const PROGRAM = process.env.RECOUP_BIN ?? ";
const BEHIND: char = ';';

/// Most entries of a folder that are read.
const MOST: usize = 1_000;

/// Levels of folders: a listed one may hold folders of extensions.
const DEPTH: usize = 3;

/// True if Pi finds an extension from `dir` that calls us.
pub(super) fn has_pi_extension(dir: &Path, home: &Path) -> bool {
    let listed = json(&dir.join("settings.json"));
    let listed = listed.as_ref().and_then(|settings| settings.get("extensions"));
    calls_us(&dir.join("extensions"), DEPTH - 1)
        || paths(listed, dir, home).iter().any(|path| calls_us(path, DEPTH))
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

/// True for dependencies and hidden files, which are not searched.
fn is_aside(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_none_or(|name| name == "node_modules" || name.starts_with('.'))
}

fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["ts", "js", "mts", "mjs", "cts", "cjs"].contains(&ending))
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
