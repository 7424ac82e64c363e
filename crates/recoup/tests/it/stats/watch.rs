//! `recoup watch`: a line for each thing that happens, in all processes, once.

use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Home;

/// A watcher, and what it says.
struct Watcher {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    /// Started, and already following.
    fn start(home: &Home, flags: &[&str]) -> Self {
        let mut command = home.command(&[&["watch"], flags].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let lock = home.path("recoup/ledger/watch.lock");
        wait("the watcher to follow", || {
            std::fs::File::open(&lock).is_ok_and(|file| file.try_lock().is_err())
        });
        // It has its lock; the logs that are there it has seen a moment later.
        std::thread::sleep(Duration::from_millis(300));
        Self { process, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.next()).unwrap()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[track_caller]
fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn each_event_is_a_line_with_its_reason_across_folds_and_new_ledgers() {
    let home = Home::new();
    home.set("before", "1");
    let mut watcher = Watcher::start(&home, &["--json"]);
    home.get("none").expect_miss();
    home.write("a.rs", "1");
    let named = ["--paths", "a.rs", "--query", "q", "--operation", "audit"];
    home.cache(
        &[&["set", "--condensed", "1", "--took", "2m", "--sources", "a.rs"], &named[..]].concat(),
    )
    .expect(0);
    home.cache(&[&["get"], &named[..]].concat()).expect(0);
    home.cache(&["stats"]).expect(0);
    home.write("a.rs", "changed");
    home.cache(&[&["get"], &named[..]].concat()).expect(1);
    let elsewhere = format!("sqlite:{}", home.path("elsewhere.db").display());
    home.cache(&["get", "--key", "other", "--store", &elsewhere]).expect(1);
    let events: Vec<Value> = (0..5).map(|_| watcher.json()).collect();
    let of = |field: &str| -> Vec<&Value> { events.iter().map(|event| &event[field]).collect() };
    assert_eq!(of("what"), ["absent", "stored", "hit", "invalidated", "absent"]);
    assert_eq!(of("key")[4], "other");
    assert_eq!(events[2]["identity"], "audit");
    assert_eq!(events[2]["saved"]["millis"], 120_000);
    assert_eq!(events[3]["reason"], "source_modified");
    assert_eq!(events[3]["explained"], "a.rs changed");
}

#[test]
fn lines_for_people_and_look_ups_alone() {
    let home = Home::new();
    let mut watcher = Watcher::start(&home, &["--look-ups"]);
    home.set("k", "1");
    home.get("k").expect_hit("1");
    home.get("\u{6b}none").expect_miss();
    let (hit, miss) = (watcher.next(), watcher.next());
    let words: Vec<&str> = hit.split_whitespace().collect();
    assert_eq!(
        (words[1], words[2], words[3], words[5]),
        ("hit", "result", "k", "project"),
        "{hit}"
    );
    assert!(words[0].ends_with('Z') && words[4].ends_with("ms"), "{hit}");
    assert!(miss.contains("absent") && miss.contains("knone"), "{miss}");
    assert!(!hit.contains('\u{1b}'));
}

#[test]
fn it_ends_when_nobody_reads_any_more() {
    let home = Home::new();
    let mut watcher = Watcher::start(&home, &[]);
    let process = &mut watcher.process;
    assert!(process.try_wait().unwrap().is_none());
    // Its reader goes; nothing happens that it could tell.
    let empty = BufReader::new(
        std::process::Command::new("true")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
            .stdout
            .take()
            .unwrap(),
    );
    drop(std::mem::replace(&mut watcher.lines, empty.lines()));
    let process = &mut watcher.process;
    wait("the end", || process.try_wait().unwrap().is_some_and(|status| status.code() == Some(0)));
    let mut rest = String::new();
    let _ = process.stdout.as_mut().map(|out| out.read_to_string(&mut rest));
    assert_eq!(rest, "");
}
