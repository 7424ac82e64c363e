//! A machine's own claims in front of those on a server: one process per machine at a time asks the
//! server. While the server is unavailable, the machine decides alone.

use std::sync::Arc;
use std::time::Duration;

use super::{Claim, Claims, Held};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Id;
use crate::store::breaker::Breaker;
use crate::store::{FaultLog, Info};

/// `near`, then `far`.
#[derive(Debug)]
pub(in crate::store) struct Layered {
    pub(in crate::store) near: Arc<dyn Claims>,
    pub(in crate::store) far: Arc<dyn Claims>,
    /// Decides whether `far` is called.
    pub(in crate::store) breaker: Breaker,
    /// The server of `far`, for fault reports.
    pub(in crate::store) server: Info,
    pub(in crate::store) faults: Arc<dyn FaultLog>,
}

impl Layered {
    /// Calls the server through the circuit breaker, as for records.
    fn ask_far(&self, id: &Id) -> Result<Option<Claim>> {
        self.breaker.admit()?;
        let answer = self.far.try_claim(id);
        match &answer {
            Err(error) if error.kind() == ErrorKind::Unavailable => self.breaker.note_fault(error),
            _ => self.breaker.note_answer(),
        }
        answer
    }

    fn note(&self, error: Error) {
        self.faults.fault(&self.server, &error.context("claiming the work for an entry"));
    }
}

impl Claims for Layered {
    fn try_claim(&self, id: &Id) -> Result<Option<Claim>> {
        let near = match self.near.try_claim(id) {
            Ok(None) => return Ok(None),
            near => near,
        };
        match (self.ask_far(id), near) {
            (Ok(Some(far)), near) => Ok(Some(Claim::new(Both { far, near: near.ok().flatten() }))),
            (Ok(None), _) => Ok(None),
            (Err(error), near) => {
                self.note(error);
                near
            }
        }
    }

    /// Of the far claim: the near one changes hands quickly while its machine waits for another.
    fn holder(&self, id: &Id) -> Option<u64> {
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
struct Both {
    far: Claim,
    near: Option<Claim>,
}

impl Held for Both {
    fn release(self: Box<Self>) {
        self.far.release();
        if let Some(near) = self.near {
            near.release();
        }
    }
}
