//! Runs a command: forwards and records its output, forwards signals, and returns how it ended.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};

use super::end::End;
use super::program::{Missing, Program};
use super::record::Record;
use super::signals::Signals;
use super::stdin::Stdin;
use super::transcript::Voice;
use super::tty::Terminal;
use super::watch::{Line, Watch, What};
use super::{Mark, Outlets, Teller};

/// A command that has run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) outcome: Outcome,
}

/// Output to cache, or why there is none.
#[derive(Debug)]
pub(super) enum Outcome {
    /// All output.
    Whole(Record),
    /// Nothing: it was asked to end, or was not recorded.
    Interrupted,
    /// Nothing: the reader of our output stopped before its end.
    NotHeard,
    /// Nothing: it got input that is not part of the key.
    Typed,
    /// Nothing: a process that it left behind may write more.
    HeldOpen,
    /// Nothing: its output could not be forwarded.
    Unwritable(Error),
}

impl Outcome {
    /// Reason why there is nothing to cache.
    pub(super) fn why(&self) -> Option<String> {
        let why = match self {
            Self::Whole(_) | Self::Unwritable(_) => return None,
            Self::Interrupted => "it was interrupted",
            Self::NotHeard => "nobody read its output to the end",
            Self::Typed => "something was typed while it ran",
            Self::HeldOpen => "a process that the command left behind still holds its output open",
        };
        Some(why.to_owned())
    }
}

/// Reason why the command did not run.
#[derive(Debug)]
pub(super) enum NotRun {
    /// The system failed to start it.
    Missing(Missing),
    /// A failure of Recoup itself.
    Failed(Error),
}

impl From<Error> for NotRun {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl NotRun {
    /// Reports it, and returns how this process ends.
    pub(super) fn end(self, teller: &dyn Teller) -> Result<End> {
        match self {
            Self::Failed(error) => Err(error),
            Self::Missing(missing) => {
                teller.note(format_args!("{missing}"));
                Ok(End::Code(missing.code))
            }
        }
    }
}

/// The command to run, and how to run it.
pub(super) struct Work<'a> {
    pub(super) program: &'a Program,
    pub(super) stdin: &'a Stdin,
    pub(super) tty: bool,
    pub(super) outlets: Outlets,
    /// True if both streams share one pipe, which keeps their order.
    pub(super) streams_merged: bool,
    /// Limit of recorded bytes; none if nothing will be cached.
    pub(super) limit: Option<u64>,
    /// Variable added to its environment.
    pub(super) mark: Option<&'a Mark>,
}

impl Work<'_> {
    /// Runs the program to its end.
    pub(super) fn run(&self, signals: &mut Signals) -> Result<Ran, NotRun> {
        if self.tty { self.in_a_terminal(signals) } else { self.with_pipes(signals) }
    }

    fn in_a_terminal(&self, signals: &mut Signals) -> Result<Ran, NotRun> {
        let typed = self.stdin.is_terminal();
        let (terminal, child) =
            self.start(|command| Terminal::start(command, typed, self.outlets))?;
        let said = What::Said(Voice::Out);
        let mut lines = vec![Line::new(said, reader(&terminal)?, self.outlets.out)];
        if typed {
            lines.push(Line::new(What::Typed, typing()?, terminal.writer()));
        }
        let watch = Watch::new(child, signals, lines, self.record(), Some(&terminal));
        Ok(watch.until_its_end()?)
    }

    fn with_pipes(&self, signals: &mut Signals) -> Result<Ran, NotRun> {
        let stdin = self.stdin.for_command()?;
        let (child, out, err) = self.start(|mut command| {
            let stdin = stdin.as_ref().map(File::try_clone).transpose()?;
            command.stdin(stdin.map_or_else(|| self.stdin.stdio(), Stdio::from));
            if self.streams_merged {
                let (reader, writer) = io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                return Ok((command.spawn()?, Some(OwnedFd::from(reader)), None));
            }
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
            let out = child.stdout.take().map(OwnedFd::from);
            let err = child.stderr.take().map(OwnedFd::from);
            Ok((child, out, err))
        })?;
        let said = |voice, pipe: Option<OwnedFd>, outlet| {
            pipe.map(|pipe| Line::new(What::Said(voice), pipe, outlet))
        };
        let lines = said(Voice::Out, out, self.outlets.out).into_iter();
        let lines = lines.chain(said(Voice::Err, err, self.outlets.err)).collect();
        Ok(Watch::new(child, signals, lines, self.record(), None).until_its_end()?)
    }

    fn start<T>(&self, start: impl Fn(Command) -> io::Result<T>) -> Result<T, NotRun> {
        let prepared = |mut command: Command| {
            if let Some(Mark { name, value }) = self.mark {
                command.env(name, value);
            }
            start(command)
        };
        let missing = |error| NotRun::Missing(Missing::not_started(&self.program.name, &error));
        self.program.start(prepared).map_err(missing)
    }

    fn record(&self) -> Option<Record> {
        self.limit.map(|limit| Record::new(limit, self.streams_merged))
    }
}

fn reader(terminal: &Terminal) -> Result<OwnedFd> {
    terminal.reader().doing(|| "opening a terminal".to_owned())
}

fn typing() -> Result<OwnedFd> {
    let stdin = rustix::stdio::stdin().try_clone_to_owned();
    stdin.doing(|| "opening the terminal".to_owned())
}
