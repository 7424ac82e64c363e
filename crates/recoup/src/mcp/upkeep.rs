//! Memory is put in order once a day: what nobody saw again goes, and nothing is kept for longer
//! than it may be. Hooks have a worker that does so; a client without hooks has only us.

use std::sync::atomic::{AtomicI64, Ordering};

use recoup_core::base::clock::{Clock as _, SystemClock};
use tokio::task::spawn_blocking;

use super::Desk;

/// How often it is looked whether that is due, in milliseconds: others do it, too.
const PAUSE: i64 = 60 * 60 * 1000;

/// When it was looked last.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    looked: AtomicI64,
}

impl Upkeep {
    /// Behind somebody who has written, and who does not wait for it. What goes wrong is tried
    /// again the next time.
    pub(super) fn look(&self, desk: &Desk) {
        if self.is_due(SystemClock.now().as_millis()) {
            let desk = desk.clone();
            spawn_blocking(move || desk.surroundings()?.memory().settle_daily().map(drop));
        }
    }

    /// Whether it has not been looked for long; of many who ask at once, one is told so.
    fn is_due(&self, now: i64) -> bool {
        let last = self.looked.load(Ordering::Relaxed);
        // Those who ask at once may come in another order than they looked at the clock.
        let is_long_ago = (now - last).abs() >= PAUSE;
        let set = || self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed);
        is_long_ago && set().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn asked_at_once(upkeep: &Upkeep, times: impl Fn(i64) -> i64 + Sync) -> usize {
        thread::scope(|scope| {
            let ask = |each| upkeep.is_due(times(each));
            let asked: Vec<_> = (0..8)
                .map(|of| scope.spawn(move || (0..2000).filter(|it| ask(of * 2000 + it)).count()))
                .collect();
            asked.into_iter().map(|it| it.join().unwrap()).sum()
        })
    }

    #[test]
    fn of_many_who_ask_at_once_one_looks() {
        let upkeep = Upkeep::default();
        assert_eq!(asked_at_once(&upkeep, |each| NOW + each % 7), 1);
        assert!(!upkeep.is_due(NOW + PAUSE - 1));
        assert!(upkeep.is_due(NOW + PAUSE + 7));
    }

    /// Otherwise a server that always has something to do would never look again.
    #[test]
    fn whoever_asks_too_early_does_not_put_it_off() {
        let upkeep = Upkeep::default();
        assert!(upkeep.is_due(NOW));
        assert_eq!(asked_at_once(&upkeep, |each| NOW + each), 0);
        assert!(upkeep.is_due(NOW + PAUSE));
    }

    #[test]
    fn a_clock_that_was_set_back_is_no_reason_to_wait() {
        let upkeep = Upkeep::default();
        assert!(upkeep.is_due(NOW));
        assert!(upkeep.is_due(NOW - PAUSE));
    }
}
