//! `recoup exec` with real commands: run once, replayed byte for byte, and as
//! if nobody stood in between.

mod agent_rules;
mod crowd;
mod faults;
mod flags;
mod identity;
mod input;
mod large;
mod signals;
mod stale;
mod streams;
mod terminal;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Home, Output};

/// Leaves a trace of each run beside the project.
const COUNT: &str = "echo run >> ../runs; ";

/// `recoup exec FLAGS -- sh -c SCRIPT`.
fn words<'a>(flags: &[&'a str], script: &'a str) -> Vec<&'a str> {
    [&["exec"], flags, &["--", "sh", "-c", script]].concat()
}

fn exec(home: &Home, flags: &[&str], script: &str) -> Output {
    home.run(&words(flags, script))
}

/// How often a command that counts was really run.
fn runs(home: &Home) -> usize {
    fs::read_to_string(home.path("runs")).unwrap_or_default().lines().count()
}

/// Waits for something that must come.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

impl Output {
    /// The command's own output, and nothing of ours.
    #[track_caller]
    fn said(self, code: i32, stdout: &str, stderr: &str) {
        let this = self.expect(code);
        assert_eq!((this.text().as_str(), this.stderr.as_str()), (stdout, stderr));
    }

    /// The same from the cache, with `-v`.
    #[track_caller]
    fn said_by_a_hit(self, stdout: &str) {
        let this = self.expect(0);
        assert_eq!(this.text(), stdout);
        let age = this.stderr.strip_prefix("recoup: hit: ").and_then(|rest| rest.split_once(' '));
        assert!(age.is_some_and(|(_, unit)| unit == "s old\n"), "{}", this.stderr);
    }
}

#[test]
fn a_command_runs_once_and_is_replayed() {
    let home = Home::new();
    for _ in 0..3 {
        let script = format!("{COUNT}echo out; printf err >&2");
        exec(&home, &[], &script).said(0, "out\n", "err");
    }
    assert_eq!(runs(&home), 1);
}

#[test]
fn without_dashes_the_first_word_that_is_no_flag_is_the_command() {
    let home = Home::new();
    home.run(&["exec", "-v", "echo", "--ttl", "-v"]).expect(0);
    let again = home.run(&["exec", "echo", "--ttl", "-v"]);
    again.said(0, "--ttl -v\n", "");
}

#[test]
fn verbose_says_what_happened() {
    let home = Home::new();
    exec(&home, &["-v"], "echo x").said(0, "x\n", "recoup: miss: no entry for this key\n");
    exec(&home, &["-v"], "echo x").said_by_a_hit("x\n");
}

#[test]
fn nothing_at_all_is_replayed_too() {
    let home = Home::new();
    exec(&home, &[], COUNT).said(0, "", "");
    exec(&home, &[], COUNT).said(0, "", "");
    assert_eq!(runs(&home), 1);
}

#[test]
fn failures_are_not_kept() {
    let home = Home::new();
    for _ in 0..2 {
        exec(&home, &[], &format!("{COUNT}echo no; exit 3")).said(3, "no\n", "");
    }
    assert_eq!(runs(&home), 2);
}

#[test]
fn failures_are_kept_when_asked_for() {
    let home = Home::new();
    for code in [1, 3, 124, 125, 255] {
        for _ in 0..2 {
            let script = format!("{COUNT}echo no >&2; exit {code}");
            exec(&home, &["--cache-failures", "1h"], &script).said(code, "", "no\n");
        }
    }
    assert_eq!(runs(&home), 5);
}

#[test]
fn the_entry_tells_what_it_is_about() {
    let home = Home::new();
    exec(&home, &["--tag", "nightly"], "sleep 0.05; echo x").expect(0);
    let listed = home.cache(&["ls", "--json"]).json();
    let entry = &listed[0];
    assert_eq!(entry["kind"], "command");
    assert_eq!(entry["tags"][0], "nightly");
    assert_eq!(entry["identity"]["name"], "sh");
    assert!(entry["cost"]["millis"].as_u64().unwrap() >= 50, "{entry}");
    let text = home.cache(&["ls"]).text();
    assert!(text.contains("sh -c 'sleep 0.05; echo x'"), "{text}");
    home.cache(&["invalidate", "--tag", "nightly"]).expect(0);
    exec(&home, &["--only-if-cached"], "sleep 0.05; echo x").expect(124);
}
