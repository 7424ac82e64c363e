//! The one place that turns an error into words, a remedy and an exit code.

use recoup_core::store::{FaultLog, Info};
use recoup_core::{Error, ErrorKind};

use super::{NO, USAGE, YES, ui};

/// Why a command did not get to its answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something went wrong.
    Error(Error),
    /// Whoever read our output has seen enough (`recoup cache ls | head`).
    ReaderGone,
}

impl Failure {
    /// Tells the person, and gives the exit code.
    pub(super) fn report(&self) -> i32 {
        let Self::Error(error) = self else { return YES };
        ui::error(error);
        if let Some(remedy) = remedy(error.kind()) {
            ui::hint(remedy);
        }
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Absent => USAGE,
            _ => NO,
        }
    }
}

/// Something that the work survived.
pub(super) fn warn(error: &Error) {
    ui::warn(error);
    if let Some(remedy) = remedy(error.kind()) {
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
fn remedy(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Locked => Some("another process is busy with the store; try again"),
        ErrorKind::ReadOnly => Some(
            "the store can be read but not written: check who owns it, or choose another with --store",
        ),
        ErrorKind::Full => Some(
            "make room for it (on the disk, or on the server: its maxmemory), or choose another store with --store",
        ),
        ErrorKind::Unavailable => Some(
            "check that the server runs and the URL is right (`recoup config show --origin`); without it every look-up is a miss",
        ),
        ErrorKind::TooNew => Some("upgrade recoup, or choose another store with --store"),
        _ => None,
    }
}
