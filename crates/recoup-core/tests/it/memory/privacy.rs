//! Paused time and ignored projects are never stored.

use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::memory::{NoteScope, Silence, Statement};

use super::{Scene, project, stated};

#[test]
fn nothing_is_kept_while_memory_is_paused() {
    let scene = Scene::new();
    let memory = scene.memory();
    assert_eq!(memory.silence(&NoteScope::Universal).unwrap(), None);
    memory.pause(None).unwrap();
    assert_eq!(memory.silence(&NoteScope::Universal).unwrap(), Some(Silence::Paused(None)));
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
    memory.pause(Some(super::START.plus_millis(1_000))).unwrap();
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
    assert!(memory.heed(&project('a')).unwrap());
    memory.record(&here('a')).unwrap();
}
