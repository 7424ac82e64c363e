//! Paused time and ignored projects are never stored.

use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::{NoteScope, PauseReason, Statement};

use super::{Scene, project, stated};
use crate::support::START;

#[test]
fn nothing_is_kept_while_memory_is_paused() {
    let scene = Scene::new();
    let memory = scene.memory();
    assert_eq!(memory.pause_reason(&NoteScope::Universal).unwrap(), None);
    memory.pause(None).unwrap();
    assert_eq!(
        memory.pause_reason(&NoteScope::Universal).unwrap(),
        Some(PauseReason::Paused(None))
    );
    let error = memory.record(&stated("use tabs", None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("recoup resume"), "{error}");
    assert!(memory.resume().unwrap());
    assert!(!memory.resume().unwrap(), "once is enough");
    memory.record(&stated("use tabs", None)).unwrap();
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn a_pause_ends_by_itself_when_that_was_said() {
    let scene = Scene::new();
    let memory = scene.memory();
    memory.pause(Some(START.plus_millis(1_000))).unwrap();
    assert!(memory.record(&stated("use tabs", None)).is_err());
    scene.clock.advance(Duration::from_secs(1));
    memory.record(&stated("use tabs", None)).unwrap();
}

#[test]
fn an_ignored_project_is_silent_and_others_are_not() {
    let scene = Scene::new();
    let memory = scene.memory();
    memory.ignore(&project('a')).unwrap();
    let here = |letter| Statement { scope: project(letter), ..stated("use tabs", None) };
    assert!(memory.record(&here('a')).is_err());
    memory.record(&here('b')).unwrap();
    assert!(memory.unignore(&project('a')).unwrap());
    memory.record(&here('a')).unwrap();
}

#[test]
fn it_is_known_afterwards_when_nothing_was_to_be_kept() {
    let scene = Scene::new();
    let memory = scene.memory();
    let was_silent = |seconds: i64| {
        let then = Timestamp::from_millis(START.as_millis() + seconds * 1_000);
        (
            memory.was_paused(&project('a'), then).unwrap(),
            memory.was_paused(&project('b'), then).unwrap(),
        )
    };
    let pass = || scene.clock.advance(Duration::from_secs(10));
    pass();
    memory.pause(None).unwrap();
    pass();
    memory.resume().unwrap();
    pass();
    memory.ignore(&project('a')).unwrap();
    pass();
    memory.unignore(&project('a')).unwrap();
    pass();
    memory.pause(Some(Timestamp::from_millis(START.as_millis() + 60_000))).unwrap();
    let expected = [
        (5, (false, false)),
        (15, (true, true)),
        (25, (false, false)),
        (35, (true, false)),
        (45, (false, false)),
        (55, (true, true)),
        (65, (false, false)),
    ];
    for (seconds, silent) in expected {
        assert_eq!(was_silent(seconds), silent, "after {seconds} s");
    }
}
