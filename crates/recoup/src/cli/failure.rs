//! The one place that turns an error into words, a remedy and an exit code.

use clap::ArgMatches;
use recoup_core::base::FaultLog;
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use super::{CommandResult, NO, USAGE, YES, ui};
use crate::install::InstallPaths;

/// Reason why a command failed.
#[derive(Debug)]
pub(super) enum CommandError {
    /// Something went wrong.
    Error(Error),
    /// An error that was already printed as JSON.
    Told(Error),
    /// The reader of stdout is gone (`recoup cache ls | head`).
    ReaderGone,
}

impl CommandError {
    /// Prints the error and a remedy; returns the exit code.
    pub(super) fn report(&self, keeps: DataLocation) -> i32 {
        let (Self::Error(error) | Self::Told(error)) = self else { return YES };
        // An agent file may have several problems, one on each line.
        error.to_string().lines().for_each(ui::error);
        if let Some(remedy) = remedy(error.kind(), keeps) {
            ui::hint(remedy);
        }
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Absent => USAGE,
            _ => NO,
        }
    }

    /// Shortens paths in the message, as all messages about installing do.
    pub(super) fn with_shown_paths(self, places: &InstallPaths) -> Self {
        match self {
            Self::Error(error) => Self::Error(places.shorten_paths(error)),
            other => other,
        }
    }
}

/// Location of a command's data, which decides the remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataLocation {
    /// In the store that `--store` names.
    InStore,
    /// In files of our own, and of clients.
    InFiles,
}

impl DataLocation {
    /// Decides by whether the command has the flag `--store`.
    pub(super) fn of(matches: &ArgMatches) -> Self {
        let mut command = matches;
        while let Some((_, inner)) = command.subcommand() {
            command = inner;
        }
        let has_flag = command.try_contains_id("store").is_ok();
        if has_flag { Self::InStore } else { Self::InFiles }
    }
}

/// Output of `--json` after an error.
#[derive(Serialize)]
struct ErrorReport {
    error: String,
}

/// Prints an error as JSON, so that `--json` always prints some.
pub(super) fn report_as_json(ended: CommandResult) -> CommandResult {
    let Err(CommandError::Error(error)) = ended else { return ended };
    ui::json(&ErrorReport { error: error.to_string() })?;
    Err(CommandError::Told(error))
}

/// Prints a warning and a remedy.
pub(super) fn warn(error: &Error) {
    ui::warn(error);
    if let Some(remedy) = remedy(error.kind(), DataLocation::InStore) {
        ui::hint(remedy);
    }
}

/// Prints faults of a store as warnings.
#[derive(Debug)]
pub(super) struct FaultPrinter;

impl FaultLog for FaultPrinter {
    fn fault(&self, _: &str, error: &Error) {
        warn(error);
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Remedy for an error whose message has none.
fn remedy(kind: ErrorKind, keeps: DataLocation) -> Option<&'static str> {
    use DataLocation::{InFiles, InStore};
    match (kind, keeps) {
        (ErrorKind::Locked, InStore) => Some("another process is using the store; try again"),
        (ErrorKind::Locked, InFiles) => Some("another process is using it; try again"),
        (ErrorKind::ReadOnly, InStore) => Some(
            "check its owner and permissions; use --store for another store, or set RECOUP_HOME to another directory for recoup's files",
        ),
        (ErrorKind::ReadOnly, InFiles) => Some(
            "check its owner and permissions, or set RECOUP_HOME to another directory for recoup's files",
        ),
        (ErrorKind::Full, InStore) => Some(
            "free disk space (or raise the server's maxmemory), or choose another store with --store",
        ),
        (ErrorKind::Full, InFiles) => Some("free disk space and try again"),
        (ErrorKind::Unavailable, _) => Some(
            "check that the server is running and the URL is right (`recoup config show --origin`); without it every look-up is a miss",
        ),
        (ErrorKind::TooNew, InStore) => {
            Some("upgrade recoup, or choose another store with --store")
        }
        (ErrorKind::TooNew, InFiles) => Some("upgrade recoup"),
        _ => None,
    }
}
