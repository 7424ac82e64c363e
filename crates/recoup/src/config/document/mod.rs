//! A configuration file as a tree, the same for TOML, YAML and JSON, so that
//! strictness is written once. One file for each format; a parser is touched
//! only when its file exists.

pub(super) mod json;
pub(super) mod toml;
mod visit;
pub(super) mod yaml;

use std::fmt;

use recoup_core::base::text::shortened;
use serde_json::Number;

/// The most of a given value that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    /// From 1; none where the format's parser does not say.
    pub(super) line: Option<u64>,
    pub(super) value: Value,
}

/// What any of the formats can hold, as far as configuration cares.
#[derive(Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// No key of ours takes one, so what is in it is not kept.
    List,
    /// In the file's order. A name may come twice where the format lets it.
    Table(Vec<(String, Node)>),
    /// Dates, infinities and the like, as they were written.
    Other(String),
}

/// Why a file is no document at all.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) position: Option<Position>,
    pub(super) message: String,
}

/// Both from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Node {
    /// What lies at `path`, if tables lead there. Where a name comes twice, the
    /// last one counts, as it does for the programs that these files belong to.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().rfind(|(key, _)| key == name)?.1.at(rest)
    }
}

/// As a message repeats it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{:?}", shortened(text, MAX_SHOWN)),
            Self::List => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Other(text) => f.write_str(&shortened(text, MAX_SHOWN)),
        }
    }
}
