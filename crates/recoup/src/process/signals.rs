//! The signals that we were started without: `nohup`, or `&` in a script.

use std::fs;

/// Signals that stay away from us, and from whoever we start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ignored(u64);

impl Ignored {
    /// As we were started. Where the system does not tell, none.
    pub(crate) fn at_start() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0))
    }

    /// Whether a signal is none of them.
    pub(crate) fn lets_through(self, signal: i32) -> bool {
        self.0 & (1 << (signal - 1)) == 0
    }
}
