//! Single-flight: of all callers that miss the same entry one works, and the others wait for its
//! result. [`Cache::lookup_or_compute`] looks up, computes on a miss and stores, in one call.
//!
//! ```text
//! miss ──► claim it ──► look again ──► work, with a permit
//!   ▲        └─ somebody has it: pause, look again ──► served
//!   └───────────┘                  until `CacheOptions::wait` is over: work all the same
//! ```
//! If a leader fails or dies, its claim becomes free and one of the waiting callers takes over.
//! Claims only save work: if claiming fails, the caller works without one.

use std::time::Duration;
use std::{fmt, thread};

use super::lookup::{LookupRequest, MissReason, Outcome, PeekOutcome};
use super::permit::{FillOutcome, Permit};
use super::{Cache, CacheMode, Ttl};
use crate::base::clock::Deadline;
use crate::entry::{Body, Draft, Entry};
use crate::error::{Error, Result};
use crate::store::Claim;

/// The first pause of a waiting caller.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// Delay before a caller is told that it waits.
const LONG: Duration = Duration::from_secs(2);
/// Upper bound of every wait, regardless of the options.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// A result and its origin.
#[derive(Debug)]
pub struct ComputedResult {
    /// The result itself.
    pub body: Body,
    /// Origin of the result.
    pub how: ResultOrigin,
}

/// Origin of a result.
#[derive(Debug)]
pub enum ResultOrigin {
    /// Served from the cache, or another caller computed it meanwhile.
    Hit,
    /// Served past its TTL and within its grace period. Another caller refreshes it, or this one
    /// tried and failed with this error.
    Stale(Option<Error>),
    /// Computed by this caller. A store error does not affect the result.
    Computed(Result<FillOutcome>),
    /// Computed by this caller and not stored, for this reason.
    Bypassed(MissReason),
}

impl Cache {
    /// Returns the requested entry or, if there is none, the result of `compute`, which also
    /// returns the TTL (`Ttl::Off` for results that must not be stored).
    ///
    /// Of all concurrent callers one computes and the others wait for its result. If it fails or
    /// panics, another takes over. A stale entry is served at once to all callers but the one that
    /// computes, and to that one if it fails.
    ///
    /// A miss with [`CacheMode::OnlyIfCached`] is a usage error. To tell it from other errors, use
    /// [`Cache::lookup`].
    ///
    /// ```
    /// use recoup_core::cache::ResultOrigin;
    /// use recoup_core::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// # std::fs::write(dir.path().join("notes.md"), "one")?;
    /// # let cache = Cache::open(&format!("sqlite:{}/answers.db", dir.path().display()))?;
    /// let paths = PathContext::at(dir.path());
    /// let id = EntryId::new(Scope::global(), Key::of(["summary of notes.md"]));
    /// let sources = ["notes.md".to_owned()];
    /// let request = LookupRequest::new(Kind::Result, &id, &paths).with_sources(&sources);
    /// let summarize = || Ok((Draft::new(Kind::Result, "…"), Ttl::days(7))); // the expensive part
    ///
    /// let first = cache.lookup_or_compute(&request, summarize)?;
    /// assert!(matches!(first.how, ResultOrigin::Computed(_)));
    /// let again = cache.lookup_or_compute(&request, summarize)?;
    /// assert!(matches!(again.how, ResultOrigin::Hit));
    ///
    /// std::fs::write(dir.path().join("notes.md"), "one and two")?;
    /// let changed = cache.lookup_or_compute(&request, summarize)?;
    /// assert!(matches!(changed.how, ResultOrigin::Computed(_)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup_or_compute(
        &self,
        request: &LookupRequest<'_>,
        compute: impl FnOnce() -> Result<(Draft, Ttl)>,
    ) -> Result<ComputedResult> {
        let served = |entry: &Entry, how| ComputedResult { body: entry.body().clone(), how };
        match self.lookup(request)? {
            Outcome::Hit(entry) => Ok(served(&entry, ResultOrigin::Hit)),
            Outcome::Stale(entry, None) => Ok(served(&entry, ResultOrigin::Stale(None))),
            Outcome::Stale(entry, Some(permit)) => compute_and_fill(permit, compute)
                .or_else(|error| Ok(served(&entry, ResultOrigin::Stale(Some(error))))),
            Outcome::Miss(permit, _) => compute_and_fill(permit, compute),
            Outcome::Bypass(reason) if request.mode == CacheMode::OnlyIfCached => {
                Err(Error::usage(format!("only a cached result was requested, but {reason}")))
            }
            Outcome::Bypass(reason) => {
                let (draft, _) = compute()?;
                Ok(ComputedResult { body: draft.body, how: ResultOrigin::Bypassed(reason) })
            }
        }
    }
}

/// On an error or a panic the permit is dropped, and with it the claim.
fn compute_and_fill(
    permit: Permit,
    compute: impl FnOnce() -> Result<(Draft, Ttl)>,
) -> Result<ComputedResult> {
    let (draft, ttl) = match compute() {
        Ok(made) => made,
        Err(error) => {
            permit.release();
            return Err(error);
        }
    };
    let body = draft.body.clone();
    Ok(ComputedResult { body, how: ResultOrigin::Computed(permit.fill(draft, ttl)) })
}

/// How a caller waits while another one computes the same entry.
#[derive(Clone, Copy, Default)]
pub struct WaitPolicy<'a> {
    /// Maximum wait; [`CacheOptions::wait`](super::CacheOptions::wait) if `None`.
    pub wait: Option<Duration>,
    /// Maximum number of successive leaders to wait for; `None` for all. If leaders produce results
    /// that are not stored, waiting for each in turn is pointless.
    pub leaders: Option<u32>,
    /// Called once, when the wait becomes a long one.
    pub on_long_wait: Option<&'a (dyn Fn() + Sync)>,
}

impl fmt::Debug for WaitPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wait, leaders, on_long_wait } = self;
        let on_long_wait = on_long_wait.is_some();
        f.debug_struct("WaitPolicy")
            .field("wait", wait)
            .field("leaders", leaders)
            .field("on_long_wait", &on_long_wait)
            .finish()
    }
}

/// State of a waiting caller.
struct ClaimWaiter<'a> {
    wait_policy: WaitPolicy<'a>,
    until: Deadline,
    /// When to call `on_long_wait`.
    telling: Option<Deadline>,
    /// The current leader, and the number of leaders so far.
    leader: Option<u64>,
    leaders: u32,
}

impl<'a> ClaimWaiter<'a> {
    fn new(wait_policy: WaitPolicy<'a>, usual: Duration) -> Self {
        let until = Deadline::after(wait_policy.wait.unwrap_or(usual).min(LONGEST_WAIT));
        let telling = wait_policy.on_long_wait.map(|_| Deadline::after(LONG));
        Self { wait_policy, until, telling, leader: None, leaders: 0 }
    }

    /// True if the caller has waited for long enough, or for enough leaders.
    fn should_stop_waiting(&mut self, holder: impl FnOnce() -> Option<u64>) -> bool {
        let Some(most) = self.wait_policy.leaders else { return self.until.has_passed() };
        if let Some(holder) = holder().filter(|holder| self.leader != Some(*holder)) {
            (self.leader, self.leaders) = (Some(holder), self.leaders + 1);
        }
        self.leaders > most || self.until.has_passed()
    }

    fn pause(&mut self, pause: Duration) {
        if self.telling.is_some_and(Deadline::has_passed) {
            self.telling = None;
            if let Some(call) = self.wait_policy.on_long_wait {
                call();
            }
        }
        // Spreads the retries of waiting callers.
        let jittered = pause.mul_f64(0.5 + fastrand::f64() / 2.0);
        thread::sleep(jittered.min(self.until.remaining()));
    }
}

/// The right to work: with the claim, or without one if none could be taken.
#[derive(Debug)]
pub(super) struct WorkGrant(pub(super) Option<Claim>);

impl Cache {
    /// Waits until the entry is served or this caller is to work. `first` is the result of the
    /// first look-up, which was not a hit.
    pub(super) fn wait_or_claim(
        &self,
        request: &LookupRequest<'_>,
        first: PeekOutcome,
    ) -> (PeekOutcome, Option<WorkGrant>) {
        let asked = self.clock().now();
        let mut waiter = ClaimWaiter::new(request.wait_policy, self.inner.options.wait);
        let (mut found, mut pause) = (first, FIRST_PAUSE);
        loop {
            match self.try_grant_work(request, &found, &mut waiter) {
                Some(WorkGrant(Some(claim))) => {
                    // The previous holder of the claim may have filled the entry since the last look.
                    let found = self.peek_as_of(request, Some(asked));
                    if let PeekOutcome::Hit(_) = found {
                        claim.release();
                        return (found, None);
                    }
                    return (found, Some(WorkGrant(Some(claim))));
                }
                Some(without_claim) => return (found, Some(without_claim)),
                None => {}
            }
            if let PeekOutcome::Hit(_) | PeekOutcome::Stale(_) = found {
                return (found, None);
            }
            waiter.pause(pause);
            pause = (pause * 2).min(self.claims().longest_pause());
            found = self.peek_as_of(request, Some(asked));
        }
    }

    /// One look and one try to claim; `None` while another caller works on the entry.
    pub(super) fn try_claim_once(
        &self,
        request: &LookupRequest<'_>,
    ) -> Option<(PeekOutcome, Option<WorkGrant>)> {
        let found = self.peek(request);
        if let PeekOutcome::Hit(_) = found {
            return Some((found, None));
        }
        if let PeekOutcome::Miss(MissReason::Unavailable(_)) = found {
            return Some((found, Some(WorkGrant(None))));
        }
        match self.claims().try_claim(request.id) {
            Ok(Some(claim)) => {
                // The previous holder of the claim may have filled the entry since the look.
                let found = self.peek(request);
                if let PeekOutcome::Hit(_) = found {
                    claim.release();
                    return Some((found, None));
                }
                Some((found, Some(WorkGrant(Some(claim)))))
            }
            Ok(None) if matches!(found, PeekOutcome::Stale(_)) => Some((found, None)),
            Ok(None) => None,
            Err(_) => Some((found, Some(WorkGrant(None)))),
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
}
