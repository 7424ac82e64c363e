//! Many writers over one directory, as threads and as processes: nothing is
//! lost, and nobody sees half of anything.

use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;

use recoup_core::store::{Directory, Store as _};

use super::{Scene, full_name, with_full};
use crate::support::{body_of, id, noise_text, record};

/// Says to the processes of a crowd where it meets, and as whom.
const MEETING: &str = "RECOUP_TEST_DIRECTORY";

fn keys(count: usize) -> Vec<String> {
    let mut keys: Vec<String> = (0..count).map(|n| format!("k{n}")).collect();
    keys.sort();
    keys
}

#[test]
fn twenty_parallel_puts_are_all_there_and_in_the_index() {
    let scene = Scene::new();
    let start = Barrier::new(20);
    thread::scope(|threads| {
        for n in 0..20 {
            let (store, start) = (Directory::at(scene.root()), &start);
            threads.spawn(move || {
                start.wait();
                store.put(&id(&format!("k{n}")), &record(format!("body {n}"))).unwrap();
            });
        }
    });
    assert_eq!(scene.shown(), keys(20));
    assert_eq!(scene.listed(), keys(20));
    for n in 0..20 {
        assert_eq!(scene.body(&format!("k{n}")), Some(format!("body {n}")));
    }
}

/// Readers look at what writers replace and remove all the time; a value shows
/// by itself whether it is whole.
#[test]
fn readers_of_other_stores_see_whole_values_only() {
    let value =
        |seed: u64| format!("{seed}:{}", noise_text(usize::try_from(seed * 97).unwrap(), seed));
    let scene = Scene::new();
    thread::scope(|threads| {
        for thread in 0..3 {
            let store = Directory::at(scene.root());
            threads.spawn(move || {
                for round in 0..30 {
                    let seed = thread * 30 + round;
                    store.put(&id("key"), &record(value(seed))).unwrap();
                    if seed % 7 == 0 {
                        store.remove(&[id("key")]).unwrap();
                    }
                }
            });
        }
        for _ in 0..3 {
            let store = Directory::at(scene.root());
            threads.spawn(move || {
                for _ in 0..400 {
                    if let Some(body) = body_of(&store, &id("key")) {
                        let text = String::from_utf8(body).unwrap();
                        let seed = text.split_once(':').unwrap().0.parse().unwrap();
                        assert!(text == value(seed), "a value that nobody wrote");
                    }
                }
            });
        }
    });
}

/// While some of those who share a full result come and go.
#[test]
fn a_shared_full_result_stays_for_whoever_has_it() {
    let scene = Scene::new();
    scene.store.put(&id("keeper"), &with_full("shared")).unwrap();
    thread::scope(|threads| {
        for n in 0..4 {
            let store = Directory::at(scene.root());
            threads.spawn(move || {
                for _ in 0..10 {
                    let key = id(&format!("k{n}"));
                    store.put(&key, &with_full("shared")).unwrap();
                    store.remove(&[key]).unwrap();
                }
            });
        }
    });
    assert_eq!(scene.text(&full_name("shared")), "shared");
    scene.store.remove(&[id("keeper")]).unwrap();
    assert!(!scene.path(&full_name("shared")).exists());
}

#[test]
fn puts_of_several_processes_are_all_there_and_in_the_index() {
    let scene = Scene::new();
    let spawn = |n: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "dir_store::crowds::one_process_of_several"])
            .env(MEETING, format!("{}={}", n, scene.root().display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(spawn).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(scene.shown(), keys(20));
    assert_eq!(scene.listed(), keys(20));
    assert!(scene.path(".recoup/catalogue.json").exists());
}

/// Started by the test above, in a process of its own.
#[test]
#[ignore = "it is a part of another test"]
fn one_process_of_several() {
    let Ok(meeting) = std::env::var(MEETING) else { return };
    let (n, dir) = meeting.split_once('=').unwrap();
    let (n, store) = (n.parse::<usize>().unwrap(), Directory::at(dir));
    for round in 0..5 {
        let key = id(&format!("k{}", n * 5 + round));
        store.put(&key, &record(format!("{key}"))).unwrap();
        assert_eq!(body_of(&store, &key), Some(key.to_string().into_bytes()));
    }
}
