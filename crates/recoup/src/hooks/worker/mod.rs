//! Background worker for everything slow: a detached process, one per project. It reads
//! transcripts, asks a model if the user has agreed to that, and updates memory.

mod extract;
mod heard;
mod progress;
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
use recoup_core::memory::judge::MemoryJudge;
use recoup_core::memory::{EventDetails, Memory};
use recoup_core::secrets::SecretValues;

use crate::hooks::notice;
use crate::hooks::place::ProjectPaths;
use crate::jobs::{JobOrigin, JobQueue, SkippedJobs, SweepReason, WorkerJob, WorkerJobKind};
use crate::process::detached;
use sweep::SweepOptions;

/// Time limit of a worker; its unfinished job is started again later.
pub(crate) const MAX_RUNTIME: Duration = Duration::from_mins(3);

/// Flag that turns `recoup hook` into the worker.
pub const FLAG: &str = "--work";

/// Starts a worker for a project, unless one runs.
pub(crate) fn start(queue: &JobQueue, project: &Project) -> Result<()> {
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
type EndedProjects = BTreeMap<PathBuf, JobOrigin>;

/// The worker, with everything it needs.
pub(crate) struct MemoryWorker<'a> {
    pub(crate) memory: &'a Memory,
    /// Model to ask, if the user has agreed to that.
    pub(crate) judge: Option<&'a dyn MemoryJudge>,
    /// Credentials to redact.
    pub(crate) hidden: &'a SecretValues,
    /// Syncs the mirror files of the project at that root; returns a notice if anything changed.
    pub(crate) mirror: &'a dyn Fn(&Path) -> Result<Option<String>>,
    /// Receives failures.
    pub(crate) log: &'a dyn Fn(&str),
}

impl fmt::Debug for MemoryWorker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWorker").field("judge", &self.judge).finish_non_exhaustive()
    }
}

impl MemoryWorker<'_> {
    /// Runs until the queue is empty or another worker runs.
    pub(crate) fn run_until_idle(&self, queue: &JobQueue) -> Result<()> {
        exit_at_time_limit();
        let mut left = SkippedJobs::default();
        loop {
            let Some(lock) = queue.lock()? else { return Ok(()) };
            let mut ended = EndedProjects::new();
            let worked = self
                .report_unstored(queue)
                .and_then(|()| self.run_jobs(queue, &mut left, &mut ended));
            // Even after an error: finished jobs do not come back.
            self.finish_round(&ended);
            worked?;
            drop(lock);
            // A hook may have queued a job since the last look.
            if queue.has_only(&left)? {
                return Ok(());
            }
        }
    }

    /// Sets aside statements that could not be stored, and tells the user.
    fn report_unstored(&self, queue: &JobQueue) -> Result<()> {
        for job in queue.keep_unstored(self.log)? {
            let WorkerJobKind::Remember { said, .. } = &job.what else { continue };
            let occasion = job.from.occasion()?;
            self.memory.transact(&occasion, |turn| {
                said.iter().try_for_each(|said| turn.add_notice(&notice::unstored(&said.text)))
            })?;
        }
        Ok(())
    }

    /// Runs all jobs, and collects the projects in which an answer or a session has ended.
    fn run_jobs(
        &self,
        queue: &JobQueue,
        left: &mut SkippedJobs,
        ended: &mut EndedProjects,
    ) -> Result<()> {
        while let Some(taken) = queue.take(left, self.log)? {
            match self.run_job(&taken.job) {
                Err(error) if taken.job.what.is_retried_after(&error) => {
                    taken.put_back()?;
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
            if let WorkerJobKind::Sweep { why: SweepReason::Stop | SweepReason::End, .. } =
                taken.job.what
            {
                ended.insert(taken.job.from.root.clone(), taken.job.from.clone());
            }
            taken.finish()?;
        }
        Ok(())
    }

    /// Runs maintenance and syncs mirrors, once for all jobs.
    fn finish_round(&self, ended: &EndedProjects) {
        if let Err(error) = self.memory.run_maintenance() {
            (self.log)(&format!("memory was not brought up to date: {error}"));
        }
        for (root, from) in ended {
            if let Err(error) = self.sync_mirror(root, from) {
                (self.log)(&format!("rules were not synced: {error}"));
            }
        }
    }

    /// Syncs one project's mirror, and queues its notice.
    fn sync_mirror(&self, root: &Path, from: &JobOrigin) -> Result<()> {
        let Some(line) = (self.mirror)(root)? else { return Ok(()) };
        self.memory.transact(&from.occasion()?, |turn| turn.add_notice(&line)).map(drop)
    }

    fn run_job(&self, job: &WorkerJob) -> Result<()> {
        let occasion = job.from.occasion()?;
        match &job.what {
            WorkerJobKind::Sweep { transcript, why, by_person } => {
                let reason = SweepOptions { why: *why, by_person: *by_person };
                let place = ProjectPaths { root: &job.from.root, cwd: job.from.base_dir() };
                self.sweep(&occasion, place, transcript, reason)
            }
            WorkerJobKind::Remember { at, once, print, said } => {
                let of =
                    EventDetails { call: once.as_deref(), subject: print.as_deref(), detail: None };
                self.remember_statements(&occasion, *at, of, said)
            }
            WorkerJobKind::Sync => self.memory.sync(),
            WorkerJobKind::Judge { asked } => self.ask_judge(&occasion, asked),
        }
    }
}

/// Ends the process at its time limit, whatever it waits for.
fn exit_at_time_limit() {
    thread::spawn(|| {
        thread::sleep(MAX_RUNTIME);
        std::process::exit(0);
    });
}
