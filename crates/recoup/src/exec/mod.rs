//! Runs a command once and replays it afterwards: what it wrote to either
//! stream, and how it ended.
//!
//! `program` finds it, `look` looks it up, `run` runs it while `record` takes down
//! what passes, `keep` decides whether that is kept, `replay` gives it out again. What is to
//! be told goes through a [`Teller`]: nothing here prints lines of its own.

mod cost;
mod end;
mod keep;
mod look;
mod program;
mod record;
mod refresh;
mod replay;
mod run;
mod signals;
mod spool;
mod stdin;
mod stream;
mod transcript;
mod tty;
mod watch;

use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;
use std::{fmt, fs};

use recoup_core::cache::{
    Cache, Explanation, Mode, Outcome, Patience, Permit, Reason, Request, Ttl, View,
};
use recoup_core::entry::Identity;
use recoup_core::key::{Id, Kind, Part};
use recoup_core::secrets::Values;
use recoup_core::{Error, Result};
use rustix::fs::fstat;

pub(crate) use end::End;
pub(crate) use keep::Keeping;
pub(crate) use program::{Program, as_source};
pub(crate) use stdin::Stdin;

use keep::Done;
use look::Looked;
use run::{Ran, Work};
use signals::Signals;

/// The exit code for a failure of ours.
pub(crate) const FAILED: i32 = 125;
/// The exit code for `--only-if-cached` when there is nothing.
pub(crate) const NOT_CACHED: i32 = 124;
/// Of so many others who run the same one after the other, and keep nothing, we wait for
/// the end; then there is nothing to wait for.
const LEADERS: u32 = 2;

/// What is said to the person, beside what the command says.
pub(crate) trait Teller {
    /// Something worth a line.
    fn note(&self, text: fmt::Arguments<'_>);
    /// Something for those who asked to know more.
    fn aside(&self, text: fmt::Arguments<'_>);
    /// Something that the work survived.
    fn warn(&self, error: &Error);
}

/// Where the command's output goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlets {
    /// Our own stdout.
    pub(crate) out: BorrowedFd<'static>,
    /// Our own stderr.
    pub(crate) err: BorrowedFd<'static>,
}

impl Outlets {
    /// True if both are one file, pipe or terminal.
    pub(crate) fn are_one_place(self) -> bool {
        let place = |fd| fstat(fd).map(|found| (found.st_dev, found.st_ino));
        place(self.out).is_ok_and(|out| place(self.err) == Ok(out))
    }

    /// True if somebody may see in which order the two streams were written: not in `/dev/null`,
    /// where a command is run to warm the cache for others.
    fn show_order(self) -> bool {
        let null = fs::metadata("/dev/null").map(|null| null.rdev());
        let is_null = fstat(self.out).is_ok_and(|out| null.is_ok_and(|null| null == out.st_rdev));
        self.are_one_place() && !is_null
    }
}

/// What is to be run, and what is wanted of it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) program: Program,
    pub(crate) stdin: Stdin,
    pub(crate) tty: bool,
    pub(crate) mode: Mode,
    pub(crate) keeping: Keeping,
}

/// Where it is kept.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) cache: Cache,
    pub(crate) id: Id,
    pub(crate) identity: Identity,
    pub(crate) parts: Vec<Part>,
    pub(crate) view: View,
    /// Everything that is watched: what the caller named, files among the arguments, programs.
    pub(crate) sources: Vec<String>,
    /// Those of them that are files among the arguments.
    pub(crate) argument_files: Vec<String>,
    /// True if nothing that the command reads is watched.
    pub(crate) is_unwatched: bool,
    pub(crate) ttl: Option<u64>,
    pub(crate) max_age: Option<u64>,
    /// For how long failures are wanted.
    pub(crate) failures: Ttl,
    /// True if what was recorded as one stream will do.
    pub(crate) accepts_merged_streams: bool,
    /// What must not be shown, noted or kept.
    pub(crate) withheld: Values,
    /// How long we wait for another who runs the same.
    pub(crate) wait: Option<Duration>,
    /// Tells those whom the command starts that it is being run.
    pub(crate) mark: Mark,
}

/// A variable of the command's environment.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// One `recoup exec`.
pub(crate) struct Exec<'a> {
    pub(crate) job: Job,
    /// None where nothing can be kept: the command runs all the same.
    pub(crate) slot: Option<Slot>,
    pub(crate) outlets: Outlets,
    pub(crate) teller: &'a (dyn Teller + Sync),
}

impl Exec<'_> {
    /// Replays the command or runs it, and says how it ended.
    pub(crate) fn perform(self) -> Result<End> {
        match self.look()? {
            Looked::Found { transcript, age, refresh } => {
                self.teller.aside(format_args!("hit: {} s old", age / 1000));
                let end = replay::replay(&transcript, self.outlets)?;
                if refresh {
                    self.start_refresh();
                }
                Ok(end)
            }
            Looked::Nothing(reason) => {
                self.teller.note(format_args!("not in the cache: {reason}"));
                Ok(End::Code(NOT_CACHED))
            }
            Looked::Run { permit, is_first } => {
                let streams_merged = self.outlets.show_order() && !self.job.tty;
                self.run(permit, is_first, streams_merged)
            }
        }
    }

    /// Why it would be replayed or run; none where nothing is looked up.
    pub(crate) fn explain(&self) -> Option<Explanation> {
        let slot = self.slot.as_ref()?;
        Some(slot.cache.explain(&slot.request(self.job.mode, &|| {})))
    }

    /// Refreshes what is stale, unless somebody else does; for nobody to hear. Whoever was served
    /// by it can be served by the new one, too.
    pub(crate) fn perform_refresh(self) -> Result<End> {
        let looked =
            self.slot.as_ref().map(|slot| slot.cache.lookup(&slot.request(Mode::Use, &|| {})));
        match looked.transpose()? {
            Some(Outcome::Stale(entry, Some(permit))) => {
                self.run(Some(permit), false, entry.head().header.streams_merged)
            }
            Some(Outcome::Miss(permit, _)) => self.run(Some(permit), false, false),
            _ => Ok(End::Code(0)),
        }
    }

    /// `is_first` if nothing was ever kept of it.
    fn run(self, permit: Option<Permit>, is_first: bool, streams_merged: bool) -> Result<End> {
        let Self { job: Job { program, stdin, tty, keeping, .. }, slot, outlets, teller } = self;
        // What is asked of us from now on is asked of the command; before it starts, so
        // that it misses nothing.
        let mut signals = Signals::listen(tty)?;
        let permit = permit.filter(|_| keeping.keeps_anything());
        let work = Work {
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
        let Ran { end, outcome } = match work.run(&mut signals) {
            Ok(ran) => ran,
            Err(not_run) => {
                give_up(permit);
                return not_run.end(teller);
            }
        };
        let took = now().zip(started).map(|(now, start)| now.millis_since(start));
        // Whoever asked for the end while nobody heard it does not want the rest either.
        if let Some(signal) = signals.asked_to_end() {
            give_up(permit);
            return Ok(End::Signal(signal));
        }
        if let (Some(permit), Some(slot)) = (permit, slot) {
            let done = Done { slot, end, took, is_first };
            done.keep(permit, outcome, &keeping, teller)?;
        } else if let run::Outcome::Unwritable(error) = outcome {
            return Err(error);
        }
        Ok(signals.asked_to_end().map_or(end, End::Signal))
    }

    fn start_refresh(&self) {
        if let Err(error) = refresh::start(&self.job.stdin) {
            self.teller.warn(&error);
        }
    }
}

impl Slot {
    /// True if the file that changed is watched only because the command names it.
    fn is_argument(&self, change: &Reason) -> bool {
        let (Reason::SourceModified(path) | Reason::SourceMissing(path)) = change else {
            return false;
        };
        let View { root, cwd } = &self.view;
        self.argument_files.iter().any(|file| cwd.join(file) == root.join(path))
    }

    /// `told` when another runs the same, and that takes long.
    fn request<'a>(&'a self, mode: Mode, told: &'a (dyn Fn() + Sync)) -> Request<'a> {
        let failures = self
            .failures
            .as_millis()
            .map_or(Some(u64::MAX), |limit| Some(limit).filter(|limit| *limit > 0));
        let Self { id, identity, parts, view, sources, ttl, max_age, wait, withheld, .. } = self;
        let accepts_merged_streams = self.accepts_merged_streams;
        let patience = Patience { wait: *wait, leaders: Some(LEADERS), told: Some(told) };
        Request {
            identity: Some(identity),
            parts,
            sources,
            ttl: *ttl,
            max_age: *max_age,
            failures,
            accepts_merged_streams,
            withheld: Some(withheld),
            mode,
            patience,
            ..Request::new(Kind::Command, id, view)
        }
    }
}

/// Those who wait for it get their turn, also while we are still ending.
fn give_up(permit: Option<Permit>) {
    permit.into_iter().for_each(Permit::release);
}
