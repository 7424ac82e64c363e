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

use std::fmt;
use std::os::fd::BorrowedFd;

use recoup_core::cache::{Cache, Mode, Outcome, Permit, Request, View};
use recoup_core::entry::Identity;
use recoup_core::key::{Id, Kind, Part};
use recoup_core::{Error, Result};

pub(crate) use end::End;
pub(crate) use keep::Keeping;
pub(crate) use program::Program;
pub(crate) use refresh::detach;
pub(crate) use stdin::Stdin;

use keep::Done;
use look::Looked;
use run::{NotRun, Ran};

/// The exit code for a failure of ours.
pub(crate) const FAILED: i32 = 125;
/// The exit code for `--only-if-cached` when there is nothing.
pub(crate) const NOT_CACHED: i32 = 124;

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

/// What is to be run, and how it is kept.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: Id,
    pub(crate) identity: Identity,
    pub(crate) parts: Vec<Part>,
    pub(crate) view: View,
    pub(crate) program: Program,
    pub(crate) stdin: Stdin,
    pub(crate) tty: bool,
    pub(crate) sources: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) max_age: Option<u64>,
    pub(crate) keeping: Keeping,
}

/// One `recoup exec`.
pub(crate) struct Exec<'a> {
    pub(crate) job: Job,
    /// None where the store can't be used: the command runs all the same.
    pub(crate) cache: Option<Cache>,
    pub(crate) outlets: Outlets,
    pub(crate) teller: &'a dyn Teller,
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
            Looked::Run(permit) => self.run(permit),
        }
    }

    /// Refreshes what is stale, unless somebody else does; for nobody to hear.
    pub(crate) fn perform_refresh(self) -> Result<End> {
        let cache = self.cache.as_ref();
        let outcome = cache.map(|cache| cache.lookup(&self.request(Mode::Use))).transpose()?;
        match outcome {
            Some(Outcome::Stale(_, Some(permit)) | Outcome::Miss(permit, _)) => {
                self.run(Some(permit))
            }
            _ => Ok(End::Code(0)),
        }
    }

    fn request(&self, mode: Mode) -> Request<'_> {
        let Job { id, identity, parts, view, sources, max_age, .. } = &self.job;
        let (identity, max_age) = (Some(identity), *max_age);
        Request { identity, parts, sources, max_age, mode, ..Request::new(Kind::Command, id, view) }
    }

    fn run(self, permit: Option<Permit>) -> Result<End> {
        let Self { job, cache, outlets, teller } = self;
        let Job { program, stdin, tty, keeping, parts, .. } = job;
        let now = || cache.as_ref().map(|cache| cache.clock().now());
        let started = now();
        let permit = permit.filter(|_| keeping.keeps_anything());
        let limit = permit.is_some().then_some(keeping.limit);
        let ran = run::run(&program, &stdin, tty, outlets, limit);
        // Those who wait for it get their turn, also while we are still ending.
        let give_up = |permit: Option<Permit>| permit.into_iter().for_each(Permit::release);
        let Ran { end, outcome } = match ran {
            Ok(ran) => ran,
            Err(NotRun::Failed(error)) => {
                give_up(permit);
                return Err(error);
            }
            Err(NotRun::Missing(missing)) => {
                give_up(permit);
                teller.note(format_args!("{missing}"));
                return Ok(End::Code(missing.code));
            }
        };
        let took = now().zip(started).map(|(now, start)| now.millis_since(start));
        match (outcome, permit) {
            (run::Outcome::Whole(record), Some(permit)) => {
                let done = Done { program: &program, parts, record, end, took };
                keep::keep(permit, done, &keeping, teller);
            }
            (run::Outcome::Unwritable(error), permit) => {
                give_up(permit);
                return Err(error);
            }
            (run::Outcome::HeldOpen, permit @ Some(_)) => {
                give_up(permit);
                teller.note(format_args!(
                    "not cached: a process that the command left behind still holds its output open"
                ));
            }
            (_, permit) => give_up(permit),
        }
        Ok(end)
    }

    fn start_refresh(&self) {
        if let Err(error) = refresh::start(&self.job.stdin) {
            self.teller.warn(&error);
        }
    }
}
