//! A machine's own claims in front of those on a server: of each machine, one
//! process at a time asks the server. While that is away, the machine decides
//! alone.

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
    /// Decides whether `far` is asked.
    pub(in crate::store) breaker: Breaker,
    /// What `far` is on, for those who are told of its faults.
    pub(in crate::store) server: Info,
    pub(in crate::store) faults: Arc<dyn FaultLog>,
}

impl Layered {
    /// A server that does not answer is not asked for a while, here as for records.
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

    /// The near one passes quickly from hand to hand while its machine waits for another.
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

/// The server's goes first: whoever then gets the near one finds it free.
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
