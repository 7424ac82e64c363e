//! Whatever is slow happens here: in a process of its own that nobody waits for, one at a
//! time for each project. It reads transcripts, asks a model where the user has agreed to
//! that, and brings memory up to date.

mod heard;
pub mod job;
pub mod queue;
mod sweep;

use std::fmt;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::project::Project;
use recoup_core::memory::Memory;
use recoup_core::memory::judge::Judge;
use recoup_core::secrets::Values;

use crate::process::detached;
use job::{Job, What};
use queue::Queue;

/// A worker that is not done by then ends, and what it was doing is begun again.
const LONGEST: Duration = Duration::from_mins(3);

/// The flag that makes a hook the worker.
pub const FLAG: &str = "--work";

/// Starts a worker for a project, unless one is at work.
pub(crate) fn start(queue: &Queue, project: &Project) -> Result<()> {
    // Whoever holds the lock looks once more after letting it go.
    if queue.lock()?.is_none() {
        return Ok(());
    }
    let args = ["hook", FLAG, &project.id().to_string()].map(Into::into);
    detached::start(args, Stdio::null(), Some(project.root()), "learns from what happened")
}

/// What a worker works with.
pub(crate) struct Worker<'a> {
    pub(crate) memory: &'a Memory,
    /// Who is asked, where the user has agreed to that.
    pub(crate) judge: Option<&'a dyn Judge>,
    /// What must not be shown to anybody.
    pub(crate) hidden: &'a Values,
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
        loop {
            let Some(lock) = queue.lock()? else { return Ok(()) };
            while let Some(taken) = queue.take(self.log)? {
                match self.carry_out(&taken.job) {
                    Err(error) if taken.job.what.waits(&error) => {
                        taken.leave()?;
                        return Err(error.context("a job is left for the next worker"));
                    }
                    Err(error) => (self.log)(&format!("a job failed: {error}")),
                    Ok(()) => {}
                }
                taken.done()?;
            }
            self.memory.settle_daily()?;
            drop(lock);
            // Somebody may have left a job between our last look and now.
            if queue.is_empty()? {
                return Ok(());
            }
        }
    }

    fn carry_out(&self, job: &Job) -> Result<()> {
        let occasion = job.from.occasion()?;
        match &job.what {
            What::Sweep { transcript, why } => {
                self.sweep(&occasion, &job.from.root, transcript, *why)
            }
            What::Remember { at, once, said } => {
                self.remember(&occasion, *at, once.as_deref(), said)
            }
            What::Judge { prompt, kept, tentative } => {
                self.hear(&occasion, prompt, &job::ids(kept), *tentative)
            }
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
