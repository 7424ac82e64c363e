//! Edits of other people's files that change nothing else: what is not ours keeps every byte, with
//! its comments, order, indentation and line ends.

mod json;
pub(crate) mod node;
mod private_values;
mod settings_text;
pub(crate) mod toml;
pub(crate) mod tree;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use crate::clients::{JsonDialect, SettingsSyntax};
pub(crate) use json::{JsonFile, JsonPathStep, path_names, steps};
pub(crate) use private_values::mask_private_values;
pub(crate) use settings_text::{
    EmptiedContainers, LINE_END, SettingsText, is_empty_container, parse_settings,
};

const BOM: &str = "\u{feff}";

/// Splits a text into its byte order mark, which may be empty, and the rest.
pub(crate) fn split_bom(text: &str) -> (&'static str, &str) {
    text.strip_prefix(BOM).map_or(("", text), |rest| (BOM, rest))
}

/// Syntax error with its position; both numbers count from one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsSyntaxError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl SettingsSyntaxError {
    /// Error at a byte of a text.
    pub(crate) fn at(text: &str, byte: usize, what: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }
}

impl fmt::Display for SettingsSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

/// JSON value to be inserted, with its fields in the order that people expect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NewValue {
    Object(Vec<(&'static str, NewValue)>),
    List(Vec<NewValue>),
    Plain(Value),
}

impl NewValue {
    /// Empty object.
    pub(crate) const EMPTY: Self = Self::Object(Vec::new());

    /// String, number or boolean.
    pub(crate) fn plain(value: impl Into<Value>) -> Self {
        Self::Plain(value.into())
    }

    /// List of strings.
    pub(crate) fn texts<T: AsRef<str>>(texts: &[T]) -> Self {
        Self::List(texts.iter().map(|text| Self::plain(text.as_ref())).collect())
    }

    /// Converts to a `serde_json` value.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| ((*name).to_owned(), it.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Plain(value) => value.clone(),
        }
    }
}
