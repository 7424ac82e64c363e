//! Whose turn it is. The engine blocks, so that work is done on threads, and there are few of
//! them: what waits for its turn waits here, where it can still be cancelled, and those
//! who write do not stand in the way of those who read.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::load::Burden;

/// How many work at once.
const WORKERS: usize = 4;
/// How many of these write: SQLite lets one at a time, and others wait for its lock.
const WRITERS: usize = 2;
/// How many of the workers read a project's files, which may be large and many: the others go on
/// answering questions about memory.
const FILE_READERS: usize = 2;
/// How many may do something that nobody has asked for now: those who follow a resource look
/// now and then, and memory is put in order.
pub(super) const ASIDE: usize = 2;

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    Writes,
    ReadsFiles,
}

/// Who may work.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    workers: Arc<Semaphore>,
    writers: Arc<Semaphore>,
    file_readers: Arc<Semaphore>,
}

/// Somebody's turn, until it is dropped; and the weight of what they work on.
#[derive(Debug)]
pub(super) struct Turn {
    _worker: OwnedSemaphorePermit,
    _place: Option<OwnedSemaphorePermit>,
    burden: Option<Burden>,
}

/// The work is over, and the arguments are gone with it. The call may still wait for the user.
impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(burden) = &self.burden {
            burden.weigh(0);
        }
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            workers: Arc::new(Semaphore::new(WORKERS)),
            writers: Arc::new(Semaphore::new(WRITERS)),
            file_readers: Arc::new(Semaphore::new(FILE_READERS)),
        }
    }
}

impl Turns {
    /// Waits for a turn. What is cancelled meanwhile gets none.
    pub(super) async fn next(
        &self,
        access: Access,
        context: &RequestContext<RoleServer>,
    ) -> Result<Turn, ErrorData> {
        let burden = Burden::of(&context.extensions);
        let turn = async {
            let limited = match access {
                Access::Reads => None,
                Access::Writes => Some(place(&self.writers).await?),
                Access::ReadsFiles => Some(place(&self.file_readers).await?),
            };
            let worker = place(&self.workers).await?;
            // Last of all: answers that nobody reads may have come while others had their turn.
            if let Some(burden) = &burden {
                burden.may_answer().await;
            }
            Ok((worker, limited))
        };
        let turn = context.ct.run_until_cancelled(turn).await;
        let (worker, limited) = turn.ok_or_else(gone)??;
        Ok(Turn { _worker: worker, _place: limited, burden })
    }

    /// Waits for a turn to write something that no client has asked for.
    pub(super) async fn unasked(&self) -> Result<Turn, ErrorData> {
        let writer = place(&self.writers).await?;
        let worker = place(&self.workers).await?;
        Ok(Turn { _worker: worker, _place: Some(writer), burden: None })
    }
}

async fn place(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ErrorData> {
    places.clone().acquire_owned().await.map_err(|_| gone())
}

/// Nobody hears it: what was cancelled is not answered.
fn gone() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}
