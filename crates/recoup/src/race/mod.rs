//! A race of several commands: the first to succeed wins, its output is written, and the others are
//! ended.
//!
//! One thread polls for all of them: streams, exits, signals, and results of other participants in
//! the session. Nothing is printed here: the caller decides what is written where.

mod contest;
mod ending;
mod guard;
mod output_queue;
mod process_tree;
mod runner;
mod signals;

use std::ffi::OsString;
use std::time::Duration;

use recoup_core::base::name::SafeName;
use recoup_core::early_exit::{EarlyExit, WinnerAnswer};
use recoup_core::{Error, Result};
use tempfile::SpooledTempFile;

pub(crate) use contest::RunningRace;
pub(crate) use guard::run_guard;
pub(crate) use output_queue::OutputQueue;

/// The exit code for when the time is up.
pub(crate) const TIMED_OUT: i32 = 124;
/// The exit code for a failure of ours.
pub(crate) const FAILED: i32 = 125;

/// Options of a race.
#[derive(Debug)]
pub(crate) struct RaceOptions<'a> {
    pub(crate) session: SafeName,
    /// Each with its arguments; none is empty.
    pub(crate) commands: Vec<Vec<OsString>>,
    pub(crate) timeout: Option<Duration>,
    /// Time for losing commands to exit by themselves; none means for ever.
    pub(crate) grace: Option<Duration>,
    pub(crate) early_exit: &'a EarlyExit,
    /// Receives errors that do not stop the race.
    pub(crate) warn: fn(&Error),
}

/// Outcome of a race.
#[derive(Debug)]
pub(crate) enum RaceOutcome {
    /// A command of ours was first.
    Ours(WinnerOutput),
    /// Another participant in the session was, before or after we had begun.
    Theirs(WinnerAnswer, RaceProgress),
    /// All failed; a line on each.
    Failed(Vec<String>),
    /// The time was up.
    TimedOut,
    /// This signal asked for the end.
    Interrupted(i32),
}

/// Tells if any command of ours was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RaceProgress {
    Yes,
    No,
}

/// Output of a command, to be read from its beginning.
#[derive(Debug)]
pub(crate) struct WinnerOutput {
    pub(crate) out: SpooledTempFile,
    pub(crate) err: SpooledTempFile,
}

impl<'a> RaceOptions<'a> {
    /// Prepares the race. After [`RunningRace::decide`], call [`RunningRace::finish`] whatever it returned:
    /// then no process is left but those of the winner.
    pub(crate) fn prepare(self) -> Result<RunningRace<'a>> {
        RunningRace::prepare(self)
    }
}

/// Name of an agent, such as `1-claude`: place and program.
fn agent_name(place: usize, program: &OsString) -> SafeName {
    let program = std::path::Path::new(program).file_name().unwrap_or(program);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let shown = program.to_string_lossy();
    let shown = shown.chars().map(|c| if allowed(c) { c } else { '_' }).take(100);
    let name = format!("{}-{}", place + 1, shown.collect::<String>());
    SafeName::parse("agent", &name).expect("a number and a hundred characters that are allowed")
}
