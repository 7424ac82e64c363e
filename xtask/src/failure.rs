//! Why a task stopped: the last line that is printed, and the exit code.
//!
//! Exit codes follow the product's own promise: 1 for a failure, 2 for wrong
//! usage.

use std::fmt;
use std::process::ExitCode;

/// What a task ends with when it can't go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line makes no sense; the text includes the usage.
    Usage(String),
    /// Something that the task needs did not work.
    Task(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Task(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Task(text) => write!(f, "xtask: {text}"),
        }
    }
}
