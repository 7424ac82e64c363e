//! Whatever is slow happens here: in a process of its own that nobody waits for, one at a
//! time for each project. It reads transcripts, asks a model where the user has agreed to
//! that, and brings memory up to date.

pub(crate) mod backlog;
mod extract;
pub(crate) mod forget;
mod heard;
pub mod job;
mod progress;
pub mod queue;
mod sweep;
mod untold;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::project::Project;
use recoup_core::memory::judge::Judge;
use recoup_core::memory::{About, Memory};
use recoup_core::secrets::Values;

use crate::hooks::notice;
use crate::process::detached;
use job::{Job, JobKind, Why};
use queue::{Left, Queue};
use sweep::Reason;

/// A worker that is not done by then ends, and what it was doing is begun again.
pub(crate) const LONGEST: Duration = Duration::from_mins(3);

/// The flag that makes a hook the worker.
pub const FLAG: &str = "--work";

/// Starts a worker for a project, unless one is at work.
pub(crate) fn start(queue: &Queue, project: &Project) -> Result<()> {
    // Whoever holds the lock looks once more after letting it go.
    if queue.lock()?.is_none() {
        return Ok(());
    }
    start_in(&project.id().to_string(), project.root())
}

/// Starts a worker for the project of that id, in its root; if one is at work, it leaves.
pub(crate) fn start_in(project: &str, root: &Path) -> Result<()> {
    let args = ["hook", FLAG, project].map(Into::into);
    detached::start(args, Stdio::null(), Some(root), "learns from what happened")
}

/// The projects in which an answer or a session has ended, by their roots.
type Ended = BTreeMap<PathBuf, job::Origin>;

/// What a worker works with.
pub(crate) struct Worker<'a> {
    pub(crate) memory: &'a Memory,
    /// Who is asked, where the user has agreed to that.
    pub(crate) judge: Option<&'a dyn Judge>,
    /// What must not be shown to anybody.
    pub(crate) hidden: &'a Values,
    /// Brings in step what a client reads by itself, for the project at that root; says in
    /// a line what has changed.
    pub(crate) mirror: &'a dyn Fn(&Path) -> Result<Option<String>>,
    /// Told what went wrong.
    pub(crate) log: &'a dyn Fn(&str),
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("judge", &self.judge).finish_non_exhaustive()
    }
}

impl Worker<'_> {
    /// Works until nothing is left, or another works already.
    pub(crate) fn work(&self, queue: &Queue) -> Result<()> {
        end_in_time();
        let mut left = Left::default();
        loop {
            let Some(lock) = queue.lock()? else { return Ok(()) };
            let mut ended = Ended::new();
            let worked = self
                .tell_of_unstored(queue)
                .and_then(|()| self.work_off(queue, &mut left, &mut ended));
            // Whatever went wrong: nobody comes back to jobs that are done.
            self.round_off(&ended);
            worked?;
            drop(lock);
            // Somebody may have left a job between our last look and now.
            if queue.has_only(&left)? {
                return Ok(());
            }
        }
    }

    /// Sets aside what could not be stored, and has the user told.
    fn tell_of_unstored(&self, queue: &Queue) -> Result<()> {
        for job in queue.keep_unstored(self.log)? {
            let JobKind::Remember { said, .. } = &job.what else { continue };
            let occasion = job.from.occasion()?;
            self.memory.turn(&occasion, |turn| {
                said.iter().try_for_each(|said| turn.tell(&notice::unstored(&said.text)))
            })?;
        }
        Ok(())
    }

    /// Does one job after the other, and notes where an answer or a session has ended.
    fn work_off(&self, queue: &Queue, left: &mut Left, ended: &mut Ended) -> Result<()> {
        while let Some(taken) = queue.take(left, self.log)? {
            match self.carry_out(&taken.job) {
                Err(error) if taken.job.what.waits(&error) => {
                    taken.leave()?;
                    return Err(error.context("a job is left for the next worker"));
                }
                Err(error) => {
                    (self.log)(&format!("a job failed: {error}"));
                    if taken.job.is_statement() {
                        taken.fail(left);
                        continue;
                    }
                }
                Ok(()) => {}
            }
            if let JobKind::Sweep { why: Why::Stop | Why::End, .. } = taken.job.what {
                ended.insert(taken.job.from.root.clone(), taken.job.from.clone());
            }
            taken.done()?;
        }
        Ok(())
    }

    /// What is done once for all jobs.
    fn round_off(&self, ended: &Ended) {
        if let Err(error) = self.memory.run_maintenance() {
            (self.log)(&format!("memory was not brought up to date: {error}"));
        }
        for (root, from) in ended {
            if let Err(error) = self.mirror(root, from) {
                (self.log)(&format!("rules were not synced: {error}"));
            }
        }
    }

    /// Once for all that has come to its end.
    fn mirror(&self, root: &Path, from: &job::Origin) -> Result<()> {
        let Some(line) = (self.mirror)(root)? else { return Ok(()) };
        self.memory.turn(&from.occasion()?, |turn| turn.tell(&line)).map(drop)
    }

    fn carry_out(&self, job: &Job) -> Result<()> {
        let occasion = job.from.occasion()?;
        match &job.what {
            JobKind::Sweep { transcript, why, by_person } => {
                let reason = Reason { why: *why, by_person: *by_person };
                self.sweep(&occasion, job.from.place(), transcript, reason)
            }
            JobKind::Remember { at, once, print, said } => {
                let of = About { call: once.as_deref(), subject: print.as_deref(), detail: None };
                self.remember(&occasion, *at, of, said)
            }
            JobKind::Sync => self.memory.sync(),
            JobKind::Judge { asked } => self.hear(&occasion, asked),
        }
    }
}

/// No process is left behind, whatever it waits for.
fn end_in_time() {
    thread::spawn(|| {
        thread::sleep(LONGEST);
        std::process::exit(0);
    });
}
