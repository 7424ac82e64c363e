//! The one place that turns an error into words, a remedy and an exit code.

use clap::ArgMatches;
use recoup_core::store::{FaultLog, Info};
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use super::{Ended, NO, USAGE, YES, ui};
use crate::install::Places;

/// Why a command did not get to its answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something went wrong.
    Error(Error),
    /// The same where stdout has it already, for programs.
    Told(Error),
    /// Whoever read our output has seen enough (`recoup cache ls | head`).
    ReaderGone,
}

impl Failure {
    /// Tells the person, and gives the exit code.
    pub(super) fn report(&self, keeps: Keeps) -> i32 {
        let (Self::Error(error) | Self::Told(error)) = self else { return YES };
        ui::error(error);
        if let Some(remedy) = remedy(error.kind(), keeps) {
            ui::hint(remedy);
        }
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Absent => USAGE,
            _ => NO,
        }
    }

    /// The same, with files named as all else does that is said about installing.
    pub(super) fn naming_as(self, places: &Places) -> Self {
        match self {
            Self::Error(error) => Self::Error(places.retold(error)),
            other => other,
        }
    }
}

/// Where a command has what it is about, which decides what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// In the store that `--store` names.
    InStore,
    /// In files of our own, and of clients.
    InFiles,
}

impl Keeps {
    /// As the command has that flag, or not.
    pub(super) fn of(matches: &ArgMatches) -> Self {
        let mut command = matches;
        while let Some((_, inner)) = command.subcommand() {
            command = inner;
        }
        let has_flag = command.try_contains_id("store").is_ok();
        if has_flag { Self::InStore } else { Self::InFiles }
    }
}

/// What `--json` prints where there is no answer.
#[derive(Serialize)]
struct NoAnswer {
    error: String,
}

/// Sees to it that whoever reads `--json` reads some, whatever went wrong.
pub(super) fn told_as_json(ended: Ended) -> Ended {
    let Err(Failure::Error(error)) = ended else { return ended };
    ui::json(&NoAnswer { error: error.to_string() })?;
    Err(Failure::Told(error))
}

/// Something that the work survived.
pub(super) fn warn(error: &Error) {
    ui::warn(error);
    if let Some(remedy) = remedy(error.kind(), Keeps::InStore) {
        ui::hint(remedy);
    }
}

/// Says what a store survived, once for each time.
#[derive(Debug)]
pub(super) struct Faults;

impl FaultLog for Faults {
    fn fault(&self, _: &Info, error: &Error) {
        warn(error);
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What to do about it, where the message does not say so itself.
fn remedy(kind: ErrorKind, keeps: Keeps) -> Option<&'static str> {
    use Keeps::{InFiles, InStore};
    match (kind, keeps) {
        (ErrorKind::Locked, InStore) => Some("another process is busy with the store; try again"),
        (ErrorKind::Locked, InFiles) => Some("another process is busy with it; try again"),
        (ErrorKind::ReadOnly, InStore) => Some(
            "check who owns it and whether it may be written; --store names another store, RECOUP_HOME another directory for all that is recoup's",
        ),
        (ErrorKind::ReadOnly, InFiles) => Some(
            "check who owns it and whether it may be written; RECOUP_HOME names another directory for what is recoup's",
        ),
        (ErrorKind::Full, InStore) => Some(
            "make room for it (on the disk, or on the server: its maxmemory), or choose another store with --store",
        ),
        (ErrorKind::Full, InFiles) => Some("make room on the disk, and try again"),
        (ErrorKind::Unavailable, _) => Some(
            "check that the server runs and the URL is right (`recoup config show --origin`); without it every look-up is a miss",
        ),
        (ErrorKind::TooNew, InStore) => {
            Some("upgrade recoup, or choose another store with --store")
        }
        (ErrorKind::TooNew, InFiles) => Some("upgrade recoup"),
        _ => None,
    }
}
