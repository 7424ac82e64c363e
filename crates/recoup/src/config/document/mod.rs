//! A configuration file as a tree, the same for TOML, YAML and JSON, so that strictness is written
//! once. One file for each format; a parser runs only when its file exists.

pub(super) mod json;
pub(super) mod toml;
mod visit;
pub(super) mod yaml;

use std::fmt;

use recoup_core::base::text::shorten_text;
use serde_json::Number;

/// The most of a given value that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// A value and its line.
#[derive(Debug)]
pub(super) struct ConfigNode {
    /// From 1; none if the parser does not report it.
    pub(super) line: Option<u64>,
    pub(super) value: ConfigValue,
}

/// A value of any of the formats, as far as configuration needs it.
#[derive(Debug)]
pub(super) enum ConfigValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// No key takes a list, so its items are dropped.
    List,
    /// In the file's order. A name may occur twice if the format permits it.
    Table(Vec<(String, ConfigNode)>),
    /// Dates, infinities and the like, as they were written.
    Other(String),
}

/// Reason for which a file cannot be parsed.
#[derive(Debug)]
pub(super) struct DocumentError {
    pub(super) position: Option<TextPosition>,
    pub(super) message: String,
}

/// Line and column, both from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPosition {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl ConfigNode {
    /// The node at `path`, if tables lead there. Of duplicate names the last counts, as it does for
    /// the programs that these files belong to.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        let ConfigValue::Table(entries) = &self.value else { return None };
        entries.iter().rfind(|(key, _)| key == name)?.1.at(rest)
    }
}

/// Formats the value for a message.
impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{:?}", shorten_text(text, MAX_SHOWN)),
            Self::List => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Other(text) => f.write_str(&shorten_text(text, MAX_SHOWN)),
        }
    }
}
