//! Runs a command once and replays it afterwards: its output on both streams, and its exit code.
//!
//! `program` finds it, `look` looks it up, `run` runs it, `watch` forwards its output while `record`
//! copies that, and `keep` decides whether it is cached. Messages go through an [`ExecReporter`]:
//! nothing here prints lines of its own.

pub(crate) mod agent_command;
pub(crate) mod command_log;
mod keep;
mod look;
mod program;
mod record;
mod run;
mod stdin;
mod tty;
mod watch;

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;
use std::{fmt, fs, io};

use recoup_core::cache::{
    Cache, CacheMode, LookupExplanation, LookupRequest, MissReason, Outcome, PathContext, Permit,
    Ttl, WaitPolicy,
};
use recoup_core::entry::ProducerIdentity;
use recoup_core::key::{EntryId, KeyPart, Kind};
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result};
use rustix::fs::{Stat, fstat};
use signal_hook::consts::SIGPIPE;

use crate::process::start_detached;
use keep::FinishedCommand;
pub(crate) use keep::KeepPolicy;
use look::LookupDecision;
pub(crate) use program::{ProgramError, ResolvedProgram, path_as_source};
use record::{CommandTranscript, OutputStream};
pub(crate) use run::{CommandEnd, run_attached};
use run::{CommandRun, RunOutcome};
pub(crate) use stdin::CommandStdin;
use watch::{SignalReceiver, write_all};

/// Exit code for a failure of Recoup itself.
pub(crate) const FAILED: i32 = 125;
/// Exit code for `--only-if-cached` without a cached result.
pub(crate) const NOT_CACHED: i32 = 124;
/// Hidden flag that turns a process into the refresher.
const REFRESH_FLAG: &str = "--detached";
/// Number of other runs of the same command to wait for, one after the other, if none is cached.
const MAX_LEADERS: u32 = 2;

/// Messages for the user, beside the command's own output.
pub(crate) trait ExecReporter {
    /// Reports something worth a line.
    fn note(&self, text: fmt::Arguments<'_>);
    /// Reports a detail, for verbose output.
    fn detail(&self, text: fmt::Arguments<'_>);
    /// Reports an error that did not stop the work.
    fn warn(&self, error: &Error);
}

/// Destinations of the command's output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputFds {
    /// Stdout of this process.
    pub(crate) out: BorrowedFd<'static>,
    /// Stderr of this process.
    pub(crate) err: BorrowedFd<'static>,
}

impl OutputFds {
    /// True if both are one file, pipe or terminal.
    pub(crate) fn are_same_file(self) -> bool {
        let place = |fd| fstat(fd).map(|found| (found.st_dev, found.st_ino));
        place(self.out).is_ok_and(|out| place(self.err) == Ok(out))
    }
}

/// True for `/dev/null`.
fn is_null_device(found: &Stat) -> bool {
    fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == found.st_rdev)
}

/// Cache entry of a command, and the conditions for its use.
#[derive(Debug)]
pub(crate) struct CacheTarget {
    pub(crate) cache: Cache,
    pub(crate) id: EntryId,
    pub(crate) identity: ProducerIdentity,
    pub(crate) parts: Vec<KeyPart>,
    pub(crate) view: PathContext,
    /// Everything that is watched: sources named by the caller, files among the arguments,
    /// programs.
    pub(crate) sources: Vec<String>,
    /// Sources that are files among the arguments.
    pub(crate) argument_files: Vec<String>,
    /// True if nothing that the command reads is watched.
    pub(crate) is_unwatched: bool,
    pub(crate) limits: LookupLimits,
    /// Age up to which failures are served.
    pub(crate) failures: Ttl,
    /// True if a result recorded as one stream may be served.
    pub(crate) accepts_merged_streams: bool,
    /// Values that must not be shown, logged or stored.
    pub(crate) withheld: SecretValues,
    /// A variable that tells child processes that the command is running.
    pub(crate) mark: (&'static str, String),
}

/// Limits on the age of an entry, in milliseconds, and on waiting for another run of the command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookupLimits {
    pub(crate) ttl: Option<u64>,
    pub(crate) max_age: Option<u64>,
    pub(crate) wait: Option<Duration>,
}

/// One `recoup exec`.
pub(crate) struct ExecInvocation<'a> {
    pub(crate) program: ResolvedProgram,
    pub(crate) stdin: CommandStdin,
    pub(crate) tty: bool,
    pub(crate) mode: CacheMode,
    pub(crate) keeping: KeepPolicy,
    /// None if nothing can be cached: the command runs all the same.
    pub(crate) slot: Option<CacheTarget>,
    pub(crate) outlets: OutputFds,
    pub(crate) reporter: &'a (dyn ExecReporter + Sync),
}

impl ExecInvocation<'_> {
    /// Replays the command or runs it, and returns how it ended.
    pub(crate) fn replay_or_run(self) -> Result<CommandEnd> {
        match self.look_up()? {
            LookupDecision::Found { transcript, age, refresh } => {
                self.reporter.detail(format_args!("hit: {} s old", age / 1000));
                let end = replay(&transcript, self.outlets)?;
                if refresh {
                    // Another process runs the same command line with a copy of our stdin.
                    let ours: Vec<OsString> = std::env::args_os().skip(1).collect();
                    let (subcommand, rest) = ours.split_at(1.min(ours.len()));
                    let args = [subcommand, &[REFRESH_FLAG.into()], rest].concat();
                    let started = self
                        .stdin
                        .detached()
                        .and_then(|stdin| start_detached(args, stdin, None, "refreshes the entry"));
                    if let Err(error) = started {
                        self.reporter.warn(&error);
                    }
                }
                Ok(end)
            }
            LookupDecision::Nothing(reason) => {
                self.reporter.note(format_args!("not in the cache: {reason}"));
                Ok(CommandEnd::Code(NOT_CACHED))
            }
            LookupDecision::Run { permit, is_first } => {
                // The order of the streams is visible if both are one, but not in `/dev/null`, where
                // a command runs only to warm the cache.
                let is_null = || fstat(self.outlets.out).is_ok_and(|out| is_null_device(&out));
                let streams_merged = self.outlets.are_same_file() && !is_null() && !self.tty;
                self.run(permit, is_first, streams_merged)
            }
        }
    }

    /// Explains why it would be replayed or run; none without a cache.
    pub(crate) fn explain(&self) -> Option<LookupExplanation> {
        let slot = self.slot.as_ref()?;
        Some(slot.cache.explain(&slot.request(self.mode, &|| {})))
    }

    /// Refreshes a stale entry, unless another process does. Records the streams as before, so that
    /// the same callers can be served.
    pub(crate) fn refresh_stale(self) -> Result<CommandEnd> {
        let looked =
            self.slot.as_ref().map(|slot| slot.cache.lookup(&slot.request(CacheMode::Use, &|| {})));
        match looked.transpose()? {
            Some(Outcome::Stale(entry, Some(permit))) => {
                self.run(Some(permit), false, entry.head().header.streams_merged)
            }
            Some(Outcome::Miss(permit, _)) => self.run(Some(permit), false, false),
            _ => Ok(CommandEnd::Code(0)),
        }
    }

    /// Runs the command; `is_first` if it was never cached before.
    fn run(
        self,
        permit: Option<Permit>,
        is_first: bool,
        streams_merged: bool,
    ) -> Result<CommandEnd> {
        let Self { program, stdin, tty, keeping, slot, outlets, reporter, .. } = self;
        // From now on signals are forwarded to the command. Installed before it starts, so that it
        // misses none.
        let mut signals = SignalReceiver::listen(tty)?;
        let permit = permit.filter(|_| keeping.keeps_anything());
        let work = CommandRun {
            program: &program,
            stdin: &stdin,
            tty,
            outlets,
            streams_merged,
            limit: permit.is_some().then_some(keeping.limit),
            mark: slot.as_ref().map(|slot| &slot.mark),
        };
        let now = || slot.as_ref().map(|slot| slot.cache.clock().now());
        let started = now();
        let (end, outcome) = match work.run(&mut signals) {
            Ok(ran) => ran,
            Err(not_run) => {
                release_permit(permit);
                return not_run.into_end(reporter);
            }
        };
        let took = now().zip(started).map(|(now, start)| now.millis_since(start));
        // A pending signal asks to end, so the result is not wanted either.
        if let Some(signal) = signals.pending_end_signal() {
            release_permit(permit);
            return Ok(CommandEnd::Signal(signal));
        }
        if let (Some(permit), Some(slot)) = (permit, slot) {
            let done = FinishedCommand { slot, end, took, is_first };
            done.fill_permit(permit, outcome, &keeping, reporter)?;
        } else if let RunOutcome::Unwritable(error) = outcome {
            return Err(error);
        }
        Ok(signals.pending_end_signal().map_or(end, CommandEnd::Signal))
    }
}

impl CacheTarget {
    /// True if the file that changed is watched only because the command names it.
    fn is_argument_file(&self, change: &MissReason) -> bool {
        let (MissReason::SourceModified(path) | MissReason::SourceMissing(path)) = change else {
            return false;
        };
        let PathContext { root, cwd } = &self.view;
        self.argument_files.iter().any(|file| cwd.join(file) == root.join(path))
    }

    /// Builds the look-up; `told` is called when waiting for another run takes long.
    fn request<'a>(&'a self, mode: CacheMode, told: &'a (dyn Fn() + Sync)) -> LookupRequest<'a> {
        let failures = self
            .failures
            .as_millis()
            .map_or(Some(u64::MAX), |limit| Some(limit).filter(|limit| *limit > 0));
        let Self { id, identity, parts, view, sources, withheld, .. } = self;
        let LookupLimits { ttl, max_age, wait } = self.limits;
        let wait_policy = WaitPolicy { wait, leaders: Some(MAX_LEADERS), on_long_wait: Some(told) };
        LookupRequest {
            identity: Some(identity),
            parts,
            sources,
            ttl,
            max_age,
            failures,
            accepts_merged_streams: self.accepts_merged_streams,
            withheld: Some(withheld),
            mode,
            wait_policy,
            ..LookupRequest::new(Kind::Command, id, view)
        }
    }
}

/// Releases the permit at once, so that waiters can go on while this process ends.
fn release_permit(permit: Option<Permit>) {
    permit.into_iter().for_each(Permit::release);
}

/// Replays a verified transcript: writes both streams byte for byte, in their original order.
fn replay(transcript: &CommandTranscript, outlets: OutputFds) -> Result<CommandEnd> {
    let mut is_heard = true;
    let done = transcript.each(&mut |voice, piece| {
        let (outlet, name) = match voice {
            OutputStream::Out => (outlets.out, "stdout"),
            OutputStream::Err => (outlets.err, "stderr"),
        };
        write_all(outlet, piece).map_err(|error| {
            is_heard = error.kind() != io::ErrorKind::BrokenPipe;
            Error::new(ErrorKind::Io, format!("writing to {name}")).with_source(error)
        })
    });
    match done {
        Ok(()) => Ok(CommandEnd::Code(transcript.exit)),
        // As the command itself would have ended.
        Err(_) if !is_heard => Ok(CommandEnd::Signal(SIGPIPE)),
        Err(error) => Err(error),
    }
}
