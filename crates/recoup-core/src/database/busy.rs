//! Waiting for other processes. SQLite's own time-out sleeps in ever longer steps, which starves
//! the unlucky; short random steps until a deadline are fairer.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use crate::base::clock::Deadline;

thread_local! {
    /// SQLite calls the handler on the thread that waits, without a context.
    static WAIT_DEADLINE: Cell<Option<Deadline>> = const { Cell::new(None) };
}

/// Runs `act`, in which SQLite may wait for at most `wait`.
pub(crate) fn with_wait_limit<T>(wait: Duration, act: impl FnOnce() -> T) -> T {
    let before = WAIT_DEADLINE.replace(Some(Deadline::after(wait)));
    let done = act();
    WAIT_DEADLINE.set(before);
    done
}

/// Busy handler of SQLite: sleeps a little, and returns true to try again.
pub(super) fn busy_handler(tries: i32) -> bool {
    let remaining = WAIT_DEADLINE.get().map_or(Duration::ZERO, Deadline::remaining);
    if remaining.is_zero() {
        return false;
    }
    let longest = 200 * u64::from(tries.clamp(1, 50).unsigned_abs());
    thread::sleep(Duration::from_micros(fastrand::u64(50..=longest)).min(remaining));
    true
}
