//! What made a command work that had failed.

use std::fmt;

/// What made the difference, quoted. It is kept as what a lesson says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fix {
    /// Another command.
    Command(String),
    /// Changes to these files.
    Files(String),
}

/// How a fix reads: what is quoted stands before the one, and behind the other.
const WORKS: &str = " works";
const AFTER: &str = "it worked after a change to ";

impl Fix {
    /// As it was kept.
    pub(super) fn read(text: &str) -> Self {
        match text.strip_suffix(WORKS) {
            Some(command) => Self::Command(command.to_owned()),
            None => Self::Files(text.strip_prefix(AFTER).unwrap_or(text).to_owned()),
        }
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(f, "{command}{WORKS}"),
            Self::Files(names) => write!(f, "{AFTER}{names}"),
        }
    }
}
