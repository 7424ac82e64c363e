//! Faults that did not stop the work, and must not be silent.

use std::fmt;

use crate::error::Error;

/// Receives faults after which the work went on.
pub trait FaultLog: Send + Sync + fmt::Debug {
    /// Reports that `source`, a URL or a name, failed with `error`.
    fn fault(&self, source: &str, error: &Error);
}

/// Drops every fault: the fault log of [`Cache::open`](crate::cache::Cache::open).
#[derive(Debug, Clone, Copy, Default)]
pub struct IgnoreFaults;

impl FaultLog for IgnoreFaults {
    fn fault(&self, _: &str, _: &Error) {}
}
