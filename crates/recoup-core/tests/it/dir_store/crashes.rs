//! Killed between two steps: what a writer leaves behind at each of them, set up
//! by hand, is never a mixture, and the next write cleans it up.

use std::fs;

use recoup_core::entry::EntryEventKind;
use recoup_core::key::Scope;
use recoup_core::store::Store as _;
use serde_json::Value;

use super::{Scene, directory, full_name, with_full};
use crate::support::{id, later, record_at};

/// The files of one entry, and what is made from all of them.
const HEAD: &str = ".recoup/heads/a.json";
const BODY: &str = "results/a.json";
const CATALOGUE: &str = ".recoup/catalogue";

/// The old and the new state of an entry's files, and of the index.
struct Replaced {
    scene: Scene,
    old: [String; 3],
    new: [String; 3],
}

fn files(scene: &Scene) -> [String; 3] {
    [HEAD, BODY, "index.json"].map(|name| scene.text(name))
}

fn replaced() -> Replaced {
    let scene = Scene::with(&["a", "other"]);
    let old = files(&scene);
    scene.store.put(&id("a"), &record_at(later(7), "new")).unwrap();
    let new = files(&scene);
    Replaced { scene, old, new }
}

/// The head that holds both while one takes the other's place.
fn both(old: &str, new: &str) -> String {
    let mut head: Value = serde_json::from_str(new).unwrap();
    head["before"] = serde_json::from_str(old).unwrap();
    head.to_string()
}

impl Replaced {
    /// As a crash leaves it: no catalogue, and these files.
    fn leave(&self, head: &str, body: &str, index: &str) {
        self.scene.remove(CATALOGUE);
        for (name, text) in [(HEAD, head), (BODY, body), ("index.json", index)] {
            self.scene.write(name, text);
        }
    }

    /// It is `body`, before and after the next write, and nothing is left over.
    fn assert_is(&self, body: &str, stored_at: i64) {
        for round in ["before", "after"] {
            assert_eq!(self.scene.body("a").as_deref(), Some(body), "{round}");
            let head = self.scene.store.get(&id("a")).unwrap().unwrap().head.clone();
            assert_eq!(head.stored_at.as_millis(), stored_at, "{round}");
            assert_eq!(self.scene.shown().len(), if round == "before" { 2 } else { 3 });
            self.scene.put("next", "write");
        }
        assert!(!self.scene.text(HEAD).contains("before"), "settled");
        let listed = self.scene.index()["entries"]["a"]["integrity_hash"].clone();
        assert_eq!(listed, recoup_core::base::digest::Sha256Digest::of(body.as_bytes()).to_hex());
    }
}

#[test]
fn a_put_that_got_no_further_than_the_head_did_not_happen() {
    let replaced = replaced();
    let (old, new) = (&replaced.old, &replaced.new);
    replaced.leave(&both(&old[0], &new[0]), &old[1], &old[2]);
    replaced.assert_is("a", later(0).as_millis());
}

#[test]
fn a_put_that_got_as_far_as_the_body_did_happen() {
    for head_too in [false, true] {
        let replaced = replaced();
        let (old, new) = (&replaced.old, &replaced.new);
        let head = if head_too { new[0].clone() } else { both(&old[0], &new[0]) };
        replaced.leave(&head, &new[1], &old[2]);
        replaced.assert_is("new", later(7).as_millis());
    }
}

/// The head names it before it is there, so it is found again.
#[test]
fn the_full_result_of_a_put_that_did_not_happen_goes() {
    for first in [true, false] {
        let scene = Scene::with(&["other"]);
        scene.store.put(&id("keeper"), &with_full("kept")).unwrap();
        if !first {
            scene.put("a", "short");
        }
        let old = fs::read_to_string(scene.path(HEAD)).ok();
        for full in ["kept", "lost"] {
            scene.store.put(&id("a"), &with_full(full)).unwrap();
            scene.remove(CATALOGUE);
            match &old {
                None => scene.remove(BODY),
                Some(old) => scene.write(HEAD, &both(old, &scene.text(HEAD))),
            }
            assert!(scene.path(&full_name(full)).exists());
            assert!(
                scene.store.full_payload(&id("a")).unwrap().is_none(),
                "it is as it was before"
            );
            scene.put("next", "write");
            assert!(!scene.path(&full_name("lost")).exists());
            assert_eq!(scene.text(&full_name("kept")), "kept");
        }
    }
}

#[test]
fn a_first_put_that_has_no_body_yet_did_not_happen() {
    let scene = Scene::with(&["a", "other"]);
    let usage = scene.store.usage(&Scope::global()).unwrap();
    scene.remove(BODY);
    scene.remove(CATALOGUE);
    assert_eq!(scene.body("a"), None);
    assert_eq!(scene.shown(), ["other"]);
    scene.put("a", "a");
    assert_eq!(scene.body("a"), Some("a".to_owned()));
    assert_eq!(scene.store.usage(&Scope::global()).unwrap(), usage);
}

#[test]
fn a_removal_that_got_as_far_as_the_body_is_finished_by_the_next_write() {
    for head_too in [false, true] {
        let scene = Scene::with(&["a", "other"]);
        scene.remove(CATALOGUE);
        scene.remove(BODY);
        if head_too {
            scene.remove(HEAD);
        }
        assert_eq!(scene.body("a"), None);
        assert_eq!(scene.store.remove(&[id("a")]).unwrap(), 0);
        assert!(!scene.path(HEAD).exists());
        assert_eq!(scene.listed(), ["other"]);
    }
}

#[test]
fn temporary_files_of_the_dead_are_removed_where_only_we_write() {
    let scene = Scene::with(&["a"]);
    scene.write(".recoup/.recoup-AbC123", "half");
    let users = [".recoup-config", ".recoup-notes.txt", "results/.recoup-000000"];
    for name in users {
        scene.write(name, "the user's");
    }
    scene.remove(CATALOGUE);
    assert_eq!(scene.shown(), ["a"]);
    scene.put("b", "b");
    assert!(!scene.path(".recoup/.recoup-AbC123").exists());
    assert!(users.iter().all(|name| scene.text(name) == "the user's"));
}

/// The heads are told first, then the counts: in between, a head knows.
#[test]
fn a_batch_that_was_told_half_way_counts_once() {
    let scene = Scene::with(&["a"]);
    scene.fold("0", &[("a", EntryEventKind::Hit, 1)]);
    let (counts, index) = (scene.text(".recoup/counts.json"), scene.text("index.json"));
    scene.fold("1", &[("a", EntryEventKind::Hit, 2)]);
    scene.write(".recoup/counts.json", &counts);
    scene.write("index.json", &index);
    scene.remove(CATALOGUE);
    scene.fold("1", &[("a", EntryEventKind::Hit, 2)]);
    assert_eq!(scene.store.get(&id("a")).unwrap().unwrap().head.hits, 3);
    assert_eq!(scene.store.tallies(Some(&Scope::global())).unwrap()[0].count, 3);
    assert_eq!(scene.index()["entries"]["a"]["hit_count"], 3);
    assert_eq!(scene.index()["stats"]["hits"], 3);
}

/// The counts were saved, the index was not.
#[test]
fn an_index_that_missed_a_batch_catches_up() {
    let scene = Scene::with(&["a"]);
    let index = scene.text("index.json");
    scene.fold("1", &[("a", EntryEventKind::Hit, 2)]);
    scene.write("index.json", &index);
    scene.remove(CATALOGUE);
    scene.fold("2", &[("a", EntryEventKind::Hit, 1)]);
    assert_eq!(scene.index()["entries"]["a"]["hit_count"], 3);
    assert_eq!(scene.index()["stats"]["hits"], 3);
}

/// A full disk is like a crash that can be told.
#[test]
fn a_put_that_fails_half_way_leaves_what_was_there() {
    let scene = Scene::with(&["a", "b"]);
    let results = scene.path("results");
    fs::rename(&results, scene.path("aside")).unwrap();
    fs::write(&results, "a file where the directory was").unwrap();
    assert!(scene.store.put(&id("a"), &with_full("full")).is_err());
    fs::remove_file(&results).unwrap();
    fs::rename(scene.path("aside"), &results).unwrap();
    assert_eq!(scene.body("a"), Some("a".to_owned()));
    let again = directory(scene.root());
    again.put(&id("a"), &with_full("full")).unwrap();
    assert_eq!(scene.shown(), ["a", "b"]);
    assert_eq!(scene.text(&full_name("full")), "full");
}
