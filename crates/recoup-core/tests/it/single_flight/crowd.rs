//! Many at once. Run for each store.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use recoup_core::cache::{Cache, ComputedResult, FillOutcome, ResultOrigin};
use recoup_core::entry::Draft;
use recoup_core::{Error, ErrorKind, Result};

use super::meetings::Meeting;
use super::{compute, made, text, until};

/// What callers see of each other.
#[derive(Debug, Default)]
struct Crowd {
    entered: AtomicUsize,
    working: AtomicUsize,
    worked: AtomicUsize,
}

impl Crowd {
    /// Each works only when all have asked, and never beside another.
    fn work(&self, all: usize, fails: usize) -> Result<(Draft, recoup_core::cache::Ttl)> {
        assert_eq!(self.working.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
        until("all have asked", || self.entered.load(Ordering::SeqCst) == all);
        let turn = self.worked.fetch_add(1, Ordering::SeqCst);
        self.working.fetch_sub(1, Ordering::SeqCst);
        if turn < fails {
            return Err(Error::new(ErrorKind::Invalid, format!("failure {turn}")));
        }
        Ok(made("answer"))
    }
}

/// So many callers, spread over the caches of several.
fn run<M: Meeting>(callers: usize, fails: usize) -> (Vec<Result<ComputedResult>>, usize) {
    let (meeting, crowd) = (M::fresh(), Crowd::default());
    let caches: Vec<Cache> = (0..4).map(|_| meeting.cache()).collect();
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for n in 0..callers {
            let (cache, crowd, results) = (&caches[n % caches.len()], &crowd, &results);
            scope.spawn(move || {
                crowd.entered.fetch_add(1, Ordering::SeqCst);
                let result = compute(cache, "key", || crowd.work(callers, fails));
                results.lock().unwrap().push(result);
            });
        }
    });
    (results.into_inner().unwrap(), crowd.worked.into_inner())
}

fn count(
    results: &[Result<ComputedResult>],
    of: impl Fn(&Result<ComputedResult>) -> bool,
) -> usize {
    results.iter().filter(|result| of(result)).count()
}

fn was_hit(result: &Result<ComputedResult>) -> bool {
    matches!(result, Ok(ComputedResult { how: ResultOrigin::Hit, .. }))
}

fn was_stored(result: &Result<ComputedResult>) -> bool {
    matches!(
        result,
        Ok(ComputedResult { how: ResultOrigin::Computed(Ok(FillOutcome::Stored(_))), .. })
    )
}

pub(super) fn a_hundred_callers_cost_one_computation<M: Meeting>() {
    let (results, computations) = run::<M>(100, 0);
    assert_eq!(computations, 1);
    assert_eq!((count(&results, was_stored), count(&results, was_hit)), (1, 99), "{results:?}");
    assert!(results.iter().flatten().all(|computed| text(&computed.body) == "answer"));
}

pub(super) fn leaders_that_fail_hand_over_one_at_a_time<M: Meeting>() {
    let (results, computations) = run::<M>(10, 3);
    assert_eq!(computations, 4);
    let failed = count(&results, Result::is_err);
    assert_eq!((failed, count(&results, was_stored), count(&results, was_hit)), (3, 1, 6));
}
