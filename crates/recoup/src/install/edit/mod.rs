//! Edits of other people's files that change nothing else: what is not ours keeps every byte, with
//! its comments, order, indentation and line ends.

mod document;
mod fresh;
mod gap;
mod json;
mod style;
pub(crate) mod toml;
pub(crate) mod tree;

pub(crate) use fresh::Fresh;
pub(crate) use json::{Json, Step};
pub(crate) use tree::{Dialect, Fault};
