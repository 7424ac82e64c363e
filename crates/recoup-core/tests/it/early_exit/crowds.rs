//! Many at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use recoup_core::early_exit::ElectionOutcome;

use super::places::{Place, answer, signal};

const MANY: usize = 16;
const ROUNDS: usize = 30;

/// All signal at once; says who has won.
fn rush<P: Place>(place: &P, session: &str) -> String {
    let (start, winners) = (Barrier::new(MANY), AtomicUsize::new(0));
    thread::scope(|scope| {
        for n in 0..MANY {
            let (start, winners) = (&start, &winners);
            scope.spawn(move || {
                let (sessions, agent) = (place.open(), format!("agent-{n}"));
                start.wait();
                let elected = signal(&sessions, session, &agent, None, Some(&agent));
                // Whoever has lost knows to whom, and finds the same.
                let (winner, result) = answer(&sessions, session).unwrap();
                assert_eq!(result.as_deref(), Some(winner.as_str()));
                match elected {
                    ElectionOutcome::Won => {
                        winners.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(winner, agent);
                    }
                    ElectionOutcome::Lost(to) => assert_eq!(winner, to.as_str()),
                }
            });
        }
    });
    assert_eq!(winners.into_inner(), 1);
    answer(&place.open(), session).unwrap().0
}

pub(super) fn of_many_one_wins<P: Place>() {
    let place = P::new();
    for round in 0..ROUNDS {
        rush(&place, &format!("s{round}"));
    }
}

pub(super) fn whenever_somebody_looks_a_winner_has_its_name_and_result<P: Place>() {
    let place = P::new();
    for round in 0..ROUNDS {
        let (session, over) = (format!("s{round}"), AtomicBool::new(false));
        thread::scope(|scope| {
            let looking = scope.spawn(|| {
                let (sessions, mut seen) = (place.open(), 0);
                while !over.load(Ordering::SeqCst) {
                    match answer(&sessions, &session) {
                        Some((agent, result)) => {
                            assert_eq!(result, Some(agent));
                            seen += 1;
                        }
                        None => assert_eq!(seen, 0, "a winner does not go away"),
                    }
                }
            });
            rush(&place, &session);
            over.store(true, Ordering::SeqCst);
            looking.join().unwrap();
        });
    }
}

pub(super) fn an_expired_lease_has_one_successor<P: Place>() {
    let place = P::new();
    for round in 0..ROUNDS {
        let session = format!("s{round}");
        signal(&place.open(), &session, "dead", Some(1), None);
        thread::sleep(Duration::from_millis(5));
        assert_ne!(rush(&place, &session), "dead");
    }
}
