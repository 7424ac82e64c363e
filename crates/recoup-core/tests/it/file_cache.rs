//! The file cache of contract 3, sentence by sentence.

mod format;
mod races;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::{Clock as _, ManualClock};
use recoup_core::key::agent_run::agent_run_key;
use recoup_core::{ErrorKind, FileCache};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::START;

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
    let keys =
        ["x", "x.json", "x.json.tmp", "x.json.tmp-recoup-AbC12345", ".recoup", ".x", "-", &longest];
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
    let expected = ["k0.json", "k1.json", "k2.json", "k3.json"];
    assert!(names.iter().all(|name| expected.contains(&name.as_str())), "{names:?}");
}
