//! Work that was left behind: told, and done by `--fix`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{doctor, report};
use crate::support::Home;

const PROJECT: &str = "0123456789abcdef0123456789abcdef";

/// A job that was left so long ago.
fn leave(home: &Home, name: &str, ago: &str) -> PathBuf {
    let dir = home.recoup().join("queue").join(PROJECT);
    fs::create_dir_all(&dir).unwrap();
    let job = json!({
        "from": {"client": "claude-code", "session": "s", "scope": "universal",
            "root": home.project()},
        "what": {"sweep": {"transcript": home.path("none.jsonl"), "why": "stop"}},
    });
    let path = dir.join(name);
    fs::write(&path, job.to_string()).unwrap();
    let touched = Command::new("touch").args(["-d", ago]).arg(&path).status().unwrap();
    assert!(touched.success());
    path
}

#[test]
fn what_was_left_a_moment_ago_is_nothing_to_worry_about() {
    let home = Home::new();
    leave(&home, "1-a.0.json", "1 minute ago");
    let report = report(&home, 0);
    assert_eq!(report.of("worker"), [("ok", "ok")]);
    assert_eq!(report.all("worker")[0]["facts"]["jobs"], 1);
}

#[test]
fn what_nobody_has_been_at_for_long_is_done_by_fix() {
    let home = Home::new();
    let left =
        [leave(&home, "1-a.0.json", "3 hours ago"), leave(&home, "2-b.1.json", "2 hours ago")];
    let before = report(&home, 0);
    let found = before.has("worker", "waiting", "warn");
    assert_eq!((&found["fixable"], &found["facts"]["jobs"]), (&json!(true), &json!(2)));
    assert!(left.iter().all(|job| job.exists()), "looking is not doing");
    let said = doctor(&home, &["--fix", "--json"]).expect(0).json();
    let repairs = said["repairs"].as_array().unwrap();
    let worked = |it: &&Value| it["check"] == "worker" && it["error"].is_null();
    assert_eq!(repairs.iter().filter(worked).count(), 1, "{said:#}");
    let until = Instant::now() + Duration::from_secs(20);
    let queue = home.recoup().join("queue").join(PROJECT);
    let jobs = || fs::read_dir(&queue).unwrap().flatten().filter(|it| it.file_name() != "lock");
    while jobs().count() > 0 {
        assert!(Instant::now() < until, "the jobs are still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_given_up_is_told() {
    let home = Home::new();
    let bad = leave(&home, "1-a.0.json", "1 minute ago");
    fs::write(bad, "wombat").unwrap();
    leave(&home, "2-b.3.json", "1 minute ago");
    let report = report(&home, 0);
    assert_eq!(report.has("worker", "given-up", "warn")["facts"]["lost"], 2);
}
