//! Waiting for a winner's result.

use std::thread;
use std::time::{Duration, Instant};

use super::places::{Place, name, signal};

const LONG: Duration = Duration::from_secs(30);

pub(super) fn it_returns_as_soon_as_the_result_is_there<P: Place>() {
    let place = P::new();
    let sessions = place.open();
    signal(&sessions, "s", "a", None, None);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let found = place.open().poll(&name("s"), LONG).unwrap().unwrap();
            (found, Instant::now())
        });
        thread::sleep(Duration::from_millis(300));
        assert!(!waiting.is_finished());
        let written = Instant::now();
        sessions.write_result(&name("s"), &name("a"), b"1").unwrap();
        let (found, at) = waiting.join().unwrap();
        assert_eq!((found.agent, found.result), (name("a"), Some(b"1".to_vec())));
        // Not the next look of somebody who looks each half second.
        assert!(at - written < Duration::from_millis(400), "{:?}", at - written);
    });
    let begun = Instant::now();
    sessions.poll(&name("s"), LONG).unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_millis(400));
}

pub(super) fn it_waits_for_a_session_that_does_not_exist_yet<P: Place>() {
    let place = P::new();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| place.open().poll(&name("s"), LONG).unwrap().unwrap());
        thread::sleep(Duration::from_millis(100));
        signal(&place.open(), "s", "a", Some(50), None);
        thread::sleep(Duration::from_millis(100));
        signal(&place.open(), "s", "b", None, Some("1"));
        assert_eq!(waiting.join().unwrap().agent, name("b"));
    });
}

pub(super) fn its_time_is_exact<P: Place>() {
    let sessions = P::new().open();
    signal(&sessions, "s", "a", None, None);
    for millis in [0, 1, 350] {
        let (begun, time) = (Instant::now(), Duration::from_millis(millis));
        assert_eq!(sessions.poll(&name("s"), time).unwrap(), None);
        assert!(begun.elapsed() >= time);
        assert!(begun.elapsed() < time + Duration::from_millis(300), "{:?}", begun.elapsed());
    }
}
