//! The key of a command: programs, arguments, directory and environment. The state of its sources,
//! the programs' own files among them, is not part of it: that is checked at a look-up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::canonical::canonical_value;
use super::{Key, KeyPart, KeyRecipe, Kind, NOT_SET, PartKind, RuleSetFingerprint, SET, part};
use crate::base::digest::{Sha256Digest, encode_hex};
use crate::error::Result;

/// Prefix of the parts of variables.
const VARIABLE: &str = "env ";

/// Inputs that determine the output of a command, as far as we are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecipe {
    /// The program, then those that it is run with or starts: interpreters, and what a wrapper
    /// such as `timeout` runs.
    pub programs: Vec<ResolvedExecutable>,
    /// Its arguments, beginning with the name that it was called by.
    pub arguments: Vec<OsString>,
    /// Working directory: from the project's root, or absolute outside of one.
    pub directory: PathBuf,
    /// The variables that count; `None` for one that is not set.
    pub environment: BTreeMap<String, Option<OsString>>,
    /// Digest of its input, where that counts.
    pub stdin: Option<Sha256Digest>,
    /// The files, directories and globs that it reads, as they were given, and the files among
    /// its arguments: one that comes into being makes another command.
    pub sources: Vec<String>,
    /// True if files that the command names are watched, too.
    pub auto_sources: bool,
    /// True if it is given a terminal.
    pub tty: bool,
    /// Rules that we give to an agent that it runs; `None` where we give none.
    pub rules: Option<RuleSetFingerprint>,
    /// Anything else by which the caller tells commands apart.
    pub extra: Option<String>,
}

/// A program as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedExecutable {
    /// The path that it was found at. Some programs depend on it, even if it is a link.
    pub path: PathBuf,
    /// The file that this leads to.
    pub target: PathBuf,
}

impl CommandRecipe {
    fn sorted_sources(&self) -> Vec<&str> {
        let mut sources: Vec<&str> = self.sources.iter().map(String::as_str).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }
}

impl KeyRecipe for CommandRecipe {
    const KIND: Kind = Kind::Command;

    fn key(&self) -> Result<Key> {
        let Self {
            programs,
            arguments,
            directory,
            environment,
            stdin,
            sources: _,
            auto_sources,
            tty,
            rules,
            extra,
        } = self;
        let variable = |(name, value): (&String, &Option<OsString>)| {
            (name.clone(), value.as_deref().map_or(Value::Null, lossless_json))
        };
        let mut inputs = json!({
            "v": 2,
            "kind": Self::KIND.as_str(),
            "programs": programs.iter().map(ResolvedExecutable::to_json).collect::<Vec<_>>(),
            "args": arguments.iter().map(|argument| lossless_json(argument)).collect::<Vec<_>>(),
            "cwd": lossless_json(directory.as_os_str()),
            "env": environment.iter().map(variable).collect::<serde_json::Map<_, _>>(),
            "stdin": stdin,
            "sources": self.sorted_sources(),
            "auto_sources": auto_sources,
            "tty": tty,
            "extra": extra,
        });
        // Only commands that are given rules have this input.
        if let Some(RuleSetFingerprint { digest, rules: _ }) = rules {
            inputs["rules"] = json!(digest);
        }
        let text = canonical_value(&inputs)?;
        Ok(Key::from_digest(Sha256Digest::of(text.as_bytes())))
    }

    /// Parts that are always there come first; the arguments, by which people know a command, last.
    fn parts(&self) -> Vec<KeyPart> {
        let Self {
            programs,
            arguments,
            directory,
            environment,
            stdin,
            sources,
            auto_sources,
            tty,
            rules,
            extra,
        } = self;
        let digested: Vec<_> = programs.iter().map(ResolvedExecutable::to_json).collect();
        let mut program = KeyPart::hidden("executable", &Value::from(digested).to_string());
        // Shows the paths alone, by which people know programs.
        let paths: Vec<_> = programs.iter().map(|it| shell_quoted(it.path.as_os_str())).collect();
        program.preview = Some(paths.join(" "));
        let directory = shell_quoted(directory.as_os_str());
        let mut parts = vec![program, KeyPart::shown("directory", &directory)];
        // Not even the digest of a value: it may be short, and secret.
        parts.extend(environment.iter().map(|(name, value)| {
            let state = if value.is_some() { SET } else { NOT_SET };
            KeyPart::hidden(&format!("{VARIABLE}{name}"), state)
        }));
        parts.extend(stdin.map(|digest| KeyPart::hidden("stdin", &digest.to_hex())));
        if !sources.is_empty() {
            parts.push(KeyPart::shown("sources", &self.sorted_sources().join(" ")));
        }
        if !auto_sources {
            parts.push(KeyPart::hidden("auto sources", "no"));
        }
        if *tty {
            parts.push(KeyPart::hidden("terminal", "yes"));
        }
        parts.extend(rules.as_ref().map(RuleSetFingerprint::to_part));
        parts.extend(extra.as_deref().map(|extra| KeyPart::shown("extra", extra)));
        let words: Vec<_> = arguments.iter().map(|argument| shell_quoted(argument)).collect();
        parts.push(KeyPart::shown("arguments", &words.join(" ")));
        parts
    }

    fn part_kind(part: &str) -> PartKind {
        match part {
            "executable" => PartKind::File,
            "sources" => PartKind::List(' '),
            "stdin" | "terminal" | "auto sources" => PartKind::Hidden,
            part::RULES_PART => PartKind::Rules,
            _ if part.starts_with(VARIABLE) => PartKind::Switch,
            _ => PartKind::Text,
        }
    }
}

impl ResolvedExecutable {
    fn to_json(&self) -> Value {
        let Self { path, target } = self;
        json!({ "path": lossless_json(path.as_os_str()), "target": lossless_json(target.as_os_str()) })
    }
}

/// Text as it is; other bytes in a form that no text has.
fn lossless_json(word: &OsStr) -> Value {
    match word.to_str() {
        Some(text) => json!(text),
        None => json!({ "hex": encode_hex(word.as_bytes()) }),
    }
}

/// Quotes a word as one would type it in a shell.
pub fn shell_quoted(word: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=+@%".contains(&byte);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(plain) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => {
            let escaped = |byte: &u8| match byte {
                byte if plain(*byte) => char::from(*byte).to_string(),
                byte => format!("\\x{byte:02x}"),
            };
            format!("$'{}'", word.as_bytes().iter().map(escaped).collect::<String>())
        }
    }
}
