//! Single-flight: of all who miss the same entry one works, and the others wait
//! for its answer.
//!
//! ```text
//! miss ──► claim it ──► look again ──► work, with a permit
//!   ▲        └─ somebody has it: pause, look again ──► served
//!   └───────────┘                  until `Options::wait` is over: work all the same
//! ```
//! A leader that fails or dies leaves a free claim, and one of those who wait
//! takes over. Claims only save work: whatever is wrong with them, the caller
//! works.

use std::thread;
use std::time::Duration;

use super::Cache;
use super::lookup::Request;
use super::outcome::{Peek, Reason};
use super::permit::Permit;
use crate::base::clock::{Deadline, Timestamp};
use crate::error::Result;
use crate::store::Claim;

/// The first pause of a waiter.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// Nobody waits for ever, whatever the options say.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// The right to work: with the claim, or alone where there is none to be had.
#[derive(Debug)]
pub(super) struct Turn(Option<Claim>);

impl Cache {
    /// What a look-up comes to that first found this, which is no hit, and whether
    /// this caller is to work.
    pub(super) fn settle(&self, request: &Request<'_>, first: Peek) -> (Peek, Option<Turn>) {
        let asked = self.clock().now();
        let deadline = Deadline::after(self.inner.options.wait.min(LONGEST_WAIT));
        let (mut found, mut pause) = (first, FIRST_PAUSE);
        loop {
            if let Some(turn) = self.turn_for(request, &found, deadline) {
                return self.start(request, found, turn, asked);
            }
            if let Peek::Hit(_) | Peek::Stale(_) = found {
                return (found, None);
            }
            thread::sleep(jittered(pause).min(deadline.remaining()));
            pause = (pause * 2).min(self.claims().longest_pause());
            found = self.peek_as_of(request, Some(asked));
        }
    }

    /// The right to work, if it can be had now.
    fn turn_for(&self, request: &Request<'_>, found: &Peek, deadline: Deadline) -> Option<Turn> {
        match found {
            Peek::Hit(_) => return None,
            // What another makes could not be seen, so there is nothing to wait for.
            Peek::Miss(Reason::Unavailable(_)) => return Some(Turn(None)),
            Peek::Miss(_) | Peek::Stale(_) => {}
        }
        match self.claims().try_claim(request.id) {
            Ok(Some(claim)) => Some(Turn(Some(claim))),
            Ok(None) if matches!(found, Peek::Stale(_)) || !deadline.passed() => None,
            Ok(None) | Err(_) => Some(Turn(None)),
        }
    }

    /// Whoever had the claim before may have filled the entry since it was looked for.
    fn start(
        &self,
        request: &Request<'_>,
        found: Peek,
        turn: Turn,
        asked: Timestamp,
    ) -> (Peek, Option<Turn>) {
        let Turn(Some(claim)) = turn else { return (found, Some(turn)) };
        match self.peek_as_of(request, Some(asked)) {
            hit @ Peek::Hit(_) => {
                claim.release();
                (hit, None)
            }
            found => (found, Some(Turn(Some(claim)))),
        }
    }

    /// The right to work in any case, with the claim if it is free.
    pub(super) fn turn_at_once(&self, request: &Request<'_>) -> Turn {
        Turn(self.claims().try_claim(request.id).ok().flatten())
    }

    /// The permit of whoever works. Its sources are taken now: after any waiting,
    /// and before the work.
    pub(super) fn permit_for(&self, request: &Request<'_>, turn: Turn) -> Result<Permit> {
        let permit = self.permit(request.id, request.view, request.sources)?;
        Ok(permit.with_claim(turn.0))
    }
}

/// So that those who wait do not all come at once.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + fastrand::f64() / 2.0)
}
