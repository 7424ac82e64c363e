//! Runs a command: its output goes on to ours as it comes and is taken down,
//! signals go to it, and in the end we know how it ended.

use std::os::fd::OwnedFd;
use std::process::Stdio;

use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};

use super::Outlets;
use super::end::End;
use super::program::{Missing, Program};
use super::record::Record;
use super::signals::Signals;
use super::stdin::Stdin;
use super::transcript::Voice;
use super::tty::Terminal;
use super::watch::{Line, Watch, What};

/// A command that has run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) outcome: Outcome,
}

/// What there is to keep.
#[derive(Debug)]
pub(super) enum Outcome {
    /// All that it wrote.
    Whole(Record),
    /// Nothing: it was asked to end, or nobody wanted to hear it to the end.
    Interrupted,
    /// Nothing: more may be written by whom it left behind.
    HeldOpen,
    /// Nothing: its output could not be passed on.
    Unwritable(Error),
}

/// Why there was nothing to run.
#[derive(Debug)]
pub(super) enum NotRun {
    /// The system would not start it.
    Missing(Missing),
    /// A failure of ours.
    Failed(Error),
}

impl From<Error> for NotRun {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs `program` to its end. Up to `limit` bytes of its output are taken down;
/// none where nothing will be kept.
pub(super) fn run(
    program: &Program,
    stdin: &Stdin,
    tty: bool,
    outlets: Outlets,
    limit: Option<u64>,
) -> Result<Ran, NotRun> {
    // Before it starts, so that it misses none.
    let signals = Signals::listen(tty)?;
    let record = limit.map(Record::new);
    let missing = |error| NotRun::Missing(Missing::not_started(&program.name, &error));
    if tty {
        let typed = stdin.is_terminal();
        let (terminal, child) = Terminal::start(program, typed, outlets).map_err(missing)?;
        let mut lines = vec![Line::new(What::Said(Voice::Out), reader(&terminal)?, outlets.out)];
        if typed {
            lines.push(Line::new(What::Typed, typing()?, terminal.writer()));
        }
        return Ok(Watch::new(child, signals, lines, record, Some(&terminal)).until_its_end()?);
    }
    let mut command = program.command();
    command.stdin(stdin.stdio()?).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(missing)?;
    let out = child.stdout.take().map(OwnedFd::from);
    let err = child.stderr.take().map(OwnedFd::from);
    let said = |voice, pipe: Option<OwnedFd>, outlet| {
        pipe.map(|pipe| Line::new(What::Said(voice), pipe, outlet))
    };
    let lines = said(Voice::Out, out, outlets.out).into_iter();
    let lines = lines.chain(said(Voice::Err, err, outlets.err)).collect();
    Ok(Watch::new(child, signals, lines, record, None).until_its_end()?)
}

fn reader(terminal: &Terminal) -> Result<OwnedFd> {
    terminal.reader().doing(|| "opening a terminal".to_owned())
}

fn typing() -> Result<OwnedFd> {
    let stdin = rustix::stdio::stdin().try_clone_to_owned();
    stdin.doing(|| "opening the terminal".to_owned())
}
