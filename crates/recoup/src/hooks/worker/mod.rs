//! Background worker for everything slow: a detached process, one per project. It reads
//! transcripts, asks a model if the user has agreed to that, and updates memory.

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

/// Time limit of a worker; its unfinished job is started again later.
pub(crate) const LONGEST: Duration = Duration::from_mins(3);

/// Flag that turns `recoup hook` into the worker.
pub const FLAG: &str = "--work";

/// Starts a worker for a project, unless one runs.
pub(crate) fn start(queue: &Queue, project: &Project) -> Result<()> {
    // The lock's holder checks the queue again after releasing it.
    if queue.lock()?.is_none() {
        return Ok(());
    }
    start_in(&project.id().to_string(), project.root())
}

/// Starts a worker for the project with that id, in its root; it exits if another one runs.
pub(crate) fn start_in(project: &str, root: &Path) -> Result<()> {
    let args = ["hook", FLAG, project].map(Into::into);
    detached::start(args, Stdio::null(), Some(root), "learns from what happened")
}

/// Projects in which an answer or a session has ended, by root.
type Ended = BTreeMap<PathBuf, job::Origin>;

/// The worker, with everything it needs.
pub(crate) struct Worker<'a> {
    pub(crate) memory: &'a Memory,
    /// Model to ask, if the user has agreed to that.
    pub(crate) judge: Option<&'a dyn Judge>,
    /// Credentials to redact.
    pub(crate) hidden: &'a Values,
    /// Syncs the mirror files of the project at that root; returns a notice if anything changed.
    pub(crate) mirror: &'a dyn Fn(&Path) -> Result<Option<String>>,
    /// Receives failures.
    pub(crate) log: &'a dyn Fn(&str),
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("judge", &self.judge).finish_non_exhaustive()
    }
}

impl Worker<'_> {
    /// Runs until the queue is empty or another worker runs.
    pub(crate) fn work(&self, queue: &Queue) -> Result<()> {
        end_in_time();
        let mut left = Left::default();
        loop {
            let Some(lock) = queue.lock()? else { return Ok(()) };
            let mut ended = Ended::new();
            let worked = self
                .tell_of_unstored(queue)
                .and_then(|()| self.work_off(queue, &mut left, &mut ended));
            // Even after an error: finished jobs do not come back.
            self.round_off(&ended);
            worked?;
            drop(lock);
            // A hook may have queued a job since the last look.
            if queue.has_only(&left)? {
                return Ok(());
            }
        }
    }

    /// Sets aside statements that could not be stored, and tells the user.
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

    /// Runs all jobs, and collects the projects in which an answer or a session has ended.
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

    /// Runs maintenance and syncs mirrors, once for all jobs.
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

    /// Syncs one project's mirror, and queues its notice.
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

/// Ends the process at its time limit, whatever it waits for.
fn end_in_time() {
    thread::spawn(|| {
        thread::sleep(LONGEST);
        std::process::exit(0);
    });
}
