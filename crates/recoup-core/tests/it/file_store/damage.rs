//! Files of ours that can't be read: cut, broken, or of a later version.

use recoup_core::ErrorKind;
use recoup_core::base::clock::Timestamp;
use recoup_core::cache::{
    Cache, CacheOptions, LookupRequest, MissReason, PathContext, PeekOutcome,
};
use recoup_core::entry::{BodyDamage, EntryEventKind};
use recoup_core::key::Kind;
use recoup_core::store::{EvictionPlan, Store as _};

use super::{BROKEN, Scene, mortal};
use crate::support::{Touch as _, body_of, evict_plan, id, later, record};

fn get_fault(scene: &Scene) -> ErrorKind {
    scene.store.get(&id("key")).unwrap_err().kind()
}

#[test]
fn a_file_cut_behind_our_mark_is_damaged_and_can_be_replaced() {
    let scene = Scene::new();
    let sound = record("some \"text\" that is cut");
    scene.store.put(&id("key"), &sound).unwrap();
    let whole = scene.text("key");
    let mark = r#","recoup":{"header":"#;
    for len in whole.find(mark).unwrap() + mark.len()..whole.len() {
        scene.write("key", &whole[..len]);
        assert_eq!(get_fault(&scene), ErrorKind::Corrupt, "{len} bytes");
        assert_eq!(scene.scanned(), [("key".to_owned(), Some(ErrorKind::Corrupt))]);
    }
    scene.store.put(&id("key"), &sound).unwrap();
    assert!(body_of(&scene.store, &id("key")).is_some());
}

/// It can't be told from another program's, so it stays for its owner to remove.
#[test]
fn a_file_cut_before_our_mark_is_a_miss_and_left_alone() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("some text that is cut")).unwrap();
    let whole = scene.text("key");
    for len in 1..whole.find(r#"{"header":"#).unwrap() {
        scene.write("key", &whole[..len]);
        assert!(scene.store.get(&id("key")).unwrap().is_none(), "{len} bytes");
        let error = scene.store.put(&id("key"), &record("new")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert_eq!(scene.text("key"), whole[..len]);
    }
}

#[test]
fn an_empty_file_is_a_miss_that_only_a_put_replaces() {
    let scene = Scene::new();
    scene.write("key", "");
    assert!(scene.store.get(&id("key")).unwrap().is_none());
    assert!(scene.store.full_payload(&id("key")).unwrap().is_none());
    assert_eq!(scene.store.remove(&[id("key")]).unwrap(), 0);
    scene.tell("1", &id("key"), EntryEventKind::Corrupt, later(1));
    scene.store.evict(&evict_plan(later(1 << 40))).unwrap();
    assert_eq!(scene.scanned(), []);
    assert_eq!(scene.text("key"), "");
    scene.store.put(&id("key"), &record("sound")).unwrap();
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"sound".to_vec()));
}

#[test]
fn a_file_whose_beginning_is_lost_is_damaged_too() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("v".repeat(5_000))).unwrap();
    let whole = scene.text("key");
    scene.write("key", &format!("{}{}", "\0".repeat(4_096), &whole[4_096..]));
    assert_eq!(get_fault(&scene), ErrorKind::Corrupt);
    scene.store.put(&id("key"), &record("sound")).unwrap();
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"sound".to_vec()));
}

#[test]
fn a_damaged_file_is_a_miss_that_says_so_and_names_the_file() {
    let scene = Scene::new();
    scene.write("key", BROKEN);
    let error = scene.store.get(&id("key")).unwrap_err();
    assert!(error.to_string().contains("key.json"), "{error}");
    let cache = Cache::new(std::sync::Arc::new(scene.another()), CacheOptions::default());
    let view = PathContext { root: "/".into(), cwd: "/".into() };
    let found = cache.peek(&LookupRequest::new(Kind::Result, &id("key"), &view));
    assert!(
        matches!(found, PeekOutcome::Miss(MissReason::Corrupt(BodyDamage::Unreadable))),
        "{found:?}"
    );
}

#[test]
fn a_damaged_file_can_be_removed_and_goes_when_it_is_told_of() {
    let scene = Scene::new();
    for contents in [BROKEN, &BROKEN[..BROKEN.len() - 2]] {
        scene.write("key", contents);
        assert_eq!(scene.store.remove(&[id("key")]).unwrap(), 1);
        scene.write("key", contents);
        scene.tell(&format!("b{}", contents.len()), &id("key"), EntryEventKind::Corrupt, later(1));
        assert!(!scene.path("key").exists());
    }
}

#[test]
fn what_is_sound_again_stays_whatever_the_clocks_say() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    let sound = scene.text("key");
    scene.write("key", &sound.replace("\"value\",", "\"vAlue\","));
    assert!(scene.store.get(&id("key")).unwrap().unwrap().open().is_err());
    scene.write("key", &sound);
    for (name, at) in [("1", Timestamp::default()), ("2", later(1 << 40))] {
        scene.tell(name, &id("key"), EntryEventKind::Corrupt, at);
        assert_eq!(scene.text("key"), sound, "{name}");
    }
}

#[test]
fn what_is_still_damaged_goes_whatever_the_clocks_say() {
    let scene = Scene::new();
    for (name, at) in [("1", Timestamp::default()), ("2", later(1 << 40))] {
        scene.store.put(&id("key"), &record("value")).unwrap();
        scene.write("key", &scene.text("key").replace("\"value\",", "\"vAlue\","));
        scene.tell(name, &id("key"), EntryEventKind::Corrupt, at);
        assert!(!scene.path("key").exists(), "{name}");
    }
}

#[test]
fn a_damaged_file_is_not_evicted_and_counts_as_there() {
    let scene = Scene::new();
    scene.write("key", BROKEN);
    let none = EvictionPlan { max_entries: Some(0), ..evict_plan(later(1 << 40)) };
    scene.store.evict(&none).unwrap();
    assert_eq!(scene.store.usage(&id("key").scope).unwrap().entries, 1);
}

#[test]
fn a_later_version_is_called_that_and_never_damaged() {
    for (old, new) in [
        (r#""format":1"#, r#""format":2"#),
        (r#""kind":"result""#, r#""kind":"dream""#),
        (r#""encoding":"plain""#, r#""encoding":"zstd""#),
    ] {
        let scene = Scene::new();
        scene.store.put(&id("key"), &mortal("v", 1)).unwrap();
        let newer = scene.text("key").replace(old, new);
        assert!(newer.contains(new));
        scene.write("key", &newer);
        assert_eq!(get_fault(&scene), ErrorKind::TooNew, "{new}");
        assert_eq!(scene.scanned(), [("key".to_owned(), Some(ErrorKind::TooNew))]);
        scene.store.touch(&[(id("key"), later(1))]).unwrap();
        scene.tell("1", &id("key"), EntryEventKind::Corrupt, later(9));
        scene.store.evict(&evict_plan(later(1 << 40))).unwrap();
        assert!(scene.path("key").exists(), "{new}");
        assert_eq!(scene.store.remove(&[id("key")]).unwrap(), 1, "but it may be removed");
    }
}

#[test]
fn a_missing_full_result_is_none() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("v")).unwrap();
    assert!(scene.store.full_payload(&id("key")).unwrap().is_none());
    scene.write("key", &BROKEN[..BROKEN.len() - 2]);
    assert_eq!(scene.store.full_payload(&id("key")).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn broken_notes_of_our_own_are_made_again() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &mortal("v", 1_000)).unwrap();
    scene.store.evict(&evict_plan(later(0))).unwrap();
    let own = scene.dir.path().join(".recoup");
    for broken in ["", "soon", "99999999999999999999999", "\u{0}"] {
        std::fs::write(own.join("next-death"), broken).unwrap();
        scene.store.evict(&evict_plan(later(1))).unwrap();
        let note = std::fs::read_to_string(own.join("next-death")).unwrap();
        assert_eq!(note, format!("{}\n", later(1_000).as_millis()), "{broken:?}");
    }
    std::fs::write(own.join("counts.json"), "{").unwrap();
    scene.store.touch(&[(id("key"), later(5))]).unwrap();
    assert_eq!(scene.store.get(&id("key")).unwrap().unwrap().head.hits, 1);
}

#[test]
fn what_stands_in_the_place_of_our_notes_fails_no_write() {
    let scene = Scene::new();
    let own = scene.dir.path().join(".recoup");
    for name in ["next-death", "counts.json"] {
        std::fs::create_dir_all(own.join(name)).unwrap();
    }
    scene.store.put(&id("key"), &mortal("v", 1_000)).unwrap();
    assert!(scene.store.tallies(Some(&id("key").scope)).unwrap().is_empty());
    assert_eq!(scene.store.evict(&evict_plan(later(1))).unwrap().expired, 0);
    assert_eq!(scene.store.evict(&evict_plan(later(1_000))).unwrap().expired, 1);
    assert!(own.join("next-death").is_dir());
}

#[test]
fn a_pipe_in_the_place_of_a_note_is_replaced() {
    let scene = Scene::new();
    let own = scene.dir.path().join(".recoup");
    std::fs::create_dir(&own).unwrap();
    for name in ["next-death", "counts.json"] {
        let made = std::process::Command::new("mkfifo").arg(own.join(name)).status().unwrap();
        assert!(made.success());
    }
    scene.store.put(&id("key"), &mortal("v", 1_000)).unwrap();
    scene.store.touch(&[(id("key"), later(1))]).unwrap();
    assert_eq!(scene.store.tallies(Some(&id("key").scope)).unwrap().len(), 1);
    scene.store.evict(&evict_plan(later(1))).unwrap();
    assert!(own.join("next-death").is_file());
}

#[test]
fn a_put_is_done_although_the_note_can_not_be_changed() {
    let scene = Scene::new();
    scene.write("other", "");
    std::fs::write(scene.dir.path().join(".recoup"), "in the way").unwrap();
    scene.store.put(&id("key"), &mortal("v", 1_000)).unwrap();
    assert!(body_of(&scene.store, &id("key")).is_some());
}
