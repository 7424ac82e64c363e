//! Claims among the processes of one machine: file locks, which the kernel releases when their
//! owner dies.
//!
//! ```text
//! DIR/HASH.claim      there while somebody works on the entry with that id
//! ```

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use super::{Claim, ClaimGuard, ClaimRegistry};
use crate::base::digest::{Sha256Digest, encode_hex};
use crate::base::fsx::EphemeralLock;
use crate::error::{IoContext as _, Result};
use crate::key::EntryId;

const EXTENSION: &str = "claim";

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
        let listing = || format!("listing {}", self.dir.display());
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
