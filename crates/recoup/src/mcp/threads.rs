//! Threads for the engine, which blocks. The most recently used one gets the next job: each active
//! thread has memory of its own, and a client with sequential requests needs only one.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;

use super::worker_limits::WorkerPermit;

/// Idle threads, the most recently used last. As many as were ever busy at once.
#[derive(Debug, Clone, Default)]
pub(super) struct EngineThreads {
    idle: Arc<Mutex<Vec<Sender<EngineJob>>>>,
}

/// A job; what it returns notifies the waiting caller.
type EngineJob = Box<dyn FnOnce() -> JobCompletion + Send>;
type JobCompletion = Box<dyn FnOnce()>;

impl EngineThreads {
    /// Runs a job to its end, even if nobody waits any more. None if it did not finish.
    pub(super) async fn run_job<T: Send + 'static>(
        &self,
        turn: WorkerPermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, waiting) = oneshot::channel();
        let job: EngineJob = Box::new(move || {
            let result = work();
            Box::new(move || {
                drop(turn);
                let _ = done.send(result);
            })
        });
        let idle = self.idle().pop();
        idle.or_else(|| self.start())?.send(job).ok()?;
        waiting.await.ok()
    }

    /// Starts a thread. It is idle again before its result is sent, so that the next job finds it.
    fn start(&self) -> Option<Sender<EngineJob>> {
        let (sender, jobs) = channel::<EngineJob>();
        let (all, own) = (self.clone(), sender.clone());
        let waits = move || {
            while let Ok(job) = jobs.recv() {
                let tell = job();
                all.idle().push(own.clone());
                tell();
            }
        };
        thread::Builder::new().name("work".into()).spawn(waits).ok()?;
        Some(sender)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Sender<EngineJob>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
