//! The file cache of contract 3, sentence by sentence.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::{Clock, ManualClock, Timestamp};
use recoup_core::key::agent_run::agent_run_key;
use recoup_core::{ErrorKind, FileCache};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{START, noise_text};

const HOUR: Duration = Duration::from_hours(1);
const FOREVER: Duration = Duration::ZERO;

struct Scene {
    dir: TempDir,
    clock: ManualClock,
    cache: FileCache,
}

impl Scene {
    fn new() -> Self {
        let (dir, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(START));
        let cache = FileCache::with_clock(dir.path(), Arc::new(clock.clone())).unwrap();
        Self { dir, clock, cache }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.path().join(format!("{key}.json"))
    }

    fn put(&self, key: &str, contents: &str) {
        fs::write(self.path(key), contents).unwrap();
    }

    fn get(&self, key: &str) -> Option<String> {
        self.cache.get(key).unwrap()
    }

    fn json(&self, key: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(key)).unwrap()).unwrap()
    }

    fn seconds(&self) -> i64 {
        self.clock.now().as_millis() / 1_000
    }
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn the_key_of_an_agent_run_is_a_key() {
    let key =
        agent_run_key("reviewer", "You review code.", "Review src/auth.rs", "claude-sonnet-4-5")
            .unwrap();
    assert_eq!(key, "6cbe1a0aefa451b6ba0645d4dbb968637955465d7fc93e1baa8ca13b4e50393f");
    let scene = Scene::new();
    scene.cache.set(&key, "Looks fine.", HOUR).unwrap();
    assert_eq!(scene.get(&key).as_deref(), Some("Looks fine."));
    assert_ne!(
        agent_run_key("ab", "", "u", "m").unwrap(),
        agent_run_key("a", "b", "u", "m").unwrap()
    );
}

#[test]
fn the_directory_and_the_files_are_private() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("not").join("there");
    let cache = FileCache::open(&deep).unwrap();
    assert_eq!((mode(&deep), mode(deep.parent().unwrap())), (0o700, 0o700));
    cache.set("key", "value", HOUR).unwrap();
    assert_eq!(mode(&deep.join("key.json")), 0o600);
    fs::set_permissions(deep.join("key.json"), fs::Permissions::from_mode(0o644)).unwrap();
    cache.set("key", "another", HOUR).unwrap();
    assert_eq!(mode(&deep.join("key.json")), 0o600, "also when it was open to others");
}

#[test]
fn a_file_in_the_way_of_the_directory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "mine").unwrap();
    assert!(FileCache::open(dir.path().join("file")).is_err());
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"mine");
}

#[test]
fn a_file_is_the_value_and_the_time_in_that_order() {
    let scene = Scene::new();
    scene.cache.set("key", "say \"hi\"\n\u{1}ü", Duration::from_secs(60)).unwrap();
    let text = fs::read_to_string(scene.path("key")).unwrap();
    let expected = "{\"value\":\"say \\\"hi\\\"\\n\\u0001ü\",\"expires_at\":4100000061,\
                    \"expires_at_ms\":4100000060123}";
    assert_eq!(text, expected);
    assert_eq!(scene.get("key").as_deref(), Some("say \"hi\"\n\u{1}ü"));
}

#[test]
fn a_ttl_of_zero_never_expires() {
    let scene = Scene::new();
    scene.cache.set("key", "value", FOREVER).unwrap();
    assert_eq!(scene.json("key"), json!({"value": "value", "expires_at": 0}));
    scene.clock.advance(Duration::from_hours(24 * 365_000));
    assert_eq!(scene.get("key").as_deref(), Some("value"));
}

#[test]
fn a_ttl_beyond_the_end_of_time_never_expires_either() {
    let scene = Scene::new();
    scene.cache.set("key", "value", Duration::MAX).unwrap();
    assert_eq!(scene.json("key")["expires_at"], 0);
    assert_eq!(scene.get("key").as_deref(), Some("value"));
}

#[test]
fn a_value_is_there_for_exactly_its_ttl() {
    for millis in [1, 500, 877, 1_000, 60_000] {
        let scene = Scene::new();
        scene.cache.set("key", "value", Duration::from_millis(millis)).unwrap();
        scene.clock.advance(Duration::from_millis(millis - 1));
        assert_eq!(scene.get("key").as_deref(), Some("value"), "{millis} ms");
        scene.clock.advance(Duration::from_millis(1));
        assert_eq!(scene.get("key"), None, "{millis} ms");
    }
}

#[test]
fn the_shortest_ttl_is_not_for_ever() {
    let scene = Scene::new();
    scene.cache.set("key", "value", Duration::from_nanos(1)).unwrap();
    assert_eq!(scene.get("key").as_deref(), Some("value"));
    scene.clock.advance(Duration::from_millis(1));
    assert_eq!(scene.get("key"), None);
}

#[test]
fn other_readers_see_whole_seconds_that_are_not_too_early() {
    let scene = Scene::new();
    for (ttl, seconds) in [(1, 1), (500, 1), (877, 1), (878, 2), (1_877, 2)] {
        scene.cache.set("key", "value", Duration::from_millis(ttl)).unwrap();
        assert_eq!(scene.json("key")["expires_at"], scene.seconds() + seconds, "{ttl} ms");
    }
}

#[test]
fn an_expired_file_is_deleted_when_it_is_read() {
    let scene = Scene::new();
    scene.cache.set("key", "value", Duration::from_millis(500)).unwrap();
    scene.cache.set("other", "value", HOUR).unwrap();
    scene.clock.advance(Duration::from_millis(500));
    assert_eq!(names(scene.dir.path()), ["key.json", "other.json"]);
    assert_eq!(scene.get("key"), None);
    assert_eq!(names(scene.dir.path()), ["other.json"]);
}

#[test]
fn a_file_that_cannot_be_deleted_is_still_expired() {
    let scene = Scene::new();
    scene.put("key", r#"{"value": "old", "expires_at": 1}"#);
    fs::set_permissions(scene.dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(scene.get("key"), None);
    fs::set_permissions(scene.dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn files_of_other_programs_are_read() {
    let scene = Scene::new();
    let soon = scene.seconds() + 10;
    for (contents, value) in [
        (format!(r#"{{"value":"a","expires_at":{soon}}}"#), Some("a")),
        (format!("{{\n  \"value\": \"a\",\n  \"expires_at\": {soon}\n}}\n"), Some("a")),
        (format!(r#"{{"expires_at":{soon},"value":"a"}}"#), Some("a")),
        (format!(r#"{{"value":"a","expires_at":{soon},"more":{{"x":[1,null]}}}}"#), Some("a")),
        (format!(r#"{{"value":"a","expires_at":{soon}.25}}"#), Some("a")),
        (r#"{"value":"\u00e4\ud83d\ude00","expires_at":0}"#.to_owned(), Some("ä😀")),
        (r#"{"value":"","expires_at":0}"#.to_owned(), Some("")),
        (r#"{"value":"a","expires_at":1}"#.to_owned(), None),
        (r#"{"value":"a","expires_at":-1}"#.to_owned(), None),
    ] {
        scene.put("key", &contents);
        assert_eq!(scene.get("key").as_deref(), value, "{contents}");
    }
}

#[test]
fn whole_seconds_count_when_another_program_changed_them() {
    let scene = Scene::new();
    let now = scene.clock.now().as_millis();
    let soon = scene.seconds() + 100;
    let stale = format!(r#"{{"value":"a","expires_at":{soon},"expires_at_ms":{}}}"#, now - 5_000);
    scene.put("prolonged", &stale);
    assert_eq!(scene.get("prolonged").as_deref(), Some("a"));
    let stale = format!(r#"{{"value":"a","expires_at":1,"expires_at_ms":{}}}"#, now + 5_000);
    scene.put("ended", &stale);
    assert_eq!(scene.get("ended"), None);
}

#[test]
fn what_is_not_parseable_is_nothing_and_stays_until_it_is_replaced() {
    let scene = Scene::new();
    for contents in [
        "",
        "not json",
        "[]",
        "{}",
        r#"{"value":"a"}"#,
        r#"{"expires_at":0}"#,
        r#"{"value":7,"expires_at":0}"#,
        r#"{"value":"a","expires_at":"0"}"#,
        r#"{"value":"a","expires_at":null}"#,
        r#"{"value":"half of i"#,
        r#"{"value":"a","expires_at":0} and more"#,
    ] {
        scene.put("key", contents);
        assert_eq!(scene.get("key"), None, "{contents}");
        assert_eq!(fs::read_to_string(scene.path("key")).unwrap(), contents);
        scene.cache.set("key", "sound", HOUR).unwrap();
        assert_eq!(scene.get("key").as_deref(), Some("sound"));
    }
    fs::write(scene.path("key"), b"{\"value\":\"\xff\",\"expires_at\":0}").unwrap();
    assert_eq!(scene.get("key"), None, "not UTF-8");
}

#[test]
fn what_is_absent_is_nothing() {
    let scene = Scene::new();
    assert_eq!(scene.get("key"), None);
    fs::remove_dir(scene.dir.path()).unwrap();
    assert_eq!(scene.get("key"), None, "nor without the directory");
    scene.cache.set("key", "value", HOUR).unwrap();
    assert_eq!(scene.get("key").as_deref(), Some("value"), "which is made again");
}

#[test]
fn what_is_no_regular_file_is_nothing_and_never_waited_for() {
    let scene = Scene::new();
    fs::create_dir(scene.path("directory")).unwrap();
    let made = Command::new("mkfifo").arg(scene.path("pipe")).status().unwrap();
    assert!(made.success());
    scene.put("target", r#"{"value":"secret","expires_at":0}"#);
    symlink(scene.path("target"), scene.path("link")).unwrap();
    for key in ["directory", "pipe", "link"] {
        assert_eq!(scene.get(key), None, "{key}");
    }
}

#[test]
fn a_link_is_replaced_and_its_target_left_alone() {
    let scene = Scene::new();
    scene.put("target", "theirs");
    symlink(scene.path("target"), scene.path("link")).unwrap();
    scene.cache.set("link", "ours", HOUR).unwrap();
    assert_eq!(scene.get("link").as_deref(), Some("ours"));
    assert_eq!(fs::read_to_string(scene.path("target")).unwrap(), "theirs");
}

#[test]
fn a_fresh_cache_sees_what_an_earlier_one_wrote() {
    let dir = tempfile::tempdir().unwrap();
    FileCache::open(dir.path()).unwrap().set("key", "value", HOUR).unwrap();
    let fresh = FileCache::open(dir.path()).unwrap();
    assert_eq!(fresh.get("key").unwrap().as_deref(), Some("value"));
    fresh.set("key", "another", HOUR).unwrap();
    assert_eq!(fresh.get("key").unwrap().as_deref(), Some("another"));
}

#[test]
fn only_a_non_empty_answer_is_written() {
    let scene = Scene::new();
    scene.cache.set("key", "before", HOUR).unwrap();
    let error = scene.cache.set("key", "", HOUR).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert_eq!(scene.get("key").as_deref(), Some("before"));
}

#[test]
fn keys_are_validated_before_they_become_file_names() {
    let scene = Scene::new();
    let too_long = "k".repeat(129);
    for key in ["", ".", "..", "../up", "a/b", "/etc/passwd", "a b", "ä", "a\0b", &too_long] {
        assert_eq!(scene.cache.get(key).unwrap_err().kind(), ErrorKind::Usage, "{key:?}");
        let error = scene.cache.set(key, "value", HOUR).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{key:?}");
    }
    assert_eq!(names(scene.dir.path()), [""; 0]);
}

#[test]
fn keys_that_look_like_our_own_names_are_keys() {
    let scene = Scene::new();
    let longest = "k".repeat(128);
    let keys = ["x", "x.json", "x.json.tmp", "x.json.tmpAbC123", ".recoup", ".x", "-", &longest];
    for key in keys {
        scene.cache.set(key, key, HOUR).unwrap();
    }
    for key in keys {
        assert_eq!(scene.get(key).as_deref(), Some(key));
    }
    assert_eq!(names(scene.dir.path()).len(), keys.len());
}

#[test]
fn nothing_but_the_entries_is_in_the_directory() {
    let scene = Scene::new();
    for n in 0..20u64 {
        scene.cache.set(&format!("k{}", n % 4), "value", Duration::from_millis(n)).unwrap();
        scene.clock.advance(Duration::from_millis(1));
        scene.get(&format!("k{}", n % 3));
    }
    scene.cache.set("k0", "value", HOUR).unwrap();
    let names = names(scene.dir.path());
    assert!(names.iter().all(|name| name.len() == 7 && name.ends_with(".json")), "{names:?}");
}

/// A value that shows by itself whether it is whole.
fn value(seed: u64) -> String {
    format!("{seed}:{}", noise_text(usize::try_from(seed % 50).unwrap() * 400, seed))
}

#[test]
fn no_reader_ever_sees_part_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let done = AtomicBool::new(false);
    FileCache::open(dir.path()).unwrap().set("key", &value(0), HOUR).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let cache = FileCache::open(dir.path()).unwrap();
                while !done.load(Ordering::SeqCst) {
                    let found = cache.get("key").unwrap().expect("it is always there");
                    let seed = found.split_once(':').unwrap().0.parse().unwrap();
                    assert!(found == value(seed), "{} bytes of {seed}", found.len());
                }
            });
        }
        let writers: Vec<_> = (0..2u64)
            .map(|writer| {
                let dir = dir.path();
                scope.spawn(move || {
                    let cache = FileCache::open(dir).unwrap();
                    for n in 0..300 {
                        cache.set("key", &value(2 * n + writer), HOUR).unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(names(dir.path()), ["key.json"], "and no temporary file is left");
}

/// Readers find an expired file and remove it, while somebody writes a fresh
/// one: as soon as that is written it is there, and stays.
#[test]
fn a_fresh_file_is_never_deleted_by_those_who_saw_the_old_one_expire() {
    let scene = Scene::new();
    let expired = r#"{"value":"old","expires_at":1}"#;
    let (round, done) = (Barrier::new(4), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    round.wait();
                    if done.load(Ordering::SeqCst) {
                        break;
                    }
                    for _ in 0..3 {
                        let found = scene.get("key");
                        assert!(found.is_none_or(|found| found == "fresh"));
                    }
                    round.wait();
                }
            });
        }
        for n in 0..400 {
            scene.put("key", expired);
            round.wait();
            scene.cache.set("key", "fresh", HOUR).unwrap();
            assert_eq!(scene.get("key").as_deref(), Some("fresh"), "round {n}");
            round.wait();
            assert_eq!(scene.get("key").as_deref(), Some("fresh"), "after round {n}");
        }
        done.store(true, Ordering::SeqCst);
        round.wait();
    });
    assert_eq!(names(scene.dir.path()), ["key.json"]);
}

#[test]
fn the_system_clock_is_what_open_uses() {
    let dir = tempfile::tempdir().unwrap();
    let cache = FileCache::open(dir.path()).unwrap();
    cache.set("key", "value", HOUR).unwrap();
    let json: Value =
        serde_json::from_slice(&fs::read(dir.path().join("key.json")).unwrap()).unwrap();
    let expires = json["expires_at"].as_i64().unwrap();
    assert!(expires > 1_700_000_000 && expires < START.as_millis() / 1_000, "{expires}");
    assert!(Timestamp::from_millis(expires * 1_000) < START);
}
