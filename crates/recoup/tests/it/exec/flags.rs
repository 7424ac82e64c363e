//! How far the cache is used, and for how long things are kept.

use std::thread;
use std::time::Duration;

use super::{COUNT, exec, runs};
use crate::support::{Home, finish};

#[test]
fn refresh_runs_it_again_and_keeps_the_new_result() {
    let home = Home::new();
    let script = format!("{COUNT}wc -l < ../runs");
    exec(&home, &[], &script).said(0, "1\n", "");
    exec(&home, &["--refresh"], &script).said(0, "2\n", "");
    exec(&home, &[], &script).said(0, "2\n", "");
}

#[test]
fn no_cache_neither_looks_nor_keeps() {
    let home = Home::new();
    let script = format!("{COUNT}wc -l < ../runs");
    exec(&home, &["--no-cache"], &script).said(0, "1\n", "");
    exec(&home, &[], &script).said(0, "2\n", "");
    exec(&home, &["--no-cache"], &script).said(0, "3\n", "");
    exec(&home, &[], &script).said(0, "2\n", "");
}

#[test]
fn only_if_cached_never_runs_it() {
    let home = Home::new();
    let script = format!("{COUNT}echo x");
    exec(&home, &["--only-if-cached"], &script).said(
        124,
        "",
        "recoup: not in the cache: no entry for this key\n",
    );
    assert_eq!(runs(&home), 0);
    exec(&home, &[], &script).expect(0);
    exec(&home, &["--only-if-cached"], &script).said(0, "x\n", "");
    finish(
        home.command(&super::words(&["--only-if-cached"], &script))
            .env("RECOUP_CACHE_ENABLED", "false"),
    )
    .said(124, "", "recoup: not in the cache: the cache is switched off\n");
}

#[test]
fn the_duration_is_a_day_or_what_was_said() {
    let home = Home::new();
    exec(&home, &[], "echo day").expect(0);
    let day = home.cache(&["ls"]).text();
    assert!(day.contains("in 24h") || day.contains("in 1d"), "{day}");
    let off = format!("{COUNT}echo off");
    exec(&home, &["--ttl", "off"], &off).said(0, "off\n", "");
    exec(&home, &["--ttl", "off"], &off).said(0, "off\n", "");
    assert_eq!(runs(&home), 2);
    let short = format!("{COUNT}echo short");
    exec(&home, &["--ttl", "1ms"], &short).expect(0);
    thread::sleep(Duration::from_millis(5));
    exec(&home, &["--ttl", "1ms"], &short).expect(0);
    assert_eq!(runs(&home), 4);
}

#[test]
fn nothing_older_than_asked_for() {
    let home = Home::new();
    exec(&home, &[], COUNT).expect(0);
    exec(&home, &["--max-age", "1h"], COUNT).expect(0);
    assert_eq!(runs(&home), 1);
    thread::sleep(Duration::from_millis(5));
    exec(&home, &["--max-age", "1ms"], COUNT).expect(0);
    assert_eq!(runs(&home), 2);
}

#[test]
fn scopes_and_stores_are_apart() {
    let home = Home::new();
    let other = format!("sqlite:{}", home.path("other.db").display());
    for flags in [&["--scope", "global"][..], &["--scope", "tenant:a"], &["--store", &other], &[]] {
        exec(&home, flags, COUNT).expect(0);
        exec(&home, flags, COUNT).expect(0);
    }
    assert_eq!(runs(&home), 4);
}

#[test]
fn wrong_usage_is_a_failure_of_ours() {
    let home = Home::new();
    for flags in [
        &["--bogus"][..],
        &["--ttl", "5 min"],
        &["--max-age", "x"],
        &["--env", "A=b"],
        &["--env", ""],
        &["--scope", "nobody"],
        &["--refresh", "--no-cache"],
        &["--stdin", "--tty"],
        &["--source", "not-there.rs"],
        &["--wait", "soon"],
    ] {
        let output = exec(&home, flags, COUNT).expect(125);
        assert_eq!(output.text(), "", "{flags:?}");
        assert!(output.stderr.contains("error: "), "{}", output.stderr);
    }
    home.run(&["exec"]).expect(125);
    home.run(&["exec", "--ttl", "1h", "--"]).expect(125);
    assert_eq!(runs(&home), 0);
}

/// Files that are made by the way may not be there yet.
#[test]
fn a_glob_that_matches_nothing_yet_stops_nobody() {
    let home = Home::new();
    for _ in 0..2 {
        let output = exec(&home, &["--source", "*.none"], &format!("{COUNT}echo x")).expect(0);
        assert_eq!(output.text(), "x\n");
        assert!(
            output.stderr.starts_with("recoup: warning: not cached: the source \"*.none\" matches"),
            "{}",
            output.stderr
        );
    }
    assert_eq!(runs(&home), 2);
}

#[test]
fn a_tag_with_a_secret_is_refused_before_anything_is_run() {
    let home = Home::new();
    let tag = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let output = exec(&home, &["--tag", &tag], COUNT).expect(125);
    assert!(output.stderr.contains("the key or a tag contains a secret"), "{}", output.stderr);
    assert!(!output.stderr.contains(&tag));
    assert_eq!(runs(&home), 0);
}

#[test]
fn a_refresh_that_fails_says_that_the_earlier_result_stays() {
    let home = Home::new();
    let script = format!("{COUNT}[ $(wc -l < ../runs) = 1 ]");
    exec(&home, &[], &script).said(0, "", "");
    let told = "recoup: the earlier result stays in the cache\n";
    exec(&home, &["--refresh"], &script).said(1, "", told);
    exec(&home, &[], &script).said(0, "", "");
    exec(&home, &["--refresh"], &format!("{script}; exit 9")).said(9, "", "");
}

#[test]
fn a_cache_that_is_off_is_out_of_the_way() {
    let home = Home::new();
    for _ in 0..2 {
        let mut command = home.command(&super::words(&[], COUNT));
        finish(command.env("RECOUP_CACHE_ENABLED", "false")).said(0, "", "");
    }
    assert_eq!(runs(&home), 2);
}

#[test]
fn a_failure_is_replayed_only_to_those_who_want_failures() {
    let home = Home::new();
    let script = format!("{COUNT}exit 4");
    exec(&home, &["--cache-failures", "1h"], &script).expect(4);
    exec(&home, &["--cache-failures", "1h"], &script).expect(4);
    assert_eq!(runs(&home), 1);
    exec(&home, &["--only-if-cached"], &script).expect(124);
    exec(&home, &[], &script).expect(4);
    assert_eq!(runs(&home), 2);
    exec(&home, &["--cache-failures", "1ms"], &script).expect(4);
    assert_eq!(runs(&home), 3, "for as long as the reader says");
}

#[test]
fn a_failure_is_never_served_past_its_time() {
    let home = Home::new();
    let script = format!("{COUNT}exit 4");
    let flags = ["--cache-failures", "1ms", "--stale-while-revalidate", "1h"];
    exec(&home, &flags, &script).expect(4);
    exec(&home, &flags, &script).expect(4);
    assert_eq!(runs(&home), 2);
}

#[test]
fn the_readers_ttl_counts_too() {
    let home = Home::new();
    let script = format!("{COUNT}echo x");
    exec(&home, &[], &script).expect(0);
    thread::sleep(Duration::from_millis(5));
    exec(&home, &["--ttl", "1ms"], &script).expect(0);
    assert_eq!(runs(&home), 2);
    exec(&home, &["--ttl", "off"], &script).expect(0);
    assert_eq!(runs(&home), 3, "nothing kept is meant");
}
