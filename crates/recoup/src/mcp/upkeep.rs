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
    /// again the next time; whoever writes then is told if memory can't be written at all.
    pub(super) fn look(desk: &Desk) {
        let now = SystemClock.now().as_millis();
        let Some(last) = desk.upkeep.begin(now) else { return };
        let desk = desk.clone();
        tokio::spawn(async move {
            let Ok(turn) = desk.turns.unasked().await else { return };
            let settling = desk.clone();
            let settled = spawn_blocking(move || {
                let _turn = turn;
                settling.surroundings()?.memory().settle_daily()
            });
            if !matches!(settled.await, Ok(Ok(_))) {
                desk.upkeep.give_back(now, last);
            }
        });
    }

    /// If it is time to look: when it was looked last. One of those who ask at once is told so.
    fn begin(&self, now: i64) -> Option<i64> {
        let last = self.looked.load(Ordering::Relaxed);
        let is_due = !(0..PAUSE).contains(&(now - last));
        let is_ours = || {
            self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        (is_due && is_ours()).then_some(last)
    }

    /// What was begun at `now` was not done.
    fn give_back(&self, now: i64, last: i64) {
        let _ = self.looked.compare_exchange(now, last, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_once_an_hour_and_again_at_once_where_it_failed() {
        let upkeep = Upkeep::default();
        let start = 10 * PAUSE;
        assert_eq!(upkeep.begin(start), Some(0));
        assert_eq!(upkeep.begin(start + 1), None, "somebody is at it");
        upkeep.give_back(start, 0);
        assert_eq!(upkeep.begin(start + 2), Some(0), "it failed");
        assert_eq!(upkeep.begin(start + PAUSE), None);
        assert_eq!(upkeep.begin(start + 2 + PAUSE), Some(start + 2));
        assert_eq!(upkeep.begin(start), Some(start + 2 + PAUSE), "the clock was set back");
    }
}
