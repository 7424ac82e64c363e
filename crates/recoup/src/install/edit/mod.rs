//! Edits of other people's files that change nothing else: what is not ours keeps every byte, with
//! its comments, order, indentation and line ends.

mod document;
mod fresh;
mod gap;
mod json;
mod style;
pub(crate) mod toml;
pub(crate) mod tree;

pub(crate) use fresh::NewValue;
pub(crate) use json::{JsonFile, JsonPathStep};
pub(crate) use tree::{JsonDialect, SettingsSyntaxError};
