//! Threads for what may wait: each stays for some time, because starting one takes longer than a
//! look-up.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// How long a thread stays without work.
const IDLE_LIMIT: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// The threads. Clones share them.
#[derive(Clone, Default)]
pub(super) struct WorkerThreads(Arc<WorkerState>);

#[derive(Default)]
struct WorkerState {
    waiting: Mutex<WaitingJobs>,
    added: Condvar,
}

#[derive(Default)]
struct WaitingJobs {
    jobs: VecDeque<Job>,
    idle_threads: usize,
}

impl fmt::Debug for WorkerThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerThreads").finish_non_exhaustive()
    }
}

impl WorkerThreads {
    /// Runs a job on a thread that is idle, else on a new one; without one, here.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut waiting = self.0.waiting.lock();
        waiting.jobs.push_back(Box::new(job));
        if waiting.jobs.len() <= waiting.idle_threads {
            drop(waiting);
            self.0.added.notify_one();
            return;
        }
        drop(waiting);
        let this = self.clone();
        if thread::Builder::new().spawn(move || this.work()).is_err() {
            let job = self.0.waiting.lock().jobs.pop_back();
            if let Some(job) = job {
                job();
            }
        }
    }

    fn work(&self) {
        let mut waiting = self.0.waiting.lock();
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                drop(waiting);
                job();
                waiting = self.0.waiting.lock();
                continue;
            }
            waiting.idle_threads += 1;
            let waited = self.0.added.wait_for(&mut waiting, IDLE_LIMIT);
            waiting.idle_threads -= 1;
            if waited.timed_out() && waiting.jobs.is_empty() {
                return;
            }
        }
    }
}
