//! Calls that make results stale, as far as this process sees them: a result whose call began before
//! such a write ended may be about either state, and is not kept.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::policy::NamePattern;

/// Results that a write makes stale.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StaleResults {
    /// Results of tools and methods with such names.
    Named(NamePattern),
    /// Contents of one resource.
    Resource(String),
    /// Results that only `readOnlyTools` allows to cache.
    ReadOnly,
    /// All results of the server.
    Everything,
    /// Results that only the server's `cache` allows to cache.
    ServerDefault,
}

/// Position in the order of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WritePosition(u64);

/// Begun and ended writes.
#[derive(Debug, Default)]
pub(super) struct WriteTracker(Mutex<TrackedWrites>);

#[derive(Debug, Default)]
struct TrackedWrites {
    position: u64,
    /// For each kind of write the latest position, and how many are under way.
    writes: BTreeMap<StaleResults, (u64, u32)>,
}

impl WriteTracker {
    /// The current position.
    pub(super) fn position(&self) -> WritePosition {
        WritePosition(self.0.lock().position)
    }

    /// Records the start of a write.
    pub(super) fn begin(&self, stale: &[StaleResults]) {
        self.advance(stale, |active| active + 1);
    }

    /// Records its end, after what it made stale was dropped.
    pub(super) fn end(&self, stale: &[StaleResults]) {
        self.advance(stale, |active| active.saturating_sub(1));
    }

    fn advance(&self, stale: &[StaleResults], change: impl Fn(u32) -> u32) {
        let mut tracked = self.0.lock();
        tracked.position += 1;
        let position = tracked.position;
        for stale in stale {
            let write = tracked.writes.entry(stale.clone()).or_default();
            *write = (position, change(write.1));
        }
    }

    /// True if a write that concerns a result is under way, or its stale entries are not dropped yet.
    pub(super) fn is_under_way(&self, concerns: impl Fn(&StaleResults) -> bool) -> bool {
        let tracked = self.0.lock();
        tracked.writes.iter().any(|(stale, (_, active))| *active > 0 && concerns(stale))
    }

    /// True if a write that concerns a result is under way, or began or ended after `position`.
    pub(super) fn has_written_since(
        &self,
        position: WritePosition,
        concerns: impl Fn(&StaleResults) -> bool,
    ) -> bool {
        let tracked = self.0.lock();
        let mut writes = tracked.writes.iter();
        writes.any(|(stale, (latest, active))| {
            (*active > 0 || *latest > position.0) && concerns(stale)
        })
    }
}
