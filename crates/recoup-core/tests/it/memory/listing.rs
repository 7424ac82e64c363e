//! Lists of very many notes: a page of them, a count, and all of them.

use recoup_core::memory::{NoteFilter, NoteImportReport, NoteScope, NoteStatus};

use super::{Scene, active, project};

fn filled(count: usize) -> Scene {
    let scene = Scene::new();
    let memory = scene.memory();
    let note = |n: usize| {
        let mut note = active(&format!("keep `tool-{n}` at version {n}"));
        note.topic = None;
        note.updated = note.updated.plus_millis(n as u64);
        note
    };
    let notes: Vec<_> = (0..count).map(note).collect();
    assert_eq!(memory.import(&notes).unwrap(), NoteImportReport { added: count, known: 0 });
    assert_eq!(memory.import(&notes).unwrap(), NoteImportReport { added: 0, known: count });
    scene
}

#[test]
fn the_latest_come_first_and_no_more_than_asked_for() {
    let scene = filled(2_500);
    let memory = scene.memory();
    let wanted = NoteFilter::active_in(&project('a'));
    assert_eq!(memory.count_notes(&wanted).unwrap(), 2_500);
    let all = memory.notes(&wanted).unwrap();
    for (most, shown) in [(50, 50), (1_001, 1_001), (usize::MAX, 2_500), (0, 0)] {
        assert!(memory.latest_notes(&wanted, most).unwrap() == all[..shown], "{most}");
    }
    let others = NoteFilter { statuses: vec![NoteStatus::Retired], ..wanted.clone() };
    assert_eq!(memory.count_notes(&others).unwrap(), 0);
    let universal = NoteFilter { scopes: vec![NoteScope::Universal], ..wanted };
    assert!(memory.notes(&universal).unwrap().is_empty());
    assert_eq!(memory.count_notes(&NoteFilter::default()).unwrap(), 2_500);
}
