//! An SQLite file that any number of short processes share: opened when it is
//! first needed, created at the first write, set aside when it is damaged.
//!
//! The owner of a database defines its contents with a [`DatabaseLayout`].

pub(crate) mod connection;
mod inspect;
mod layout;
mod pages;
mod pool;
mod recover;

use std::time::Duration;

// Name under which callers know a part of `connection`.
pub(crate) use connection as busy;
pub(crate) use connection::SqlContext;
pub(crate) use inspect::inspect_database;
pub use inspect::{DatabaseInspection, DatabaseSoundness, list_set_aside};
pub use layout::{DatabaseFileRole, lock_path};
pub(crate) use layout::{DatabaseLayout, in_transaction, mark_path, schema_version};
pub(crate) use pages::DamagedPages;
pub(crate) use pool::ConnectionPool;
pub(crate) use recover::lock_database;

/// Limits on waiting for other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimits {
    /// For a reader, which waits only while another process recovers the log.
    pub read: Duration,
    /// For a writer: others may be writing.
    pub write: Duration,
}

impl Default for WaitLimits {
    fn default() -> Self {
        Self { read: Duration::from_millis(250), write: Duration::from_secs(10) }
    }
}
