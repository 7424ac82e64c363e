//! Several commands for one question: the first to succeed wins, its output is
//! given out, and the others are ended.
//!
//! One thread waits for all of them (`poll`): their streams, their ends, signals, and
//! what others who race in the same session have found. Nothing here prints of its own
//! accord: what is given out, and where, the caller says.

mod contest;
mod ending;
mod give;
mod guard;
mod kin;
mod runner;
mod signals;

use std::ffi::OsString;
use std::time::Duration;

use recoup_core::base::name::Name;
use recoup_core::coord::{Answer, EarlyExit};
use recoup_core::{Error, Result};
use tempfile::SpooledTempFile;

pub(crate) use contest::Contest;
pub(crate) use give::Delivery;
pub(crate) use guard::watch_over;

/// The exit code for when the time is up.
pub(crate) const TIMED_OUT: i32 = 124;
/// The exit code for a failure of ours.
pub(crate) const FAILED: i32 = 125;

/// One race.
#[derive(Debug)]
pub(crate) struct Race<'a> {
    pub(crate) session: Name,
    /// Each with its arguments; none is empty.
    pub(crate) commands: Vec<Vec<OsString>>,
    pub(crate) timeout: Option<Duration>,
    /// How long those who lose may take to end by themselves; none is for ever.
    pub(crate) grace: Option<Duration>,
    pub(crate) early_exit: &'a EarlyExit,
    /// Told what the race survived.
    pub(crate) warn: fn(&Error),
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// One of ours was first.
    Ours(Output),
    /// Somebody else in the same session was; and whether we had begun by then.
    Theirs(Answer, Begun),
    /// All failed; a line on each.
    Failed(Vec<String>),
    /// The time was up.
    TimedOut,
    /// This signal asked for the end.
    Interrupted(i32),
}

/// Whether any command of ours was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    Yes,
    No,
}

/// What a command wrote, to be read from its beginning.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) out: SpooledTempFile,
    pub(crate) err: SpooledTempFile,
}

impl<'a> Race<'a> {
    /// Gets ready for it. Whatever [`Contest::decide`] then says, [`Contest::finish`] has
    /// to come after it: none of our processes is left then, but what the winner itself
    /// left behind.
    pub(crate) fn prepare(self) -> Result<Contest<'a>> {
        Contest::prepare(self)
    }
}

/// `1-claude`: the place in the line and the program.
fn agent_name(place: usize, program: &OsString) -> Name {
    let program = std::path::Path::new(program).file_name().unwrap_or(program);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let shown = program.to_string_lossy();
    let shown = shown.chars().map(|c| if allowed(c) { c } else { '_' }).take(100);
    let name = format!("{}-{}", place + 1, shown.collect::<String>());
    Name::parse("agent", &name).expect("a number and a hundred characters that are allowed")
}
