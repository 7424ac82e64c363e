//! Waiting for a winner's result.

use std::time::Duration;

use super::{SessionStore, WinnerAnswer};
use crate::base::clock::Deadline;
use crate::base::name::SafeName;
use crate::error::{ErrorKind, Result};

/// Longer than any caller waits.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Returns as soon as both winner and result are there; `None` when the time is up. A server that
/// becomes unavailable may come back in time; one that never answered is an error at once.
pub(super) fn poll(
    sessions: &dyn SessionStore,
    session: &SafeName,
    within: Duration,
) -> Result<Option<WinnerAnswer>> {
    let deadline = Deadline::after(within.min(LONGEST));
    let mut watch = sessions.watch(session);
    let mut answered = false;
    loop {
        watch.arm();
        // Before the look-up, so that the last one is not before the deadline.
        let last = deadline.has_passed();
        let fault = match sessions.answer(session) {
            Ok(Some(answer)) if answer.result.is_some() => return Ok(Some(answer)),
            Ok(_) => None,
            Err(error) if answered && error.kind() == ErrorKind::Unavailable => Some(error),
            Err(error) => return Err(error),
        };
        answered = true;
        if last {
            return fault.map_or(Ok(None), Err);
        }
        watch.wait(deadline.remaining());
    }
}
