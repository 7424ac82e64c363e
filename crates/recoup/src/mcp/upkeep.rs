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
        let now = SystemClock.now().as_millis();
        let last = self.looked.swap(now, Ordering::Relaxed);
        if (0..PAUSE).contains(&(now - last)) {
            self.looked.store(last, Ordering::Relaxed);
            return;
        }
        let desk = desk.clone();
        spawn_blocking(move || desk.surroundings()?.memory().settle_daily().map(drop));
    }
}
