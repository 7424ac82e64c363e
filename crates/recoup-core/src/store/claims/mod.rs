//! Claims: of all callers that miss the same entry, the holder of its claim works.
//!
//! A claim ends with its owner, however that ends: the kernel releases a file lock, and a server
//! expires what is not renewed. Claims save work and guard nothing: working without one does no
//! harm.

mod file;
mod layered;
mod thread;

use std::fmt;
use std::time::Duration;

use crate::error::Result;
use crate::key::EntryId;

pub use file::FileClaims;
pub(super) use layered::LayeredClaims;
pub use thread::ThreadClaims;

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
    pub fn new(held: impl ClaimGuard + 'static) -> Self {
        Self(Box::new(held))
    }

    /// Releases the claim, and returns when others can take it. Needed if the process may exit
    /// next; otherwise a drop suffices.
    pub fn release(self) {
        self.0.release();
    }
}
