//! Repeated calls in one run: the earlier result is replayed, and marked.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Results of this run by call.
#[derive(Debug)]
pub(super) struct RepeatedCalls {
    /// Maximum number of replays of one call; 0 for none.
    max: u32,
    results: Mutex<HashMap<String, (String, u32)>>,
}

impl RepeatedCalls {
    pub(super) fn new(max: u32) -> Self {
        Self { max, results: Mutex::default() }
    }

    /// The earlier result of this call, unless it was replayed often enough.
    pub(super) fn replay(&self, key: &str) -> Option<String> {
        let mut results = self.results.lock();
        let (text, count) = results.get_mut(key).filter(|(_, count)| *count < self.max)?;
        *count += 1;
        Some(format!("[replay: this call was made before in this run; its result was]\n{text}"))
    }

    /// Keeps a successful result.
    pub(super) fn keep(&self, key: String, text: &str) {
        if self.max > 0 {
            self.results.lock().insert(key, (text.to_owned(), 0));
        }
    }

    /// Forgets all results: something was changed.
    pub(super) fn forget(&self) {
        self.results.lock().clear();
    }
}
