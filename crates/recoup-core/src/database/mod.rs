//! An SQLite file that any number of short processes share: opened when it is
//! first needed, created at the first write, set aside when it is damaged.
//!
//! The owner of a database defines its contents with a [`Layout`].

mod beside;
pub(crate) mod busy;
pub(crate) mod connection;
pub(crate) mod fault;
mod inspect;
mod layout;
mod log;
mod no_room;
mod pages;
mod pool;
mod recover;

use std::time::Duration;

pub(crate) use beside::mark_of;
pub use beside::{Beside, lock_of};
pub(crate) use inspect::inspect;
pub use inspect::{Inspected, Soundness, set_asides};
pub(crate) use layout::{Layout, in_transaction, version_of};
pub(crate) use pages::DamagedPages;
pub(crate) use pool::{Pool, Teller};
pub(crate) use recover::lock;

/// Limits on waiting for other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// For a reader, which waits only while another process recovers the log.
    pub read: Duration,
    /// For a writer: others may be writing.
    pub write: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { read: Duration::from_millis(250), write: Duration::from_secs(10) }
    }
}
