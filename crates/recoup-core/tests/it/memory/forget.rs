//! Forgetting leaves no copy of the statement in memory's files.

use std::fs;
use std::path::Path;

use recoup_core::ErrorKind;
use recoup_core::memory::{NoteFilter, NoteId, Statement, WorkCheckpoint};
use rusqlite::Connection;

use super::{Scene, project, stated};

/// Whether any file below `dir` holds these bytes, in whatever encoding SQLite keeps text.
fn is_anywhere(dir: &Path, words: &str) -> bool {
    fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_anywhere(&path, words);
        }
        let bytes = fs::read(&path).unwrap();
        bytes.windows(words.len()).any(|part| part.eq_ignore_ascii_case(words.as_bytes()))
    })
}

#[test]
fn what_is_forgotten_is_in_no_file_any_more() {
    let scene = Scene::new();
    let quote = Some("no, the wombat goes into the fridge".to_owned());
    let statement =
        Statement { quote, ..stated("put the wombat into the fridge", Some("wombats")) };
    let id = scene.memory().record(&statement).unwrap().note().id.clone();
    for n in 0..200 {
        scene.say(&format!("statement number {n} about something else"), None);
    }
    assert!(is_anywhere(scene.dir.path(), "wombat"));
    let forgotten = scene.memory().forget(std::slice::from_ref(&id)).unwrap();
    assert_eq!(forgotten.notes[0].id, id);
    assert!(!is_anywhere(scene.dir.path(), "wombat"));
    assert_eq!(scene.memory().notes(&NoteFilter::default()).unwrap().len(), 200);
    let error = scene.memory().forget(&[id]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Absent);
}

#[test]
fn copies_that_we_made_are_reached_and_those_that_can_not_be_are_named() {
    let scene = Scene::new();
    let id = scene.say("put the wombat into the fridge", None).note().id.clone();
    let backup = scene.dir.path().join("memory.db.backup-1");
    let path = backup.to_str().unwrap();
    Connection::open(scene.path()).unwrap().execute("VACUUM INTO ?1", [path]).unwrap();
    let aside = scene.dir.path().join("memory.db.damaged-x");
    fs::create_dir(&aside).unwrap();
    assert!(is_anywhere(scene.dir.path(), "wombat"));
    let forgotten = scene.memory().forget(&[id]).unwrap();
    assert_eq!((forgotten.copies, forgotten.unreached), (vec![backup], vec![aside]));
    assert!(!is_anywhere(scene.dir.path(), "wombat"));
}

#[test]
fn who_gave_way_to_it_stays_as_it_was() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    let id = scene.say("use spaces", Some("indentation")).note().id.clone();
    scene.memory().forget(&[id]).unwrap();
    let old = scene.find("use tabs");
    assert_eq!((old.status.as_str(), old.superseded_by), ("superseded", None));
}

#[test]
fn either_all_of_them_or_none() {
    let scene = Scene::new();
    let id = scene.say("use tabs", None).note().id.clone();
    let other = NoteId::parse("00000000").unwrap();
    assert!(scene.memory().forget(&[id, other]).is_err());
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn where_work_stands_loses_what_has_the_words_and_nothing_else() {
    let scene = Scene::new();
    let rule = r#"put "use strict" \ first"#;
    let id = scene.say(rule, None).note().id.clone();
    let checkpoint = WorkCheckpoint {
        completed: vec!["read the \"docs\"".to_owned()],
        remaining: vec![format!("the user says: {rule}"), "write the tests".to_owned()],
        blockers: vec![rule.to_owned()],
        notes: Some(format!("remember: {rule}!")),
    };
    let only = WorkCheckpoint { remaining: vec![rule.to_owned()], ..WorkCheckpoint::default() };
    let untouched =
        WorkCheckpoint { remaining: vec!["ship".to_owned()], ..WorkCheckpoint::default() };
    for (letter, checkpoint) in [('a', &checkpoint), ('b', &only), ('c', &untouched)] {
        scene.memory().save_checkpoint(&project(letter), checkpoint).unwrap();
    }
    scene.memory().forget(&[id]).unwrap();
    let left = |letter| scene.memory().checkpoint(&project(letter)).unwrap().map(|it| it.0);
    let rest = WorkCheckpoint {
        completed: checkpoint.completed.clone(),
        remaining: vec!["write the tests".to_owned()],
        ..WorkCheckpoint::default()
    };
    assert_eq!(left('a'), Some(rest));
    assert_eq!(left('b'), None, "nothing is left of it");
    assert_eq!(left('c'), Some(untouched));
    assert!(!is_anywhere(scene.dir.path(), "use strict"));
}

#[test]
fn a_quote_of_which_nothing_is_left_is_not_in_everything() {
    let scene = Scene::new();
    let quote = Some("<private>put the wombat away</private>".to_owned());
    let statement = Statement { quote, ..stated("put the wombat into the fridge", None) };
    let id = scene.memory().record(&statement).unwrap().note().id.clone();
    let ship = WorkCheckpoint { remaining: vec!["ship".to_owned()], ..WorkCheckpoint::default() };
    scene.memory().save_checkpoint(&project('a'), &ship).unwrap();
    scene.memory().forget(&[id]).unwrap();
    assert_eq!(scene.memory().checkpoint(&project('a')).unwrap().map(|it| it.0), Some(ship));
}
