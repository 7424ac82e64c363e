//! Daily maintenance of the memory: expiry, retention and snapshots. Clients with hooks have a
//! worker for it; others have only this server.

use std::sync::atomic::{AtomicI64, Ordering};

use recoup_core::base::clock::{Clock as _, SystemClock};
use tokio::task::spawn_blocking;

use super::{ConfigStrictness, ServerState};

/// Interval between checks, in milliseconds: other processes do the work, too.
const PAUSE: i64 = 60 * 60 * 1000;

/// Time of the last check.
#[derive(Debug, Default)]
pub(super) struct MemoryUpkeep {
    looked: AtomicI64,
}

impl MemoryUpkeep {
    /// Runs maintenance in the background after a write, if due. A failure is retried next time;
    /// writers notice by themselves if the memory cannot be written.
    pub(super) fn run_if_due(state: &ServerState) {
        let now = SystemClock.now().as_millis();
        let Some(last) = state.upkeep.claim_if_due(now) else { return };
        let state = state.clone();
        tokio::spawn(async move {
            let Ok(turn) = state.turns.acquire_in_background().await else { return };
            let settling = state.clone();
            // Not on the engine's threads, which must stay free for clients.
            let settled = spawn_blocking(move || {
                let _turn = turn;
                settling.services(ConfigStrictness::Strict)?.memory.run_maintenance()
            });
            if !matches!(settled.await, Ok(Ok(()))) {
                state.upkeep.release_claim(now, last);
            }
        });
    }

    /// Claims the check if it is due, for one concurrent caller; returns the time of the last.
    fn claim_if_due(&self, now: i64) -> Option<i64> {
        let last = self.looked.load(Ordering::Relaxed);
        // Concurrent callers may arrive in another order than they read the clock.
        let is_due = (now - last).abs() >= PAUSE;
        let set = || self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed);
        (is_due && set().is_ok()).then_some(last)
    }

    /// Releases the claim made at `now`, because the work failed.
    fn release_claim(&self, now: i64, last: i64) {
        let _ = self.looked.compare_exchange(now, last, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn asked_at_once(upkeep: &MemoryUpkeep, times: impl Fn(i64) -> i64 + Sync) -> usize {
        thread::scope(|scope| {
            let ask = |each| upkeep.claim_if_due(times(each)).is_some();
            let asked: Vec<_> = (0..8)
                .map(|of| scope.spawn(move || (0..2000).filter(|it| ask(of * 2000 + it)).count()))
                .collect();
            asked.into_iter().map(|it| it.join().unwrap()).sum()
        })
    }

    #[test]
    fn of_many_who_ask_at_once_one_looks() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(asked_at_once(&upkeep, |each| NOW + each % 7), 1);
        assert_eq!(upkeep.claim_if_due(NOW + PAUSE - 1), None);
        assert!(upkeep.claim_if_due(NOW + PAUSE + 7).is_some());
    }

    /// Otherwise a busy server would never check again.
    #[test]
    fn whoever_asks_too_early_does_not_put_it_off() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(upkeep.claim_if_due(NOW), Some(0));
        assert_eq!(asked_at_once(&upkeep, |each| NOW + each), 0);
        assert_eq!(upkeep.claim_if_due(NOW + PAUSE), Some(NOW));
    }

    #[test]
    fn where_it_failed_the_next_one_looks_again() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(upkeep.claim_if_due(NOW), Some(0));
        upkeep.release_claim(NOW, 0);
        assert_eq!(upkeep.claim_if_due(NOW + 1), Some(0));
    }

    #[test]
    fn a_clock_that_was_set_back_is_no_reason_to_wait() {
        let upkeep = MemoryUpkeep::default();
        assert_eq!(upkeep.claim_if_due(NOW), Some(0));
        assert_eq!(upkeep.claim_if_due(NOW - PAUSE), Some(NOW));
    }
}
