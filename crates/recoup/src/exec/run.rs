//! Runs a command: forwards and records its output, forwards signals, and returns how it ended.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::{fmt, io};

use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::low_level::emulate_default_handler;

use super::program::{ProgramError, ResolvedProgram};
use super::record::{OutputRecording, OutputStream};
use super::stdin::CommandStdin;
use super::tty::CommandTerminal;
use super::watch::{CommandWatch, SignalReceiver, StreamRole, WatchedStream};
use super::{ExecReporter, OutputFds};

/// How a command ended, and its output.
pub(super) type FinishedRun = (CommandEnd, RunOutcome);

/// Output to cache, or why there is none.
#[derive(Debug)]
pub(super) enum RunOutcome {
    /// All output.
    Whole(OutputRecording),
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

impl RunOutcome {
    /// Reason why there is nothing to cache.
    pub(super) fn unkept_reason(&self) -> Option<String> {
        let why = match self {
            Self::Whole(_) | Self::Unwritable(_) => return None,
            Self::Interrupted => "it was interrupted",
            Self::NotHeard => "its output was not read to the end",
            Self::Typed => "there was keyboard input while it ran",
            Self::HeldOpen => "a background process of the command still holds its output open",
        };
        Some(why.to_owned())
    }
}

/// Reason why the command did not run.
#[derive(Debug)]
pub(super) enum StartError {
    /// The system failed to start it.
    Missing(ProgramError),
    /// A failure of Recoup itself.
    Failed(Error),
}

impl From<Error> for StartError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl StartError {
    /// Reports it, and returns how this process ends.
    pub(super) fn into_end(self, reporter: &dyn ExecReporter) -> Result<CommandEnd> {
        match self {
            Self::Failed(error) => Err(error),
            Self::Missing(missing) => {
                reporter.note(format_args!("{missing}"));
                Ok(CommandEnd::Code(missing.code))
            }
        }
    }
}

/// The command to run, and how to run it.
pub(super) struct CommandRun<'a> {
    pub(super) program: &'a ResolvedProgram,
    pub(super) stdin: &'a CommandStdin,
    pub(super) tty: bool,
    pub(super) outlets: OutputFds,
    /// True if both streams share one pipe, which keeps their order.
    pub(super) streams_merged: bool,
    /// Limit of recorded bytes; none if nothing will be cached.
    pub(super) limit: Option<u64>,
    /// Variable added to its environment.
    pub(super) mark: Option<&'a (&'static str, String)>,
}

impl CommandRun<'_> {
    /// Runs the program to its end.
    pub(super) fn run(&self, signals: &mut SignalReceiver) -> Result<FinishedRun, StartError> {
        if !self.tty {
            return self.run_with_pipes(signals);
        }
        let typed = self.stdin.is_terminal();
        let (terminal, child) =
            self.start(|command| CommandTerminal::start(command, typed, self.outlets))?;
        let reader = terminal.reader().with_context(|| "opening a terminal".to_owned())?;
        let said = StreamRole::Said(OutputStream::Out);
        let mut lines = vec![WatchedStream::new(said, reader, self.outlets.out)];
        if typed {
            let stdin = rustix::stdio::stdin().try_clone_to_owned();
            let stdin = stdin.with_context(|| "opening the terminal".to_owned())?;
            lines.push(WatchedStream::new(StreamRole::Typed, stdin, terminal.writer()));
        }
        let watch = CommandWatch::new(child, signals, lines, self.record(), Some(&terminal));
        Ok(watch.run_to_end()?)
    }

    fn run_with_pipes(&self, signals: &mut SignalReceiver) -> Result<FinishedRun, StartError> {
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
            pipe.map(|pipe| WatchedStream::new(StreamRole::Said(voice), pipe, outlet))
        };
        let lines = said(OutputStream::Out, out, self.outlets.out).into_iter();
        let lines = lines.chain(said(OutputStream::Err, err, self.outlets.err)).collect();
        Ok(CommandWatch::new(child, signals, lines, self.record(), None).run_to_end()?)
    }

    fn start<T>(&self, start: impl Fn(Command) -> io::Result<T>) -> Result<T, StartError> {
        let prepared = |mut command: Command| {
            if let Some((name, value)) = self.mark {
                command.env(name, value);
            }
            start(command)
        };
        let missing =
            |error| StartError::Missing(ProgramError::not_started(&self.program.name, &error));
        self.program.start(prepared).map_err(missing)
    }

    fn record(&self) -> Option<OutputRecording> {
        self.limit.map(|limit| OutputRecording::new(limit, self.streams_merged))
    }
}

/// Runs a program with our own streams and these variables, and forwards signals to it.
pub(crate) fn run_attached(
    program: &ResolvedProgram,
    variables: &[(&'static str, OsString)],
    reporter: &dyn ExecReporter,
) -> Result<CommandEnd> {
    // Before it starts, so that it misses none.
    let mut signals = SignalReceiver::listen(false)?;
    let started = program.start(|mut command| command.envs(variables.iter().cloned()).spawn());
    match started {
        Ok(child) => {
            let watch = CommandWatch::new(child, &mut signals, Vec::new(), None, None);
            watch.run_to_end().map(|(end, _)| end)
        }
        Err(error) => {
            StartError::Missing(ProgramError::not_started(&program.name, &error)).into_end(reporter)
        }
    }
}

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
