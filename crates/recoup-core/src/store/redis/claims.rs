//! Claims among machines: a key on the server that expires unless its owner renews it.
//!
//! A thread renews claims and releases dropped ones, so that dropping a claim never waits for a
//! server.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;

use super::keeper::{Hold, Keeper};
use super::keys::Keys;
use super::line::Line;
use super::scripts::{self, eval};
use super::target::Target;
use crate::base::clock::SystemClock;
use crate::base::digest::Digest;
use crate::base::ids;
use crate::error::Result;
use crate::key::Id;
use crate::store::{Claim, Claims, Held};

/// How long a claim outlives its owner.
const LEASE: Duration = Duration::from_secs(10);

/// Claims on a Redis server.
#[derive(Debug)]
pub struct RedisClaims {
    line: Arc<Line>,
    keys: Keys,
    lease: Duration,
    keeper: Keeper,
}

impl RedisClaims {
    /// The claims at `target`. No connection is made before the first use.
    pub fn at(target: Target) -> Self {
        Self::with_lease(target, LEASE)
    }

    /// Like [`Self::at`], with claims that outlive their owner by at most `lease`.
    pub fn with_lease(target: Target, lease: Duration) -> Self {
        let (keys, line) = (Keys::new(&target.prefix), Arc::new(Line::new(target)));
        Self { keeper: Keeper::new(Arc::clone(&line), lease), line, keys, lease }
    }

    /// Tries to take the claim. Returns true if it is ours now.
    fn claim(&self, hold: &Hold) -> Result<bool> {
        let mut command = eval(scripts::CLAIM, &[&hold.name]);
        command.arg(&hold.token).arg(millis(self.lease));
        let answer = self.line.ask_one("claiming the work for an entry", command)?;
        Ok(answer == Value::Int(1))
    }
}

impl Claims for RedisClaims {
    fn try_claim(&self, id: &Id) -> Result<Option<Claim>> {
        let hold = Hold { name: self.keys.claim(id), token: ids::fresh(&SystemClock) };
        // Before the claim: without renewal it would be lost in the middle of the work.
        let kept = self.keeper.start()?;
        if !self.claim(&hold)? {
            return Ok(None);
        }
        kept.keep(&hold);
        let line = Arc::clone(&self.line);
        Ok(Some(Claim::new(Lease { hold, line, kept, released: false })))
    }

    fn holder(&self, id: &Id) -> Option<u64> {
        let mut command = redis::cmd("GET");
        command.arg(self.keys.claim(id));
        match self.line.ask_one("asking who works on an entry", command).ok()? {
            Value::BulkString(token) => {
                let digest = Digest::of(&token);
                let start: [u8; 8] = digest.as_bytes()[..8].try_into().ok()?;
                Some(u64::from_le_bytes(start))
            }
            _ => None,
        }
    }

    fn longest_pause(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// Nothing to do: the server expires claims.
    fn sweep(&self) -> Result<usize> {
        Ok(0)
    }
}

#[derive(Debug)]
struct Lease {
    hold: Hold,
    line: Arc<Line>,
    kept: super::keeper::Handle,
    released: bool,
}

impl Held for Lease {
    fn release(mut self: Box<Self>) {
        self.released = true;
        // Best effort: the claim expires anyway.
        let _ = release(&self.line, &self.hold);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.released {
            self.kept.forget(&self.hold);
        } else {
            self.kept.release(&self.hold);
        }
    }
}

/// Releases the claim if it is still ours.
pub(super) fn release(line: &Line, hold: &Hold) -> Result<()> {
    let mut command = eval(scripts::RELEASE, &[&hold.name]);
    command.arg(&hold.token);
    line.ask_one("freeing a claim", command).map(drop)
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
