//! Signals that were ignored when we were started: `nohup`, or `&` in a script.

use std::fs;

/// Signals that we, and the processes that we start, ignore.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IgnoredSignals(u64);

impl IgnoredSignals {
    /// Reads the signals ignored at start; none if the system does not tell.
    pub(crate) fn at_start() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0))
    }

    /// True if a signal is not ignored.
    pub(crate) fn is_delivered(self, signal: i32) -> bool {
        self.0 & (1 << (signal - 1)) == 0
    }
}
