//! A winner that has no result yet, and may never have one.

use std::thread;
use std::time::Duration;

use recoup_core::early_exit::ElectionOutcome;

use super::places::{Place, answer, lost, name, signal, won};

/// Long enough to look at what is before its end, on a loaded machine too.
const LEASE: u64 = 1_000;

fn wait_for_its_end() {
    thread::sleep(Duration::from_millis(LEASE + 50));
}

pub(super) fn a_winner_without_a_result_makes_room_after_its_lease<P: Place>() {
    let sessions = P::new().open();
    assert_eq!(signal(&sessions, "s", "dead", Some(LEASE), None), ElectionOutcome::Won);
    assert_eq!(signal(&sessions, "s", "next", None, Some("1")), lost("dead"));
    assert_eq!(answer(&sessions, "s"), won("dead", None));
    wait_for_its_end();
    assert_eq!(answer(&sessions, "s"), None);
    assert_eq!(sessions.winner(&name("s")).unwrap(), None);
    assert_eq!(sessions.status(&name("s")).unwrap().unwrap().winner, None);
    assert_eq!(signal(&sessions, "s", "next", None, Some("1")), ElectionOutcome::Won);
    assert_eq!(answer(&sessions, "s"), won("next", Some("1")));
}

pub(super) fn a_result_in_time_ends_the_lease<P: Place>() {
    let sessions = P::new().open();
    signal(&sessions, "s", "a", Some(LEASE), None);
    sessions.write_result(&name("s"), &name("a"), b"1").unwrap();
    wait_for_its_end();
    assert_eq!(answer(&sessions, "s"), won("a", Some("1")));
    assert_eq!(signal(&sessions, "s", "b", None, None), lost("a"));
}

pub(super) fn a_late_result_counts_while_nobody_took_the_place<P: Place>() {
    let sessions = P::new().open();
    signal(&sessions, "s", "a", Some(1), None);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(answer(&sessions, "s"), None);
    sessions.write_result(&name("s"), &name("a"), b"late").unwrap();
    assert_eq!(answer(&sessions, "s"), won("a", Some("late")));
}

pub(super) fn a_late_result_is_not_the_new_winners<P: Place>() {
    let sessions = P::new().open();
    signal(&sessions, "s", "old", Some(1), None);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(signal(&sessions, "s", "new", None, None), ElectionOutcome::Won);
    let winner = sessions.write_result(&name("s"), &name("old"), b"late").unwrap();
    assert_eq!(winner, Some(name("new")));
    assert_eq!(answer(&sessions, "s"), won("new", None));
    sessions.write_result(&name("s"), &name("new"), b"right").unwrap();
    assert_eq!(answer(&sessions, "s"), won("new", Some("right")));
}

pub(super) fn without_a_lease_a_winner_stays<P: Place>() {
    let sessions = P::new().open();
    signal(&sessions, "s", "a", None, None);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(signal(&sessions, "s", "b", None, None), lost("a"));
}
