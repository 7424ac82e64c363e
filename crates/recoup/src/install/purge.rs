//! Deletes all stored data, but only files that are known to be ours: the directory may hold other
//! things under the same everyday names.

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::memory::date_of_snapshot;
use recoup_core::store::sqlite::{DatabaseFileRole, lock_path};
use recoup_core::{Error, Result};
use serde_json::Value;

use super::apply::{BACKUPS, BackupName};
use super::edit::toml;
use super::places::{PROGRAM_NAME, PROGRAMS};

/// Limit for files that are inspected.
const LARGEST: u64 = 16 << 20;

/// The databases, without the files next to them.
const DATABASES: [&str; 3] = ["cache.db", "memory.db", "near.db"];

/// How the content of a file with an everyday name shows that it is ours.
enum OwnershipProof {
    /// Every top-level key is ours.
    Configuration,
    /// JSON with these fields.
    Fields(&'static [&'static str]),
    /// Empty.
    Empty,
    /// A token.
    Token,
    /// Random bytes, as many.
    Bytes(u64),
}

/// Our files in our own directory, besides databases.
const OWN_FILES: [(&str, OwnershipProof); 17] = [
    ("config.toml", OwnershipProof::Configuration),
    ("installed.json", OwnershipProof::Fields(&["version", "files"])),
    ("judge.json", OwnershipProof::Fields(&["budget"])),
    ("mirrors.json", OwnershipProof::Fields(&["version", "places"])),
    ("trust.json", OwnershipProof::Fields(&["version", "projects"])),
    ("mcp-token", OwnershipProof::Token),
    ("gateway-key", OwnershipProof::Bytes(32)),
    ("gateway-spend.json", OwnershipProof::Fields(&["day", "tenants"])),
    ("credential-fingerprints.key", OwnershipProof::Token),
    ("credential-fingerprints.key.lock", OwnershipProof::Empty),
    ("install.lock", OwnershipProof::Empty),
    ("judge.lock", OwnershipProof::Empty),
    ("judge.json.lock", OwnershipProof::Empty),
    ("mcp-token.lock", OwnershipProof::Empty),
    ("mirrors.due", OwnershipProof::Empty),
    ("mirrors.lock", OwnershipProof::Empty),
    ("trust.lock", OwnershipProof::Empty),
];

/// Hexadecimal digits in the names of stores, of projects and claims, and of digests.
const STORE: usize = 16;
const PROJECT: usize = 32;
const TEXT: usize = 64;

/// Content of our own directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct PurgePlan {
    /// To be deleted.
    pub(crate) ours: Vec<PathBuf>,
    /// Not known, and left.
    pub(crate) others: Vec<PathBuf>,
}

/// Directory to purge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PurgeTarget<'a> {
    pub(crate) own: &'a Path,
    pub(crate) user_home: &'a Path,
    /// Top-level keys of our configuration.
    pub(crate) words: &'a [&'a str],
}

/// Lists what is there. Refuses a directory that cannot be ours alone.
pub(crate) fn plan_purge(ground: PurgeTarget<'_>) -> Result<PurgePlan> {
    let own = ground.own;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (own_real, home) = (real(own), real(ground.user_home));
    if own_real.parent().is_none() || home.starts_with(&own_real) || own.join(".git").exists() {
        return Err(Error::usage(format!(
            "{} contains more than recoup's files: nothing in it is deleted; remove by hand what \
             you no longer need",
            own.display()
        )));
    }
    Ok(sort_dir(own, &mut Vec::new(), ground))
}

/// Deletes our files, and the directory if nothing is left in it.
pub(crate) fn carry_out(ground: PurgeTarget<'_>) -> Result<()> {
    plan_purge(ground)?.ours.iter().try_for_each(|path| fsx::remove_tree(path))?;
    if !ground.own.is_symlink() {
        fsx::remove_empty_dir(ground.own)?;
    }
    Ok(())
}

/// Sorts the content of a directory; `above` is its path below our own. A directory with only our
/// files is listed as one.
fn sort_dir(dir: &Path, above: &mut Vec<String>, ground: PurgeTarget<'_>) -> PurgePlan {
    let mut found = PurgePlan::default();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        above.push(entry.file_name().to_string_lossy().into_owned());
        let all = above.clone();
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        // Links are not followed: their target is not in our directory.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let ours = is_our_file(&names, &path, ground.words);
            if ours { &mut found.ours } else { &mut found.others }.push(path);
        } else if may_be_our_dir(&names) {
            let inside = sort_dir(&path, above, ground);
            // An empty directory with an everyday name is not ours.
            let is_common = matches!(
                names[..],
                ["backups"
                    | "bin"
                    | "cassettes"
                    | "logs"
                    | "projects"
                    | "queue"
                    | "running"
                    | "runs"
                    | "snapshots"]
            );
            if inside == PurgePlan::default() && is_common {
                found.others.push(path);
            } else if inside.others.is_empty() {
                found.ours.push(path);
            } else {
                found.ours.extend(inside.ours);
                found.others.extend(inside.others);
            }
        } else {
            found.others.push(path);
        }
        above.pop();
    }
    found.ours.sort();
    found.others.sort();
    found
}

/// True if a file is ours, by name and place and, for everyday names, by content; `names` is its
/// path below our own directory.
///
/// ```text
/// bin/recoup
/// backups/TIME-NUMBER-OF-NAME       breakers/STORE[.lock]    claims/STORE/ID.claim
/// early-exit/SESSION/…              ledger/STORE/…           logs/hits.jsonl, logs/hooks.log
/// projects/PROJECT                  queue/PROJECT/JOB.json   snapshots/memory-DATE.db
/// trusted/DIGEST                    running/DIGEST/DIGEST    runs/DIGEST.PROCESS.jsonl
/// cassettes/DIGEST.json
/// ```
fn is_our_file(names: &[&str], path: &Path, words: &[&str]) -> bool {
    let is_numbered_id = |text: &str| {
        text.split_once('.').is_some_and(|(id, more)| is_id(id) && more.parse::<u32>().is_ok())
    };
    match names {
        [.., name] if fsx::is_hidden_temporary(name) => true,
        [name] if is_damaged_register(name) => true,
        [name] => match OWN_FILES.iter().find(|(it, _)| it == name) {
            Some((_, proof)) => proof.holds_for(path, words),
            None => is_of_database(name, path),
        },
        [BACKUPS, name] => BackupName::parse(name).is_some(),
        [PROGRAMS, name] => *name == PROGRAM_NAME,
        ["breakers", name] => is_hex(name.strip_suffix(".lock").unwrap_or(name), STORE),
        ["claims", store, name] => {
            is_hex(store, STORE) && has_stem(name, ".claim", |id| is_hex(id, PROJECT))
        }
        ["early-exit", "+swept"]
        | ["early-exit", "+locks" | "+tmp", ..]
        | ["ledger", "watch.lock"]
        | ["early-exit", _, ".recoup-session" | "signal_time" | "winner_agent"]
        | ["early-exit", _, "WINNER", "winner.json"]
        | ["early-exit", _, "agents" | "results", _] => true,
        ["ledger", store, rest @ ..] => is_hex(store, STORE) && is_of_ledger(rest),
        ["logs", name] => is_log(name),
        ["projects", name] => is_hex(name, PROJECT),
        ["queue", project, "lock"] => is_hex(project, PROJECT),
        ["queue", project, name] => {
            is_hex(project, PROJECT)
                && (has_stem(name, ".json", is_numbered_id) || has_stem(name, ".kept", is_id))
        }
        // Also an unfinished one, whose journal is recognised by its name alone.
        ["snapshots", name] => {
            date_of_snapshot(name).is_some()
                && (name.ends_with("-journal") || has_our_mark(path) || is_empty(path))
        }
        ["trusted", name] => is_hex(name, TEXT),
        ["running", session, call] => is_hex(session, TEXT) && is_hex(call, TEXT),
        ["runs", name] => has_stem(name, ".jsonl", |stem| {
            stem.split_once('.')
                .is_some_and(|(key, process)| is_hex(key, TEXT) && process.parse::<u32>().is_ok())
        }),
        ["cassettes", name] => has_stem(name, ".json", |stem| is_hex(stem, PROJECT)),
        // A damaged database is set aside with all files next to it.
        [aside, _] => is_set_aside(aside),
        _ => false,
    }
}

impl OwnershipProof {
    fn holds_for(&self, path: &Path, words: &[&str]) -> bool {
        match (self, text(path)) {
            (Self::Empty, _) => is_empty(path),
            (Self::Bytes(count), _) => path.metadata().is_ok_and(|it| it.len() == *count),
            (_, None) => false,
            (Self::Configuration, Some(text)) => match toml::parse_to_json(&text) {
                // A file without keys has to mention us.
                Ok(Value::Object(root)) if root.is_empty() => {
                    text.trim().is_empty() || text.contains("recoup")
                }
                Ok(Value::Object(root)) => root.keys().all(|word| words.contains(&word.as_str())),
                _ => false,
            },
            (Self::Fields(fields), Some(text)) => serde_json::from_str::<Value>(&text)
                .is_ok_and(|value| fields.iter().all(|field| value.get(field).is_some())),
            (Self::Token, Some(text)) => {
                let token = text.strip_suffix('\n').unwrap_or(&text);
                token.len() >= 16 && token.bytes().all(|byte| byte.is_ascii_graphic())
            }
        }
    }
}

/// True if we use this name in our own directory, whatever its content is.
pub(crate) fn is_our_name(name: &str) -> bool {
    OWN_FILES.iter().any(|(it, _)| *it == name)
        || may_be_our_dir(&[name])
        || fsx::is_hidden_temporary(name)
        || is_damaged_register(name)
        || DATABASES.into_iter().any(|database| DatabaseFileRole::of(name, database).is_some())
}

/// True if a directory may be ours, depending on its content.
fn may_be_our_dir(names: &[&str]) -> bool {
    match names {
        [
            "backups" | "bin" | "breakers" | "cassettes" | "claims" | "early-exit" | "ledger"
            | "logs" | "projects" | "queue" | "running" | "runs" | "snapshots" | "trusted",
        ]
        | ["early-exit", "+locks" | "+tmp", ..]
        | ["early-exit", _]
        | ["early-exit", _, "WINNER" | "agents" | "results"] => true,
        ["claims" | "ledger", store] | ["ledger", store, "history"] => is_hex(store, STORE),
        ["queue", project] => is_hex(project, PROJECT),
        ["running", session] => is_hex(session, TEXT),
        [aside] => is_set_aside(aside),
        _ => false,
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

fn is_of_ledger(names: &[&str]) -> bool {
    match names {
        ["open.log" | "fold.lock" | "verified.log" | "verified.1.log" | "verified.lock"]
        | ["history", "current.log"] => true,
        [name] => has_stem(name, ".batch", is_id) || has_stem(name, ".told", is_id),
        ["history", name] => has_stem(name, ".log", is_id),
        _ => false,
    }
}

/// `hits.jsonl`, `hits.1.jsonl`, `hits.lock` and the like.
fn is_log(name: &str) -> bool {
    const LOGS: [(&str, &str); 6] = [
        ("hits", "jsonl"),
        ("hooks", "log"),
        ("mcp-calls", "jsonl"),
        ("commands", "jsonl"),
        ("gateway", "jsonl"),
        ("gateway-requests", "jsonl"),
    ];
    LOGS.into_iter().any(|(log, extension)| match name.split('.').collect::<Vec<_>>()[..] {
        [stem, last] => stem == log && (last == extension || last == "lock"),
        [stem, number, last] => stem == log && number.parse::<u32>().is_ok() && last == extension,
        _ => false,
    })
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(fsx::read_regular(path, LARGEST).ok()??).ok()
}

fn has_stem(name: &str, extension: &str, fits: impl Fn(&str) -> bool) -> bool {
    name.strip_suffix(extension).is_some_and(fits)
}

/// True for ids as `base::name` makes them.
fn is_id(text: &str) -> bool {
    text.len() == 26 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
