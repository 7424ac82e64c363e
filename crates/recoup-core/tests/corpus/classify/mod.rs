//! Prompts that developers type, with what is to be remembered of them; see
//! `xtask/corpora/classify/README.md`. Used by the tests, by `cargo xtask eval classify`
//! and by the program that makes the weights.
#![allow(dead_code, reason = "each of those who use it needs a part")]

pub(crate) mod figures;
pub(crate) mod judge;
pub(crate) mod short;
pub(crate) mod train;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A prompt and what a person would want remembered of it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Prompt {
    /// What it is called by.
    pub(crate) id: String,
    /// As it was typed.
    pub(crate) text: String,
    /// Its kind: correction, preference, project-knowledge, devops, re-ask or none.
    pub(crate) label: String,
    /// What should be stored, as a guide.
    #[serde(default)]
    pub(crate) statement: String,
    /// Whether that forbids or denies.
    #[serde(default)]
    pub(crate) negated: bool,
    /// What the stored statement must hold, in small letters.
    #[serde(default)]
    pub(crate) must: Vec<String>,
    /// `universal` or `project`.
    #[serde(default)]
    pub(crate) scope: String,
    /// The language.
    pub(crate) lang: String,
    /// Why it is nothing to remember.
    #[serde(default)]
    pub(crate) why: String,
}

impl Prompt {
    /// Whether something of it is to be stored.
    pub(crate) fn is_memory(&self) -> bool {
        !matches!(self.label.as_str(), "none" | "re-ask")
    }
}

/// Where a corpus lies.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/classify").join(name)
}

/// The prompts of a file.
pub(crate) fn prompts(name: &str) -> Vec<Prompt> {
    let path = path(name);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text)
}

/// The prompts of a text with one in each line.
pub(crate) fn parse(text: &str) -> Vec<Prompt> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("line {}: {error}", at + 1))
        })
        .collect()
}
