//! Limits on work with the engine. It blocks, so work runs on a few threads; requests queue here,
//! where they can still be cancelled, and writers do not hold up readers.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::in_flight::InFlightRequest;

/// Total number of workers.
const WORKERS: usize = 4;
/// Workers that may write: SQLite allows one at a time, and others wait for its lock.
const WRITERS: usize = 2;
/// Workers that may read a project's files, which may be large and many: the others go on
/// answering questions about memory.
const FILE_READERS: usize = 2;
/// Threads for background work: polling of followed resources, and upkeep of the memory.
pub(super) const BACKGROUND_THREADS: usize = 2;

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineAccess {
    Reads,
    Writes,
    ReadsFiles,
}

/// Semaphores for each kind of work.
#[derive(Debug, Clone)]
pub(super) struct WorkerLimits {
    workers: Arc<Semaphore>,
    writers: Arc<Semaphore>,
    file_readers: Arc<Semaphore>,
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
                EngineAccess::Reads => None,
                EngineAccess::Writes => Some(acquire_permit(&self.writers).await?),
                EngineAccess::ReadsFiles => Some(acquire_permit(&self.file_readers).await?),
            };
            let worker = acquire_permit(&self.workers).await?;
            // Last, because responses may have piled up while others worked.
            if let Some(burden) = &burden {
                burden.wait_for_reader().await;
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
