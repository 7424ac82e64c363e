//! Changes to other people's files that change nothing else: what is not ours keeps every
//! byte, with its comments, order, indentation and line ends.

pub(crate) mod toml;
pub(crate) mod tree;

pub(crate) use tree::{Dialect, Fault};
