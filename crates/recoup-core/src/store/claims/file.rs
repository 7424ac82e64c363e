//! Claims among the processes of one machine: file locks, which the kernel releases when their
//! owner dies.
//!
//! ```text
//! DIR/HASH.claim      there while somebody works on the entry with that id
//! ```

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use super::{Claim, Claims, Held};
use crate::base::digest::{Digest, hex};
use crate::base::fsx::PassingLock;
use crate::error::{IoContext as _, Result};
use crate::key::Id;

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
    fn path(&self, id: &Id) -> PathBuf {
        let digest = Digest::of(id.to_string().as_bytes());
        self.dir.join(format!("{}.{EXTENSION}", hex(&digest.as_bytes()[..16])))
    }
}

impl Claims for FileClaims {
    fn try_claim(&self, id: &Id) -> Result<Option<Claim>> {
        Ok(PassingLock::try_acquire(&self.path(id))?.map(Claim::new))
    }

    /// Derived from inode and ctime: each owner creates a file of its own, except over one left by
    /// a dead owner.
    fn holder(&self, id: &Id) -> Option<u64> {
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
        for entry in std::fs::read_dir(&self.dir).doing(listing)? {
            let path = entry.doing(listing)?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) && path.is_file() {
                swept += usize::from(PassingLock::sweep(&path)?);
            }
        }
        Ok(swept)
    }
}

impl Held for PassingLock {
    fn release(self: Box<Self>) {}
}
