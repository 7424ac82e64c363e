//! Claims: of all callers that miss the same entry, the holder of its claim works. Among threads,
//! among the processes of a machine (file locks), or in front of the claims of a server.
//!
//! A claim ends with its owner, however that ends: the kernel releases a file lock, and a server
//! expires what is not renewed. Claims save work and guard nothing: working without one does no
//! harm.

use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::FaultLog;
use super::guarded::CircuitBreaker;
use crate::base::digest::{Sha256Digest, encode_hex};
use crate::base::fsx::EphemeralLock;
use crate::error::{IoContext as _, Result};
use crate::key::EntryId;

const EXTENSION: &str = "claim";

/// Elects one of the callers that want to compute the same entry.
pub trait ClaimRegistry: Send + Sync + fmt::Debug {
    /// Takes the claim on the work for `id`; `None` while another caller holds it. Never waits for
    /// that.
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>>;

    /// A number that tells the holder of the claim on `id` from the next one; `None` if there is
    /// none or it is unknown.
    fn holder(&self, id: &EntryId) -> Option<u64>;

    /// The longest pause between two tries of a waiting caller: longer if tries are expensive.
    fn longest_pause(&self) -> Duration;

    /// Removes what dead owners left behind, and returns the number removed.
    fn sweep(&self) -> Result<usize>;
}

/// The right to work on one entry, until it is dropped.
#[derive(Debug)]
#[must_use = "a claim that is dropped is free for others"]
pub struct Claim(Box<dyn ClaimGuard>);

/// The resource behind a claim. Dropping it releases the claim without waiting.
pub trait ClaimGuard: Send + Sync + fmt::Debug {
    /// Releases the claim, and waits until that has happened.
    fn release(self: Box<Self>);
}

impl Claim {
    /// A claim that is released when `held` is dropped.
    pub(crate) fn new(held: impl ClaimGuard + 'static) -> Self {
        Self(Box::new(held))
    }

    /// Releases the claim, and returns when others can take it. Needed if the process may exit
    /// next; otherwise a drop suffices.
    pub fn release(self) {
        self.0.release();
    }
}

/// Claims within this process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ThreadClaims {
    taken: Arc<Mutex<HashMap<EntryId, u64>>>,
    owners: Arc<AtomicU64>,
}

impl ClaimRegistry for ThreadClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        let mut taken = self.taken.lock();
        if taken.contains_key(id) {
            return Ok(None);
        }
        taken.insert(id.clone(), self.owners.fetch_add(1, Ordering::Relaxed));
        Ok(Some(Claim::new(ThreadClaimGuard { claims: self.clone(), id: id.clone() })))
    }

    fn holder(&self, id: &EntryId) -> Option<u64> {
        self.taken.lock().get(id).copied()
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
        self.claims.taken.lock().remove(&self.id);
    }
}

/// Claims as lock files in a directory.
#[derive(Debug, Clone)]
pub struct FileClaims {
    dir: PathBuf,
}

impl FileClaims {
    /// The claims in `dir`, which is created with the first claim.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// By hash, because an id may have characters that a file name cannot.
    fn path(&self, id: &EntryId) -> PathBuf {
        let digest = Sha256Digest::of(id.to_string().as_bytes());
        self.dir.join(format!("{}.{EXTENSION}", encode_hex(&digest.as_bytes()[..16])))
    }
}

impl ClaimRegistry for FileClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        Ok(EphemeralLock::try_acquire(&self.path(id))?.map(Claim::new))
    }

    /// Derived from inode and ctime: each owner creates a file of its own, except over one left by
    /// a dead owner.
    fn holder(&self, id: &EntryId) -> Option<u64> {
        let found = std::fs::symlink_metadata(self.path(id)).ok()?;
        let times = found.ctime().wrapping_mul(1_000_000_000).wrapping_add(found.ctime_nsec());
        Some(found.ino() ^ times.cast_unsigned().rotate_left(20))
    }

    fn longest_pause(&self) -> Duration {
        Duration::from_millis(25)
    }

    fn sweep(&self) -> Result<usize> {
        if !self.dir.is_dir() {
            return Ok(0);
        }
        let listing = || format!("cannot list {}", self.dir.display());
        let mut swept = 0;
        for entry in std::fs::read_dir(&self.dir).with_context(listing)? {
            let path = entry.with_context(listing)?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) && path.is_file() {
                swept += usize::from(EphemeralLock::remove_unheld(&path)?);
            }
        }
        Ok(swept)
    }
}

impl ClaimGuard for EphemeralLock {
    fn release(self: Box<Self>) {}
}

/// `near`, then `far`.
#[derive(Debug)]
pub(super) struct LayeredClaims {
    pub(super) near: Arc<dyn ClaimRegistry>,
    pub(super) far: Arc<dyn ClaimRegistry>,
    /// Decides whether `far` is called.
    pub(super) breaker: CircuitBreaker,
    /// URL of the server of `far`, for fault reports.
    pub(super) server: String,
    pub(super) faults: Arc<dyn FaultLog>,
}

impl ClaimRegistry for LayeredClaims {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        let near = match self.near.try_claim(id) {
            Ok(None) => return Ok(None),
            near => near,
        };
        // The server is called through the circuit breaker, as for records.
        let far = self.breaker.admit().and_then(|()| {
            let answer = self.far.try_claim(id);
            self.breaker.note_result(&answer);
            answer
        });
        match (far, near) {
            (Ok(Some(far)), near) => {
                Ok(Some(Claim::new(LayeredGuard { far, near: near.ok().flatten() })))
            }
            (Ok(None), _) => Ok(None),
            (Err(error), near) => {
                let error = error.context("cannot claim an entry");
                self.faults.fault(&self.server, &error);
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
