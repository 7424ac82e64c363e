//! Sessions are forgotten some time after the last that happened in them.

use std::thread;
use std::time::{Duration, Instant};

use recoup_core::early_exit::ElectionOutcome;

use super::places::{Place, answer, name, signal, won};

pub(super) fn what_nobody_uses_is_forgotten<P: Place>() {
    let sessions = P::new().kept_for(Duration::from_millis(300));
    signal(&sessions, "s", "a", None, Some("1"));
    thread::sleep(Duration::from_millis(400));
    assert_eq!(answer(&sessions, "s"), None);
    assert_eq!(sessions.status(&name("s")).unwrap(), None);
    assert_eq!(sessions.list().unwrap(), []);
    // The same name is another session: nothing of the old one is left in it.
    assert_eq!(signal(&sessions, "s", "b", None, None), ElectionOutcome::Won);
    assert_eq!(sessions.status(&name("s")).unwrap().unwrap().results, []);
}

pub(super) fn whoever_does_something_keeps_it_alive<P: Place>() {
    let sessions = P::new().kept_for(Duration::from_secs(2));
    let begun = Instant::now();
    signal(&sessions, "s", "a", None, Some("1"));
    while begun.elapsed() < Duration::from_millis(2_500) {
        thread::sleep(Duration::from_millis(100));
        sessions.register(&name("s"), &name("b")).unwrap();
        sessions.write_result(&name("s"), &name("b"), b"2").unwrap();
    }
    assert_eq!(answer(&sessions, "s"), won("a", Some("1")));
}
