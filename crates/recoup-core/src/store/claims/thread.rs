//! Claims among the threads of one process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Claim, ClaimGuard, ClaimRegistry};
use crate::error::Result;
use crate::key::EntryId;

/// Claims within this process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ThreadClaims {
    taken: Arc<Mutex<HashMap<EntryId, u64>>>,
    owners: Arc<AtomicU64>,
}

impl ThreadClaims {
    fn taken(&self) -> MutexGuard<'_, HashMap<EntryId, u64>> {
        // Ids are inserted and removed whole; no panic leaves half of one.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClaimRegistry for ThreadClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        let mut taken = self.taken();
        if taken.contains_key(id) {
            return Ok(None);
        }
        taken.insert(id.clone(), self.owners.fetch_add(1, Ordering::Relaxed));
        Ok(Some(Claim::new(ThreadClaimGuard { claims: self.clone(), id: id.clone() })))
    }

    fn holder(&self, id: &EntryId) -> Option<u64> {
        self.taken().get(id).copied()
    }

    fn longest_pause(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn sweep(&self) -> Result<usize> {
        Ok(0)
    }
}

#[derive(Debug)]
struct ThreadClaimGuard {
    claims: ThreadClaims,
    id: EntryId,
}

impl ClaimGuard for ThreadClaimGuard {
    fn release(self: Box<Self>) {}
}

impl Drop for ThreadClaimGuard {
    fn drop(&mut self) {
        self.claims.taken().remove(&self.id);
    }
}
