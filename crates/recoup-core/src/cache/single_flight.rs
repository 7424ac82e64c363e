//! Single-flight: of all callers that miss the same entry one works, and the others wait for its
//! result.
//!
//! ```text
//! miss ──► claim it ──► look again ──► work, with a permit
//!   ▲        └─ somebody has it: pause, look again ──► served
//!   └───────────┘                  until `Options::wait` is over: work all the same
//! ```
//! If a leader fails or dies, its claim becomes free and one of the waiting callers takes over.
//! Claims only save work: if claiming fails, the caller works without one.

use std::fmt;
use std::thread;
use std::time::Duration;

use super::Cache;
use super::lookup::LookupRequest;
use super::outcome::{MissReason, PeekOutcome};
use super::permit::Permit;
use crate::base::clock::{Deadline, Timestamp};
use crate::error::Result;
use crate::store::Claim;

/// The first pause of a waiting caller.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// Delay before a caller is told that it waits.
const LONG: Duration = Duration::from_secs(2);
/// Upper bound of every wait, regardless of the options.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// How a caller waits while another one computes the same entry.
#[derive(Clone, Copy, Default)]
pub struct WaitPolicy<'a> {
    /// Maximum wait; [`CacheOptions::wait`](super::CacheOptions::wait) if `None`.
    pub wait: Option<Duration>,
    /// Maximum number of successive leaders to wait for; `None` for all. If leaders produce results
    /// that are not stored, waiting for each in turn is pointless.
    pub leaders: Option<u32>,
    /// Called once, when the wait becomes a long one.
    pub told: Option<&'a (dyn Fn() + Sync)>,
}

impl fmt::Debug for WaitPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wait, leaders, told } = self;
        let told = told.is_some();
        f.debug_struct("WaitPolicy")
            .field("wait", wait)
            .field("leaders", leaders)
            .field("told", &told)
            .finish()
    }
}

/// State of a waiting caller.
struct ClaimWaiter<'a> {
    patience: WaitPolicy<'a>,
    until: Deadline,
    /// When to call `told`.
    telling: Option<Deadline>,
    /// The current leader, and the number of leaders so far.
    leader: Option<u64>,
    leaders: u32,
}

impl<'a> ClaimWaiter<'a> {
    fn new(patience: WaitPolicy<'a>, usual: Duration) -> Self {
        let until = Deadline::after(patience.wait.unwrap_or(usual).min(LONGEST_WAIT));
        let telling = patience.told.map(|_| Deadline::after(LONG));
        Self { patience, until, telling, leader: None, leaders: 0 }
    }

    /// True if the caller has waited for long enough, or for enough leaders.
    fn should_stop_waiting(&mut self, holder: impl FnOnce() -> Option<u64>) -> bool {
        let Some(most) = self.patience.leaders else { return self.until.has_passed() };
        if let Some(holder) = holder().filter(|holder| self.leader != Some(*holder)) {
            (self.leader, self.leaders) = (Some(holder), self.leaders + 1);
        }
        self.leaders > most || self.until.has_passed()
    }

    fn pause(&mut self, pause: Duration) {
        if self.telling.is_some_and(Deadline::has_passed) {
            self.telling = None;
            if let Some(told) = self.patience.told {
                told();
            }
        }
        thread::sleep(jittered(pause).min(self.until.remaining()));
    }
}

/// The right to work: with the claim, or without one if none could be taken.
#[derive(Debug)]
pub(super) struct WorkGrant(Option<Claim>);

impl Cache {
    /// Waits until the entry is served or this caller is to work. `first` is the result of the
    /// first look-up, which was not a hit.
    pub(super) fn wait_or_claim(
        &self,
        request: &LookupRequest<'_>,
        first: PeekOutcome,
    ) -> (PeekOutcome, Option<WorkGrant>) {
        let asked = self.clock().now();
        let mut waiter = ClaimWaiter::new(request.patience, self.inner.options.wait);
        let (mut found, mut pause) = (first, FIRST_PAUSE);
        loop {
            if let Some(turn) = self.try_grant_work(request, &found, &mut waiter) {
                return self.recheck_after_claim(request, found, turn, asked);
            }
            if let PeekOutcome::Hit(_) | PeekOutcome::Stale(_) = found {
                return (found, None);
            }
            waiter.pause(pause);
            pause = (pause * 2).min(self.claims().longest_pause());
            found = self.peek_as_of(request, Some(asked));
        }
    }

    /// The right to work, if it can be had now.
    fn try_grant_work(
        &self,
        request: &LookupRequest<'_>,
        found: &PeekOutcome,
        waiter: &mut ClaimWaiter<'_>,
    ) -> Option<WorkGrant> {
        match found {
            PeekOutcome::Hit(_) => return None,
            // The result of another caller could not be read, so there is nothing to wait for.
            PeekOutcome::Miss(MissReason::Unavailable(_)) => return Some(WorkGrant(None)),
            PeekOutcome::Miss(_) | PeekOutcome::Stale(_) => {}
        }
        match self.claims().try_claim(request.id) {
            Ok(Some(claim)) => Some(WorkGrant(Some(claim))),
            Ok(None) if matches!(found, PeekOutcome::Stale(_)) => None,
            Ok(None) if !waiter.should_stop_waiting(|| self.claims().holder(request.id)) => None,
            Ok(None) | Err(_) => Some(WorkGrant(None)),
        }
    }

    /// Looks again: the previous holder of the claim may have filled the entry since the last
    /// look-up.
    fn recheck_after_claim(
        &self,
        request: &LookupRequest<'_>,
        found: PeekOutcome,
        turn: WorkGrant,
        asked: Timestamp,
    ) -> (PeekOutcome, Option<WorkGrant>) {
        let WorkGrant(Some(claim)) = turn else { return (found, Some(turn)) };
        match self.peek_as_of(request, Some(asked)) {
            hit @ PeekOutcome::Hit(_) => {
                claim.release();
                (hit, None)
            }
            found => (found, Some(WorkGrant(Some(claim)))),
        }
    }

    /// The right to work in any case, with the claim if it is free.
    pub(super) fn grant_without_waiting(&self, request: &LookupRequest<'_>) -> WorkGrant {
        WorkGrant(self.claims().try_claim(request.id).ok().flatten())
    }

    /// The permit for the work. Its sources are captured after any waiting and before the work.
    pub(super) fn permit_for(
        &self,
        request: &LookupRequest<'_>,
        turn: WorkGrant,
    ) -> Result<Permit> {
        let permit = self.permit(request.id, request.view, request.sources)?;
        Ok(permit.with_claim(turn.0))
    }
}

/// Spreads the retries of waiting callers.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + fastrand::f64() / 2.0)
}
