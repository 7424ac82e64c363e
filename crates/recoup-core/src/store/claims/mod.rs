//! Who works: of all who miss the same entry, the one who holds its claim.
//!
//! A claim ends with its owner, whichever way that ends: the kernel frees a
//! locked file, and a server forgets what nobody renews. It saves work and
//! guards nothing: whoever works without one does no harm.

mod file;
mod layered;
mod thread;

use std::fmt;
use std::time::Duration;

use crate::error::Result;
use crate::key::Id;

pub use file::FileClaims;
pub(super) use layered::Layered;
pub use thread::ThreadClaims;

/// Where callers find out who of them works.
pub trait Claims: Send + Sync + fmt::Debug {
    /// The claim on the work for `id`; none while somebody else has it. Never
    /// waits for that.
    fn try_claim(&self, id: &Id) -> Result<Option<Claim>>;

    /// Who has the claim on `id`, as a number that only tells one owner from the next;
    /// none when nobody has it, or when that can't be found out.
    fn holder(&self, id: &Id) -> Option<u64>;

    /// The longest that a waiter pauses between two tries: the dearer a try, the
    /// longer.
    fn longest_pause(&self) -> Duration;

    /// Removes what dead owners left behind; says how much that was.
    fn sweep(&self) -> Result<usize>;
}

/// The work for one entry is this owner's, until it is dropped.
#[derive(Debug)]
#[must_use = "a claim that is dropped is free for others"]
pub struct Claim(Box<dyn Held>);

/// What a claim holds on to; dropping it frees the claim, without waiting.
pub trait Held: Send + Sync + fmt::Debug {
    /// Frees the claim, and waits for that where it takes a moment.
    fn release(self: Box<Self>);
}

impl Claim {
    /// A claim that is free when `held` is dropped.
    pub fn new(held: impl Held + 'static) -> Self {
        Self(Box::new(held))
    }

    /// Frees it, and returns when others can have it. For those whose process may
    /// end next; others may as well drop it.
    pub fn release(self) {
        self.0.release();
    }
}
