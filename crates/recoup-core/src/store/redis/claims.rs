//! Claims among machines: a key on the server that expires unless its owner renews it.
//!
//! A thread renews claims and releases dropped ones, so that dropping a claim never waits for a
//! server.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;

use super::claim_renewal::{ClaimRenewer, ClaimToken};
use super::keys::RedisKeys;
use super::pool::RedisPool;
use super::scripts::{self, eval};
use super::target::RedisTarget;
use crate::base::clock::SystemClock;
use crate::base::digest::Sha256Digest;
use crate::base::ids;
use crate::error::Result;
use crate::key::EntryId;
use crate::store::{Claim, ClaimGuard, ClaimRegistry};

/// How long a claim outlives its owner.
const LEASE: Duration = Duration::from_secs(10);

/// Claims on a Redis server.
#[derive(Debug)]
pub struct RedisClaims {
    line: Arc<RedisPool>,
    keys: RedisKeys,
    lease: Duration,
    keeper: ClaimRenewer,
}

impl RedisClaims {
    /// The claims at `target`. No connection is made before the first use.
    pub fn at(target: RedisTarget) -> Self {
        Self::with_lease(target, LEASE)
    }

    /// Like [`Self::at`], with claims that outlive their owner by at most `lease`.
    pub fn with_lease(target: RedisTarget, lease: Duration) -> Self {
        let (keys, line) = (RedisKeys::new(&target.prefix), Arc::new(RedisPool::new(target)));
        Self { keeper: ClaimRenewer::new(Arc::clone(&line), lease), line, keys, lease }
    }

    /// Tries to take the claim. Returns true if it is ours now.
    fn try_take(&self, hold: &ClaimToken) -> Result<bool> {
        let mut command = eval(scripts::CLAIM, &[&hold.name]);
        command.arg(&hold.token).arg(millis(self.lease));
        let answer = self.line.query_one("claiming the work for an entry", command)?;
        Ok(answer == Value::Int(1))
    }
}

impl ClaimRegistry for RedisClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        let hold = ClaimToken { name: self.keys.claim(id), token: ids::fresh_id(&SystemClock) };
        // Before the claim: without renewal it would be lost in the middle of the work.
        let kept = self.keeper.ensure_running()?;
        if !self.try_take(&hold)? {
            return Ok(None);
        }
        kept.keep(&hold);
        let line = Arc::clone(&self.line);
        Ok(Some(Claim::new(RedisClaimGuard { hold, line, kept, released: false })))
    }

    fn holder(&self, id: &EntryId) -> Option<u64> {
        let mut command = redis::cmd("GET");
        command.arg(self.keys.claim(id));
        match self.line.query_one("asking who works on an entry", command).ok()? {
            Value::BulkString(token) => {
                let digest = Sha256Digest::of(&token);
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
struct RedisClaimGuard {
    hold: ClaimToken,
    line: Arc<RedisPool>,
    kept: super::claim_renewal::RenewerHandle,
    released: bool,
}

impl ClaimGuard for RedisClaimGuard {
    fn release(mut self: Box<Self>) {
        self.released = true;
        // Best effort: the claim expires anyway.
        let _ = release_claim(&self.line, &self.hold);
    }
}

impl Drop for RedisClaimGuard {
    fn drop(&mut self) {
        if self.released {
            self.kept.forget(&self.hold);
        } else {
            self.kept.release(&self.hold);
        }
    }
}

/// Releases the claim if it is still ours.
pub(super) fn release_claim(line: &RedisPool, hold: &ClaimToken) -> Result<()> {
    let mut command = eval(scripts::RELEASE, &[&hold.name]);
    command.arg(&hold.token);
    line.query_one("freeing a claim", command).map(drop)
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
