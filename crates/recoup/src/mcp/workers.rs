//! Work with the engine, which blocks. It runs on a few threads; requests queue here, where they can
//! still be cancelled, and writers do not hold up readers. Also the daily maintenance of the memory:
//! clients with hooks have a worker for it; others have only this server.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use parking_lot::Mutex;
use recoup_core::base::clock::{Clock as _, SystemClock};
use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_blocking;

use super::in_flight::InFlightRequest;
use super::{ConfigStrictness, ServerState};

/// Total number of workers.
const WORKERS: usize = 4;
/// Workers that may write: SQLite allows one at a time, and others wait for its lock.
const WRITERS: usize = 2;
/// Workers that may read a project's files, which may be large and many: the others go on
/// answering questions about memory.
const FILE_READERS: usize = 2;
/// Agents that may run at once: apart from the workers, because they may take minutes.
const AGENT_RUNS: usize = 8;
/// Threads for background work: polling of followed resources, and upkeep of the memory.
pub(super) const BACKGROUND_THREADS: usize = 2;

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineAccess {
    Reads,
    Writes,
    ReadsFiles,
    RunsAgent,
}

/// Semaphores for each kind of work.
#[derive(Debug, Clone)]
pub(super) struct WorkerLimits {
    workers: Arc<Semaphore>,
    writers: Arc<Semaphore>,
    file_readers: Arc<Semaphore>,
    agent_runs: Arc<Semaphore>,
}

/// Permission to work, until it is dropped, with the charge of the request.
#[derive(Debug)]
pub(super) struct WorkerPermit {
    _worker: OwnedSemaphorePermit,
    _place: Option<OwnedSemaphorePermit>,
    burden: Option<InFlightRequest>,
}

/// Releases the arguments' charge; the call may still wait for the user.
impl Drop for WorkerPermit {
    fn drop(&mut self) {
        if let Some(burden) = &self.burden {
            burden.set_request_bytes(0);
        }
    }
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self {
            workers: Arc::new(Semaphore::new(WORKERS)),
            writers: Arc::new(Semaphore::new(WRITERS)),
            file_readers: Arc::new(Semaphore::new(FILE_READERS)),
            agent_runs: Arc::new(Semaphore::new(AGENT_RUNS)),
        }
    }
}

impl WorkerLimits {
    /// Waits for a permit; fails if the request is cancelled meanwhile.
    pub(super) async fn acquire(
        &self,
        access: EngineAccess,
        context: &RequestContext<RoleServer>,
    ) -> Result<WorkerPermit, ErrorData> {
        let burden = InFlightRequest::from_extensions(&context.extensions);
        let turn = async {
            let limited = match access {
                EngineAccess::Reads | EngineAccess::RunsAgent => None,
                EngineAccess::Writes => Some(acquire_permit(&self.writers).await?),
                EngineAccess::ReadsFiles => Some(acquire_permit(&self.file_readers).await?),
            };
            let workers = match access {
                EngineAccess::RunsAgent => &self.agent_runs,
                _ => &self.workers,
            };
            let worker = acquire_permit(workers).await?;
            // Last, because responses may have piled up while others worked.
            if let Some(burden) = &burden {
                burden.wait_for_reader().await;
                if access == EngineAccess::RunsAgent {
                    // A cancellation must be read, whatever is in flight.
                    burden.set_request_bytes(0);
                }
            }
            Ok((worker, limited))
        };
        let turn = context.ct.run_until_cancelled(turn).await;
        let (worker, limited) = turn.ok_or_else(cancelled_error)??;
        Ok(WorkerPermit { _worker: worker, _place: limited, burden })
    }

    /// Waits for a permit to write in the background.
    pub(super) async fn acquire_in_background(&self) -> Result<WorkerPermit, ErrorData> {
        let writer = acquire_permit(&self.writers).await?;
        let worker = acquire_permit(&self.workers).await?;
        Ok(WorkerPermit { _worker: worker, _place: Some(writer), burden: None })
    }
}

async fn acquire_permit(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ErrorData> {
    places.clone().acquire_owned().await.map_err(|_| cancelled_error())
}

/// Never seen by anybody: cancelled requests get no response.
fn cancelled_error() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

/// Idle threads, the most recently used last. As many as were ever busy at once: a client that asks
/// for one thing after the other needs one, where tokio's own pool would keep several, of 1 MB each.
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
        let idle = self.idle.lock().pop();
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
                all.idle.lock().push(own.clone());
                tell();
            }
        };
        thread::Builder::new().name("work".into()).spawn(waits).ok()?;
        Some(sender)
    }
}

/// Interval between checks, in milliseconds: other processes do the work, too.
const UPKEEP_INTERVAL: i64 = 60 * 60 * 1000;

/// Time of the last check.
#[derive(Debug, Default)]
pub(super) struct MemoryUpkeep {
    looked: AtomicI64,
}

impl MemoryUpkeep {
    /// Runs maintenance in the background after a write, if due. A failure is retried next time;
    /// writers notice by themselves if the memory cannot be written.
    pub(super) fn run_if_due(state: &ServerState) {
        let now = SystemClock.now().as_millis();
        let Some(last) = state.upkeep.claim_if_due(now) else { return };
        let state = state.clone();
        tokio::spawn(async move {
            let Ok(turn) = state.turns.acquire_in_background().await else { return };
            let settling = state.clone();
            // Not on the engine's threads, which must stay free for clients.
            let settled = spawn_blocking(move || {
                let _turn = turn;
                settling.services(ConfigStrictness::Strict)?.memory.run_maintenance()
            });
            if !matches!(settled.await, Ok(Ok(()))) {
                state.upkeep.release_claim(now, last);
            }
        });
    }

    /// Claims the check if it is due, for one concurrent caller; returns the time of the last.
    fn claim_if_due(&self, now: i64) -> Option<i64> {
        let last = self.looked.load(Ordering::Relaxed);
        // Concurrent callers may arrive in another order than they read the clock.
        let is_due = (now - last).abs() >= UPKEEP_INTERVAL;
        let set = || self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed);
        (is_due && set().is_ok()).then_some(last)
    }

    /// Releases the claim made at `now`, because the work failed.
    fn release_claim(&self, now: i64, last: i64) {
        let _ = self.looked.compare_exchange(now, last, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn asked_at_once(upkeep: &MemoryUpkeep, times: impl Fn(i64) -> i64 + Sync) -> usize {
        thread::scope(|scope| {
            let ask = |each| upkeep.claim_if_due(times(each)).is_some();
            let asked: Vec<_> = (0..8)
                .map(|of| scope.spawn(move || (0..2000).filter(|it| ask(of * 2000 + it)).count()))
                .collect();
            asked.into_iter().map(|it| it.join().unwrap()).sum()
        })
    }

    #[test]
    fn of_many_who_ask_at_once_one_looks() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(asked_at_once(&upkeep, |each| NOW + each % 7), 1);
        assert_eq!(upkeep.claim_if_due(NOW + UPKEEP_INTERVAL - 1), None);
        assert!(upkeep.claim_if_due(NOW + UPKEEP_INTERVAL + 7).is_some());
    }

    /// Otherwise a busy server would never check again.
    #[test]
    fn whoever_asks_too_early_does_not_put_it_off() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(upkeep.claim_if_due(NOW), Some(0));
        assert_eq!(asked_at_once(&upkeep, |each| NOW + each), 0);
        assert_eq!(upkeep.claim_if_due(NOW + UPKEEP_INTERVAL), Some(NOW));
    }

    #[test]
    fn where_it_failed_the_next_one_looks_again() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(upkeep.claim_if_due(NOW), Some(0));
        upkeep.release_claim(NOW, 0);
        assert_eq!(upkeep.claim_if_due(NOW + 1), Some(0));
    }

    #[test]
    fn a_clock_that_was_set_back_is_no_reason_to_wait() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(upkeep.claim_if_due(NOW), Some(0));
        assert_eq!(upkeep.claim_if_due(NOW - UPKEEP_INTERVAL), Some(NOW));
    }
}
