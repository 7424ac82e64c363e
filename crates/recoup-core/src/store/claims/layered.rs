//! A machine's own claims in front of those on a server: one process per machine at a time asks the
//! server. While the server is unavailable, the machine decides alone.

use std::sync::Arc;
use std::time::Duration;

use super::{Claim, ClaimGuard, ClaimRegistry};
use crate::base::FaultLog;
use crate::error::{Error, ErrorKind, Result};
use crate::key::EntryId;
use crate::store::breaker::CircuitBreaker;

/// `near`, then `far`.
#[derive(Debug)]
pub(in crate::store) struct LayeredClaims {
    pub(in crate::store) near: Arc<dyn ClaimRegistry>,
    pub(in crate::store) far: Arc<dyn ClaimRegistry>,
    /// Decides whether `far` is called.
    pub(in crate::store) breaker: CircuitBreaker,
    /// URL of the server of `far`, for fault reports.
    pub(in crate::store) server: String,
    pub(in crate::store) faults: Arc<dyn FaultLog>,
}

impl LayeredClaims {
    /// Calls the server through the circuit breaker, as for records.
    fn try_claim_far(&self, id: &EntryId) -> Result<Option<Claim>> {
        self.breaker.admit()?;
        let answer = self.far.try_claim(id);
        match &answer {
            Err(error) if error.kind() == ErrorKind::Unavailable => self.breaker.note_fault(error),
            _ => self.breaker.note_answer(),
        }
        answer
    }

    fn log_fault(&self, error: Error) {
        self.faults.fault(&self.server, &error.context("claiming the work for an entry"));
    }
}

impl ClaimRegistry for LayeredClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        let near = match self.near.try_claim(id) {
            Ok(None) => return Ok(None),
            near => near,
        };
        match (self.try_claim_far(id), near) {
            (Ok(Some(far)), near) => {
                Ok(Some(Claim::new(LayeredGuard { far, near: near.ok().flatten() })))
            }
            (Ok(None), _) => Ok(None),
            (Err(error), near) => {
                self.log_fault(error);
                near
            }
        }
    }

    /// Of the far claim: the near one changes hands quickly while its machine waits for another.
    fn holder(&self, id: &EntryId) -> Option<u64> {
        self.breaker.admit().ok()?;
        self.far.holder(id)
    }

    fn longest_pause(&self) -> Duration {
        self.near.longest_pause().max(self.far.longest_pause())
    }

    fn sweep(&self) -> Result<usize> {
        Ok(self.near.sweep()? + self.far.sweep()?)
    }
}

/// Releases the far claim first, so that the next holder of the near one finds it free.
#[derive(Debug)]
struct LayeredGuard {
    far: Claim,
    near: Option<Claim>,
}

impl ClaimGuard for LayeredGuard {
    fn release(self: Box<Self>) {
        self.far.release();
        if let Some(near) = self.near {
            near.release();
        }
    }
}
