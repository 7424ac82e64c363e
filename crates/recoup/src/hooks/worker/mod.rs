//! Background worker for everything slow: a detached process, one per project. It reads
//! transcripts, asks a model if the user has agreed to that, and updates memory.

mod statements;
mod sweep;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::judge::MemoryJudge;
use recoup_core::memory::{EventDetails, Memory};
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, Result};

use crate::app::{App, memory_in};
use crate::config::{FlagOverrides, env, find_project};
use crate::hooks::notice;
use crate::hooks::outcome::ProjectPaths;
use crate::jobs::{
    HookLog, JobOrigin, JobQueue, SkippedJobs, SweepReason, WorkerJob, WorkerJobKind,
};
use crate::process;
use sweep::SweepOptions;

/// Time limit of a worker; its unfinished job is started again later.
pub(crate) const MAX_RUNTIME: Duration = Duration::from_mins(3);

/// Name of the worker in the log.
const ACTIVITY: &str = "the worker";

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
    process::start_detached(args, Stdio::null(), Some(root), "runs background jobs")
}

/// Projects in which an answer or a session has ended, by root.
type EndedProjects = BTreeMap<PathBuf, JobOrigin>;

/// Processes the queued jobs of a project, as a detached process. If the settings can't be read, no
/// model is asked and no mirror is written.
pub(crate) fn run(project: &str, home: &Path, log: &HookLog) {
    process::leave_session();
    let note = |error: &Error| log.log_failure(None, ACTIVITY, &error.to_string());
    let app = App::open(&FlagOverrides::default(), Arc::new(log.clone()));
    let app = app.inspect_err(note).ok();
    for left_out in app.into_iter().flat_map(|app| &app.settings.left_out) {
        log.log_failure(None, ACTIVITY, left_out);
    }
    let judge = app.and_then(|app| app.judge_for_asking().ok()?.ok());
    let worked = ProjectId::parse(project).and_then(|project| {
        fsx::ensure_private_dir(home)?;
        let worker = MemoryWorker {
            app,
            memory: &memory_in(home, Arc::new(log.clone())),
            judge: judge.as_ref().map(|judge| judge as &dyn MemoryJudge),
            hidden: &env::credentials(),
            log,
        };
        worker.run_until_idle(&JobQueue::of(home, &project))
    });
    if let Err(error) = worked {
        note(&error);
    }
}

/// The worker, with everything it needs.
#[derive(Debug)]
struct MemoryWorker<'a> {
    /// None if the settings can't be read.
    app: Option<&'a App>,
    memory: &'a Memory,
    /// Model to ask, if the user has agreed to that.
    judge: Option<&'a dyn MemoryJudge>,
    /// Credentials to redact.
    hidden: &'a SecretValues,
    log: &'a HookLog,
}

impl MemoryWorker<'_> {
    /// Runs until the queue is empty or another worker runs.
    fn run_until_idle(&self, queue: &JobQueue) -> Result<()> {
        // Ends the process at its time limit, whatever it waits for.
        thread::spawn(|| {
            thread::sleep(MAX_RUNTIME);
            std::process::exit(0);
        });
        let mut left = SkippedJobs::default();
        loop {
            let Some(lock) = queue.lock()? else { return Ok(()) };
            let mut ended = EndedProjects::new();
            let worked = self
                .report_unstored(queue)
                .and_then(|()| self.run_jobs(queue, &mut left, &mut ended));
            // Maintenance and mirrors, once for all jobs. Even after an error: finished jobs do not
            // come back.
            if let Err(error) = self.memory.run_maintenance() {
                self.log(&format!("maintenance of memory failed: {error}"));
            }
            for (root, from) in &ended {
                if let Err(error) = self.sync_mirror(root, from) {
                    self.log(&format!("rules were not synced: {error}"));
                }
            }
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
        for job in queue.keep_unstored(|line| self.log(line))? {
            let WorkerJobKind::Remember { said, .. } = &job.what else { continue };
            let occasion = job.from.occasion()?;
            self.memory.transact(&occasion, |transaction| {
                said.iter()
                    .try_for_each(|said| transaction.add_notice(&notice::unstored(&said.text)))
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
        while let Some(taken) = queue.take(left, |line| self.log(line))? {
            match self.run_job(&taken.job) {
                Err(error) if taken.job.what.is_retried_after(&error) => {
                    taken.put_back()?;
                    return Err(error.context("a job is left for the next worker"));
                }
                Err(error) => {
                    self.log(&format!("a job failed: {error}"));
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

    /// Syncs one project's mirror, and queues its notice. Obstacles are logged.
    fn sync_mirror(&self, root: &Path, from: &JobOrigin) -> Result<()> {
        let Some(app) = self.app else { return Ok(()) };
        let report = app.sync_mirrors(&find_project(&app.settings.home, root)?, false)?;
        for fault in &report.faults {
            self.log(&format!("not synced: {}", fault.why));
        }
        for left in &report.left {
            self.log(&format!("left unchanged: {}", left.path.display()));
        }
        let Some(line) = report.notice() else { return Ok(()) };
        self.memory
            .transact(&from.occasion()?, |transaction| transaction.add_notice(&line))
            .map(drop)
    }

    fn log(&self, line: &str) {
        self.log.log_failure(None, ACTIVITY, line);
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
