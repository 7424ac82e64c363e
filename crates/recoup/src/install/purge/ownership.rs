//! Recognises our files in our own directory, by name and place and, for everyday names, by
//! content.
//!
//! ```text
//! backups/TIME-NUMBER-OF-NAME       breakers/STORE           claims/STORE/ID.claim
//! early-exit/SESSION/…              ledger/STORE/…           logs/hits.jsonl, logs/hooks.log
//! projects/PROJECT                  queue/PROJECT/JOB.json   snapshots/memory-DATE.db
//! trusted/DIGEST
//! ```

use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::memory::date_of_snapshot;
use recoup_core::store::sqlite::{DatabaseFileRole, lock_path};
use serde_json::Value;

use crate::install::backups;
use crate::install::edit::toml;

/// Limit for files that are inspected.
const LARGEST: u64 = 16 << 20;

/// The databases, without the files next to them.
const DATABASES: [&str; 3] = ["cache.db", "memory.db", "near.db"];

/// Hexadecimal digits in the names of stores, of projects and claims, and of digests.
const STORE: usize = 16;
const PROJECT: usize = 32;
const TEXT: usize = 64;

/// True if a file is ours; `names` is its path below our own directory.
pub(super) fn is_our_file(names: &[&str], path: &Path, words: &[&str]) -> bool {
    match names {
        [.., name] if fsx::is_hidden_temporary(name) => true,
        [name] => is_our_top_level_file(name, path, words),
        [backups::DIR, name] => backups::BackupName::parse(name).is_some(),
        ["breakers", name] => is_hex(name, STORE),
        ["claims", store, name] => {
            is_hex(store, STORE) && has_stem(name, ".claim", |id| is_hex(id, PROJECT))
        }
        ["early-exit", "+swept"]
        | ["early-exit", "+locks" | "+tmp", ..]
        | ["ledger", "watch.lock"] => true,
        ["early-exit", _, rest @ ..] => is_of_session(rest),
        ["ledger", store, rest @ ..] => is_hex(store, STORE) && is_of_ledger(rest),
        ["logs", name] => is_log(name),
        ["projects", name] => is_hex(name, PROJECT),
        ["queue", project, "lock"] => is_hex(project, PROJECT),
        ["queue", project, name] => {
            is_hex(project, PROJECT)
                && (has_stem(name, ".json", |job| is_numbered_id(job, '.'))
                    || has_stem(name, ".kept", is_id))
        }
        ["snapshots", name] => date_of_snapshot(name).is_some() && is_snapshot(path),
        ["trusted", name] => is_hex(name, TEXT),
        // A damaged database is set aside with all files next to it.
        [aside, _] => is_set_aside(aside),
        _ => false,
    }
}

/// True if we use this name in our own directory, whatever its content is.
pub(crate) fn is_our_name(name: &str) -> bool {
    const FILES: [&str; 13] = [
        "config.toml",
        "installed.json",
        "judge.json",
        "mirrors.json",
        "trust.json",
        "mcp-token",
        "install.lock",
        "judge.lock",
        "judge.json.lock",
        "mcp-token.lock",
        "mirrors.due",
        "mirrors.lock",
        "trust.lock",
    ];
    FILES.contains(&name)
        || may_be_our_dir(&[name])
        || fsx::is_hidden_temporary(name)
        || is_damaged_register(name)
        || DATABASES.into_iter().any(|database| DatabaseFileRole::of(name, database).is_some())
}

/// True if a directory may be ours, depending on its content.
pub(super) fn may_be_our_dir(names: &[&str]) -> bool {
    match names {
        [
            "backups" | "breakers" | "claims" | "early-exit" | "ledger" | "logs" | "projects"
            | "queue" | "snapshots" | "trusted",
        ]
        | ["early-exit", "+locks" | "+tmp", ..]
        | ["early-exit", _]
        | ["early-exit", _, "WINNER" | "agents" | "results"] => true,
        ["claims" | "ledger", store] | ["ledger", store, "history"] => is_hex(store, STORE),
        ["queue", project] => is_hex(project, PROJECT),
        [aside] => is_set_aside(aside),
        _ => false,
    }
}

/// True for an everyday name: an empty directory of that name is not ours.
pub(super) fn is_common_dir_name(names: &[&str]) -> bool {
    matches!(names, ["backups" | "logs" | "projects" | "queue" | "snapshots"])
}

fn is_our_top_level_file(name: &str, path: &Path, words: &[&str]) -> bool {
    match name {
        "config.toml" => is_configuration(path, words),
        "installed.json" => has_fields(path, &["version", "files"]),
        "judge.json" => has_fields(path, &["budget"]),
        "mirrors.json" => has_fields(path, &["version", "places"]),
        name if is_damaged_register(name) => true,
        "trust.json" => has_fields(path, &["version", "projects"]),
        "install.lock" | "judge.lock" | "judge.json.lock" | "mcp-token.lock" | "mirrors.due"
        | "mirrors.lock" | "trust.lock" => is_empty(path),
        "mcp-token" => text(path).is_some_and(|token| is_token(&token)),
        name => is_of_database(name, path),
    }
}

/// True for our database, by its application id, and for the files next to one. Our lock may be
/// next to somebody else's database: we tried it, and saw that it is not ours.
fn is_of_database(name: &str, path: &Path) -> bool {
    let beside = DATABASES.into_iter().find_map(|it| Some((it, DatabaseFileRole::of(name, it)?)));
    let Some((database, beside)) = beside else { return false };
    let main = path.with_file_name(database);
    let is_begun = || lock_path(&main).exists() && is_empty(&main);
    match beside {
        DatabaseFileRole::Lock => is_empty(path),
        DatabaseFileRole::Mark => {
            text(path).is_some_and(|text| text.bytes().all(|it| it.is_ascii_digit()))
        }
        DatabaseFileRole::Itself | DatabaseFileRole::Unfinished => {
            has_our_mark(&main) || is_begun()
        }
        DatabaseFileRole::Backup(copy) => has_our_mark(&path.with_file_name(copy)),
        // A directory, not a file.
        DatabaseFileRole::SetAside(_) => false,
    }
}

/// Checks the application id of an SQLite file: `Rcop` for entries, `Rcom` for memories.
fn has_our_mark(database: &Path) -> bool {
    let start = fsx::read_start(database, 72).unwrap_or_default();
    start.starts_with(b"SQLite format 3\0") && start.get(68..71) == Some(b"Rco")
}

/// True for a snapshot or an unfinished one, whose journal is recognised by its name alone.
fn is_snapshot(path: &Path) -> bool {
    path.to_string_lossy().ends_with("-journal") || has_our_mark(path) || is_empty(path)
}

/// True if the file is empty or missing.
fn is_empty(path: &Path) -> bool {
    path.metadata().map_or_else(|_| !path.is_symlink(), |found| found.is_file() && found.len() == 0)
}

/// True for a register of ours that could not be read.
fn is_damaged_register(name: &str) -> bool {
    name.strip_prefix("mirrors.json.damaged-").is_some_and(is_id)
}

fn is_set_aside(name: &str) -> bool {
    let beside = DATABASES.into_iter().find_map(|it| DatabaseFileRole::of(name, it));
    matches!(beside, Some(DatabaseFileRole::SetAside(id)) if is_id(id))
}

fn is_of_session(names: &[&str]) -> bool {
    matches!(
        names,
        [".recoup-session" | "signal_time" | "winner_agent"]
            | ["WINNER", "winner.json"]
            | ["agents" | "results", _]
    )
}

fn is_of_ledger(names: &[&str]) -> bool {
    match names {
        ["open.log" | "fold.lock" | "verified.log" | "verified.1.log" | "verified.lock"]
        | ["history", "current.log"] => true,
        [name] => has_stem(name, ".batch", is_id) || has_stem(name, ".told", is_id),
        ["history", name] => has_stem(name, ".log", is_id),
        _ => false,
    }
}

/// `hits.jsonl`, `hits.1.jsonl`, `hits.lock`
fn is_log(name: &str) -> bool {
    [("hits", "jsonl"), ("hooks", "log")].into_iter().any(|(log, extension)| {
        match name.split('.').collect::<Vec<_>>()[..] {
            [stem, last] => stem == log && (last == extension || last == "lock"),
            [stem, number, last] => {
                stem == log && number.parse::<u32>().is_ok() && last == extension
            }
            _ => false,
        }
    })
}

/// True if every top-level key is ours; a file without keys has to mention us.
fn is_configuration(path: &Path, words: &[&str]) -> bool {
    let Some(text) = text(path) else { return false };
    let Ok(Value::Object(root)) = toml::parse_to_json(&text) else { return false };
    if root.is_empty() {
        return text.trim().is_empty() || text.contains("recoup");
    }
    root.keys().all(|word| words.contains(&word.as_str()))
}

fn has_fields(path: &Path, fields: &[&str]) -> bool {
    let value = text(path).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    value.is_some_and(|value| fields.iter().all(|field| value.get(field).is_some()))
}

fn is_token(text: &str) -> bool {
    let token = text.strip_suffix('\n').unwrap_or(text);
    token.len() >= 16 && token.bytes().all(|byte| byte.is_ascii_graphic())
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(fsx::read_regular(path, LARGEST).ok()??).ok()
}

fn has_stem(name: &str, extension: &str, fits: impl Fn(&str) -> bool) -> bool {
    name.strip_suffix(extension).is_some_and(fits)
}

fn is_numbered_id(text: &str, sign: char) -> bool {
    text.split_once(sign).is_some_and(|(id, more)| is_id(id) && more.parse::<u32>().is_ok())
}

/// True for ids as `base::name` makes them.
fn is_id(text: &str) -> bool {
    text.len() == 26 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
