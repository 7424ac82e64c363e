//! The threads that work with the engine, which blocks. Whoever was busy last is given the next
//! piece of work: each thread that works has memory of its own, and a client that asks for one
//! thing after the other needs one of them.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;

use super::turns::Turn;

/// Idle threads, the one that was busy last at the end. There are as many as ever had a turn at
/// once.
#[derive(Debug, Clone, Default)]
pub(super) struct Threads {
    idle: Arc<Mutex<Vec<Sender<Job>>>>,
}

/// A piece of work; what it returns tells the one who waits.
type Job = Box<dyn FnOnce() -> Tell + Send>;
type Tell = Box<dyn FnOnce()>;

impl Threads {
    /// Does something in somebody's turn, to the end even if nobody waits for it any more. None
    /// where it was not finished.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, waiting) = oneshot::channel();
        let job: Job = Box::new(move || {
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

    /// A thread that waits for work. It is idle again before anybody hears of what it did: the
    /// next piece of work finds it.
    fn start(&self) -> Option<Sender<Job>> {
        let (sender, jobs) = channel::<Job>();
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

    fn idle(&self) -> MutexGuard<'_, Vec<Sender<Job>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
