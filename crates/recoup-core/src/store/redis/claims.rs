//! Claims among machines: a key on the server that expires unless its owner renews it.
//!
//! A thread renews claims and releases dropped ones, so that dropping a claim never waits for a
//! server.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use redis::Value;

use super::pool::RedisPool;
use super::scripts::{self, RedisKeys, eval};
use crate::base::clock::{Deadline, SystemClock};
use crate::base::digest::Sha256Digest;
use crate::base::name::fresh_id;
use crate::error::{Error, ErrorKind, Result};
use crate::key::EntryId;
use crate::store::RedisTarget;
use crate::store::{Claim, ClaimGuard, ClaimRegistry};

/// How long a claim outlives its owner.
const LEASE: Duration = Duration::from_secs(10);

/// Claims on a Redis server.
#[derive(Debug)]
pub struct RedisClaims {
    pool: Arc<RedisPool>,
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
        let (keys, pool) = (RedisKeys::new(&target.prefix), Arc::new(RedisPool::new(target)));
        Self { keeper: ClaimRenewer::new(Arc::clone(&pool), lease), pool, keys, lease }
    }
}

impl ClaimRegistry for RedisClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        let hold = ClaimToken { name: self.keys.claim(id), token: fresh_id(&SystemClock) };
        // Before the claim: without renewal it would be lost in the middle of the work.
        let kept = self.keeper.ensure_running()?;
        let mut command = eval(scripts::CLAIM, &[&hold.name]);
        command.arg(&hold.token).arg(millis(self.lease));
        if self.pool.query_one("cannot claim an entry", command)? != Value::Int(1) {
            return Ok(None);
        }
        kept.send(RenewerMessage::Keep(hold.clone()));
        let pool = Arc::clone(&self.pool);
        Ok(Some(Claim::new(RedisClaimGuard { hold, pool, kept, released: false })))
    }

    fn holder(&self, id: &EntryId) -> Option<u64> {
        let mut command = redis::cmd("GET");
        command.arg(self.keys.claim(id));
        match self.pool.query_one("cannot read the claim on an entry", command).ok()? {
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
    pool: Arc<RedisPool>,
    kept: RenewerHandle,
    released: bool,
}

impl ClaimGuard for RedisClaimGuard {
    fn release(mut self: Box<Self>) {
        self.released = true;
        // Best effort: the claim expires anyway.
        let _ = release_claim(&self.pool, &self.hold);
    }
}

impl Drop for RedisClaimGuard {
    fn drop(&mut self) {
        let message = if self.released { RenewerMessage::Forget } else { RenewerMessage::Release };
        self.kept.send(message(self.hold.clone()));
    }
}

/// Releases the claim if it is still ours.
fn release_claim(pool: &RedisPool, hold: &ClaimToken) -> Result<()> {
    let mut command = eval(scripts::RELEASE, &[&hold.name]);
    command.arg(&hold.token);
    pool.query_one("cannot release a claim", command).map(drop)
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// A claim: its key on the server, and the token that proves ownership.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClaimToken {
    pub(super) name: String,
    pub(super) token: String,
}

/// Starts the thread when it is first needed.
#[derive(Debug)]
struct ClaimRenewer {
    pool: Arc<RedisPool>,
    lease: Duration,
    running: Mutex<Option<RenewerHandle>>,
}

/// Handle of the thread.
#[derive(Debug, Clone)]
struct RenewerHandle(Sender<RenewerMessage>);

#[derive(Debug)]
enum RenewerMessage {
    Keep(ClaimToken),
    Forget(ClaimToken),
    Release(ClaimToken),
}

impl ClaimRenewer {
    pub(super) fn new(pool: Arc<RedisPool>, lease: Duration) -> Self {
        Self { pool, lease, running: Mutex::default() }
    }

    /// Starts the thread if necessary, and returns its handle.
    fn ensure_running(&self) -> Result<RenewerHandle> {
        // Replaced as a whole; no panic leaves half of it.
        let mut running = self.running.lock();
        if let Some(handle) = &*running {
            return Ok(handle.clone());
        }
        let (sender, words) = mpsc::channel();
        let (pool, lease) = (Arc::clone(&self.pool), self.lease);
        let keeping = move || RenewalLoop { pool, lease, held: Vec::new() }.run(&words);
        let thread = thread::Builder::new().name("recoup-claims".to_owned());
        thread.spawn(keeping).map_err(|error| {
            let message = "cannot start the thread that renews claims";
            Error::new(ErrorKind::Unavailable, message).with_source(error)
        })?;
        Ok(running.insert(RenewerHandle(sender)).clone())
    }
}

impl RenewerHandle {
    /// Errors are ignored: claims of a dead thread expire.
    fn send(&self, message: RenewerMessage) {
        let _ = self.0.send(message);
    }
}

/// State of the thread.
struct RenewalLoop {
    pool: Arc<RedisPool>,
    lease: Duration,
    /// Held claims, each with the time of its next renewal.
    held: Vec<(ClaimToken, Deadline)>,
}

impl RenewalLoop {
    /// Runs until all handles are dropped.
    fn run(mut self, words: &Receiver<RenewerMessage>) {
        loop {
            self.renew_due();
            let message = match self.held.iter().map(|(_, due)| due.remaining()).min() {
                Some(time) => words.recv_timeout(time),
                None => words.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(RenewerMessage::Keep(hold)) => self.held.push((hold, self.next_renewal())),
                Ok(RenewerMessage::Forget(hold)) => self.drop_held(&hold),
                Ok(RenewerMessage::Release(hold)) => {
                    self.drop_held(&hold);
                    // Best effort: the claim expires anyway.
                    let _ = release_claim(&self.pool, &hold);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn next_renewal(&self) -> Deadline {
        Deadline::after(self.lease / 3)
    }

    fn drop_held(&mut self, hold: &ClaimToken) {
        self.held.retain(|(held, _)| held != hold);
    }

    /// Renews due claims. Lost ones are dropped; after an error they are tried again.
    fn renew_due(&mut self) {
        let due: Vec<ClaimToken> = self
            .held
            .iter()
            .filter(|(_, due)| due.has_passed())
            .map(|(hold, _)| hold.clone())
            .collect();
        let commands = due.iter().map(|hold| {
            let mut command = eval(scripts::EXTEND, &[&hold.name]);
            command.arg(&hold.token).arg(millis(self.lease));
            command
        });
        let answers = self.pool.query_each("cannot renew claims", commands.collect());
        let lost = |n: usize| answers.as_ref().is_ok_and(|all| all.get(n) == Some(&Value::Int(0)));
        for (n, hold) in due.iter().enumerate() {
            self.drop_held(hold);
            if !lost(n) {
                self.held.push((hold.clone(), self.next_renewal()));
            }
        }
    }
}
