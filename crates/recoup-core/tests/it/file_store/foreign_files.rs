//! Files that are no entries and only have such a name: somebody may well give
//! the store a directory that holds other things.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use recoup_core::ErrorKind;
use recoup_core::entry::EntryEventKind;
use recoup_core::key::Kind;
use recoup_core::store::{EvictionPlan, Store as _};

use super::{BROKEN, Scene};
use crate::support::{Touch as _, evict_plan, id, later, record, scopes};

const PACKAGE: &str = "{\n  \"name\": \"app\",\n  \"value\": 1\n}\n";

/// Everything that a store can be asked to do, with a file that is none of ours.
fn is_left_alone(scene: &Scene, key: &str) {
    let path = scene.path(key);
    assert!(scene.store.get(&id(key)).unwrap().is_none(), "{key}");
    assert!(scene.store.full_payload(&id(key)).unwrap().is_none(), "{key}");
    for refused in
        [scene.store.put(&id(key), &record("value")), scene.store.remove(&[id(key)]).map(drop)]
    {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert!(error.to_string().contains("not a cache entry"), "{error}");
    }
    scene.store.touch(&[(id(key), later(1))]).unwrap();
    scene.tell(&format!("corrupt-{key}"), &id(key), EntryEventKind::Corrupt, later(9));
    for kind in Kind::ALL {
        let none = EvictionPlan {
            kind,
            max_entries: Some(0),
            max_bytes: Some(0),
            ..evict_plan(later(1 << 40))
        };
        let evicted = scene.store.evict(&none).unwrap();
        assert_eq!((evicted.expired, evicted.least_used), (0, 0), "{key}");
    }
    assert_eq!(scene.scanned(), [], "{key}");
    assert_eq!(scene.store.usage(&scopes()[0]).unwrap().entries, 0, "{key}");
    assert!(fs::symlink_metadata(path).is_ok(), "{key}");
}

#[test]
fn files_that_are_not_in_the_format_are_left_alone() {
    let too_long_a_word = "w".repeat(5_000);
    for contents in [
        PACKAGE,
        "[]",
        "null",
        "not json at all",
        "{",
        r#"{"value":1,"expires_at":0}"#,
        r#"{"expires_at":0}"#,
        r#"{ "value": "spaced, cut o"#,
        r#"{"value":"cut o"#,
        r#"{"value":"x","name":"mine"}"#,
        r#"{"value":"a\ud800b","expires_at":0}"#,
        r#"{"value":"x","expires_at":0,"recoup":"other tool"}"#,
        r#"{"value":"x","expires_at":0,"recoup":{"head":{}}}"#,
        r#"{"value":"x","value":"y","expires_at":0}"#,
        &format!("[{BROKEN}]"),
        &format!("{BROKEN}\n{BROKEN}\n"),
        &format!(r#"{{"value":"a copy","of":{BROKEN}}}"#),
        "\u{feff}{}",
        &too_long_a_word,
    ] {
        let scene = Scene::new();
        scene.write("package", contents);
        is_left_alone(&scene, "package");
        assert_eq!(scene.text("package"), contents);
    }
}

#[test]
fn links_are_left_alone_and_not_followed() {
    let scene = Scene::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("entry.json");
    let entry = r#"{"value":"theirs","expires_at":1}"#;
    fs::write(&target, entry).unwrap();
    symlink(&target, scene.path("link")).unwrap();
    symlink("nowhere", scene.path("dangling")).unwrap();
    for key in ["link", "dangling"] {
        is_left_alone(&scene, key);
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), entry);
}

#[test]
fn pipes_and_directories_are_left_alone_and_never_waited_for() {
    let scene = Scene::new();
    assert!(Command::new("mkfifo").arg(scene.path("pipe")).status().unwrap().success());
    fs::create_dir(scene.path("directory")).unwrap();
    for key in ["pipe", "directory"] {
        is_left_alone(&scene, key);
    }
}

#[test]
fn files_longer_than_any_entry_are_left_alone_and_not_read() {
    let scene = Scene::new();
    let file = fs::File::create(scene.path("sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    is_left_alone(&scene, "sparse");
}

/// Sparse, so that reading it would show: in memory, and in time.
#[test]
fn long_files_that_can_not_be_entries_are_not_read_whole() {
    let scene = Scene::new();
    for (key, beginning) in [("empty", ""), ("package", "{\"name\":1,"), ("value", "{\"value\":")] {
        scene.write(key, beginning);
        let file = fs::File::options().write(true).open(scene.path(key)).unwrap();
        file.set_len(1 << 30).unwrap();
        is_left_alone(&scene, key);
        assert_eq!(scene.file_cache().get(key).unwrap(), None);
    }
}

#[test]
fn other_names_are_none_of_our_business() {
    let scene = Scene::new();
    let entry = r#"{"value":"x","expires_at":1}"#;
    for name in ["entry.JSON", "entry", ".json", "ä.json", "a b.json", "entry.json~", "x.json.bak"]
    {
        fs::write(scene.dir.path().join(name), entry).unwrap();
    }
    scene.store.evict(&evict_plan(later(1 << 40))).unwrap();
    assert_eq!(scene.scanned(), []);
    assert_eq!(super::names(scene.dir.path()).len(), 8, "with ours");
}

#[test]
fn one_that_may_not_go_keeps_no_other_from_going() {
    let scene = Scene::new();
    scene.write("package", PACKAGE);
    for key in ["a", "b"] {
        scene.store.put(&id(key), &record("value")).unwrap();
    }
    assert!(scene.store.remove(&["a", "package", "b"].map(id)).is_err());
    assert_eq!(scene.scanned(), []);
    assert_eq!(scene.text("package"), PACKAGE);
}
