//! How a command ended, and how to end the same way.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::low_level::emulate_default_handler;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    /// Exited with this code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

impl CommandEnd {
    pub(super) fn from_status(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(super::FAILED),
        }
    }

    /// Exit code for this process. Does not return if the command was killed by a signal: kills
    /// this process likewise.
    pub(crate) fn exit_code_or_kill_self(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => {
                // The command has dumped its own core if it wanted to; ours is of no use.
                let none = Rlimit { current: Some(0), maximum: Some(0) };
                let _ = setrlimit(Resource::Core, none);
                let _ = emulate_default_handler(signal);
                // Reached only if the signal is unknown here.
                128 + signal
            }
        }
    }
}
