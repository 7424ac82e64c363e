//! Many writers over one directory, as threads and as processes: nothing is
//! lost, and nobody sees half of anything.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;

use recoup_core::key::Scope;
use recoup_core::store::{DirectoryStore, ScanFilter, Store as _};

use super::{Scene, directory, full_name, with_full};
use crate::support::{body_of, id, noise_text, record, scanned};

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
            let (store, start) = (directory(scene.root()), &start);
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

/// A value that shows by itself whether it is whole.
fn value(seed: u64) -> String {
    format!("{seed}:{}", noise_text(usize::try_from(seed * 97 % 9_000).unwrap(), seed))
}

fn assert_whole(body: Vec<u8>) {
    let text = String::from_utf8(body).unwrap();
    let seed = text.split_once(':').unwrap().0.parse().unwrap();
    assert!(text == value(seed), "a value that nobody wrote");
}

/// Readers look at what writers replace and remove all the time.
#[test]
fn readers_of_other_stores_see_whole_values_only() {
    let scene = Scene::new();
    thread::scope(|threads| {
        for thread in 0..3 {
            let store = directory(scene.root());
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
            let store = directory(scene.root());
            threads.spawn(move || {
                for _ in 0..400 {
                    body_of(&store, &id("key")).into_iter().for_each(assert_whole);
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
            let store = directory(scene.root());
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

/// This test binary again, as a process that does `part`.
fn process(part: &str, scene: &Scene, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", &format!("dir_store::crowds::{part}")])
        .env(MEETING, format!("{number}={}", scene.root().display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What such a process was told; none when somebody runs ignored tests by hand.
fn part() -> Option<(usize, DirectoryStore)> {
    let meeting = std::env::var(MEETING).ok()?;
    let (number, dir) = meeting.split_once('=').unwrap();
    Some((number.parse().unwrap(), directory(dir)))
}

#[test]
fn puts_of_several_processes_are_all_there_and_in_the_index() {
    let scene = Scene::new();
    let children: Vec<_> = (0..4).map(|n| process("putting_five", &scene, n)).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(scene.shown(), keys(20));
    assert_eq!(scene.listed(), keys(20));
    assert!(scene.path(".recoup/catalogue").exists());
}

#[test]
#[ignore = "it is a part of another test"]
fn putting_five() {
    let Some((number, store)) = part() else { return };
    for round in 0..5 {
        let key = id(&format!("k{}", number * 5 + round));
        store.put(&key, &record(key.to_string())).unwrap();
        assert_eq!(body_of(&store, &key), Some(key.to_string().into_bytes()));
    }
}

/// Wherever they are, what they leave is whole, and others go on.
#[test]
fn writers_that_are_killed_leave_nothing_half_done() {
    let scene = Scene::new();
    for round in 0..12 {
        let mut child = process("writing_until_killed", &scene, round);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let written = lines.filter(|line| line.as_ref().unwrap().contains("written"));
        assert_eq!(written.take(5 + round).count(), 5 + round);
        child.kill().unwrap();
        child.wait().unwrap();
        for found in scanned(&scene.store, &ScanFilter::default()) {
            assert_whole(body_of(&scene.store, &found).expect("it was just listed"));
        }
        scene.put("next", &value(1));
        assert_eq!(scene.listed(), scene.shown());
        let usage = scene.store.usage(&Scope::global()).unwrap();
        assert_eq!(usage.entries, scene.shown().len() as u64);
        scene.remove(".recoup/catalogue");
        assert_eq!(scene.store.usage(&Scope::global()).unwrap(), usage);
    }
}

#[test]
#[ignore = "it is a part of another test"]
fn writing_until_killed() {
    let Some((number, store)) = part() else { return };
    for seed in (number as u64 * 1_000).. {
        let key = id(&format!("k{}", seed % 3));
        store.put(&key, &record(value(seed))).unwrap();
        if seed % 5 == 0 {
            store.remove(&[key]).unwrap();
        }
        println!("written");
    }
}
