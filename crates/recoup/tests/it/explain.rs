//! `recoup explain`: why something is a hit or a miss, in words.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::{Home, Output, finish};

/// What is said on stdout, with keys and times left out.
#[track_caller]
fn told(output: &Output) -> String {
    let text = output.text();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let masked: Vec<String> = words
            .iter()
            .enumerate()
            .map(|(at, word)| {
                let next = words.get(at + 1).copied().unwrap_or_default();
                let is_unit = ["ms", "s", "minutes", "minute", "h", "day", "days"]
                    .contains(&next.trim_end_matches(','));
                if is_unit && word.parse::<u64>().is_ok() {
                    return "N".to_owned();
                }
                let hex = word.trim_end_matches(',');
                if hex.len() == 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return word.replace(hex, "KEY");
                }
                (*word).to_owned()
            })
            .collect();
        lines.push(masked.join(" ").replace("N ms", "N s").replace("N s ago", "N ago"));
    }
    lines.join("\n")
}

/// The exit code says whether it is a miss.
#[track_caller]
fn explain(home: &Home, args: &[&str]) -> String {
    let output = home.run(&[&["explain"], args].concat());
    let is_miss = output.text().starts_with("miss: ");
    told(&output.expect(i32::from(is_miss)))
}

fn explain_exec(home: &Home, flags: &[&str], command: &[&str]) -> String {
    explain(home, &[&["exec"], flags, &["--"], command].concat())
}

fn exec(home: &Home, flags: &[&str], command: &[&str]) {
    home.run(&[&["exec"], flags, &["--"], command].concat()).expect(0);
}

#[test]
fn a_command_that_is_kept_and_one_that_is_not() {
    let home = Home::new();
    let flags = ["--source", "src/**"];
    home.write("src/auth.rs", "one");
    assert_eq!(explain_exec(&home, &flags, &["echo", "a b"]), "miss: no entry for this key");
    exec(&home, &flags, &["echo", "a b"]);
    assert_eq!(explain_exec(&home, &flags, &["echo", "a b"]), "hit: N s old, expires in N h");
    assert_eq!(home.cache(&["stats", "--json"]).json()["hits"], 0, "nothing is counted");
}

#[test]
fn sources_that_changed_are_named_with_the_time() {
    let home = Home::new();
    for name in ["auth.rs", "gone.rs"] {
        home.write(&format!("src/{name}"), "one");
    }
    exec(&home, &["--source", "src/**"], &["true"]);
    home.write("src/auth.rs", "changed");
    home.write("src/new.rs", "");
    fs::remove_file(home.project().join("src/gone.rs")).unwrap();
    insta::assert_snapshot!(explain_exec(&home, &["--source", "src/**"], &["true"]), @"
    miss: an entry exists, but cannot be used
      sources: src/auth.rs changed N ago
      sources: src/gone.rs is gone
      sources: src/new.rs is new, modified N ago
    ");
}

#[test]
fn of_very_many_changes_some_are_named() {
    let home = Home::new();
    let name = |n: usize| format!("src/{n:02}.rs");
    (0..30).for_each(|n| drop(home.write(&name(n), "one")));
    exec(&home, &["--source", "src"], &["true"]);
    (0..30).for_each(|n| drop(home.write(&name(n), "another")));
    let told = explain_exec(&home, &["--source", "src"], &["true"]);
    assert_eq!(told.lines().count(), 12);
    assert!(told.ends_with("\n  sources: and 20 more"), "{told}");
}

#[test]
fn what_differs_from_the_nearest_is_named() {
    let home = Home::new();
    exec(&home, &["--env", "FLAGS", "--key-extra", "v1"], &["echo", "review", "src"]);
    insta::assert_snapshot!(
        explain_exec(&home, &["--env", "FLAGS", "--key-extra", "v1"], &["echo", "review", "lib"]),
        @"
    miss: no entry for this key
    nearest: KEY, created N ago, differs in:
      arguments: differs in the last word: “lib”, was “src”
    ");
    insta::assert_snapshot!(
        explain_exec(&home, &["--env", "FLAGS", "--key-extra", "v2"], &["echo", "review", "src"]),
        @"
    miss: no entry for this key
    nearest: KEY, created N ago, differs in:
      extra: now “v2”, was “v1”
    ");
    let words = ["explain", "exec", "--env", "FLAGS", "--key-extra", "v1", "echo", "review", "src"];
    let set = told(&finish(home.command(&words).env("FLAGS", "x")).expect(1));
    insta::assert_snapshot!(set, @"
    miss: no entry for this key
    nearest: KEY, created N ago, differs in:
      env FLAGS: set, was unset
    ");
}

#[test]
fn a_value_that_is_not_kept_is_inferred() {
    let home = Home::new();
    let run = |verb: &[&str], value: &str| {
        let words =
            [verb, &["exec", "--env", "MODEL", "--env", "OTHER", "--", "echo", "x"]].concat();
        finish(home.command(&words).env("MODEL", value).env("OTHER", "same"))
    };
    run(&[], "one").expect(0);
    insta::assert_snapshot!(told(&run(&["explain"], "two").expect(1)), @"
    miss: no entry for this key
    nearest: KEY, created N ago, differs in:
      env: different value of MODEL or OTHER
    ");
}

#[test]
fn a_program_that_was_replaced_is_named() {
    let home = Home::new();
    let make = |text: &str| {
        let script = format!(
            "printf '#!/bin/sh\\necho {text}' > tool.new; chmod +x tool.new; mv tool.new tool"
        );
        assert!(home.prepared("sh", &["-c", &script]).status().unwrap().success());
    };
    make("one");
    exec(&home, &[], &["./tool"]);
    make("another");
    let told = explain_exec(&home, &[], &["./tool"]);
    assert!(told.contains("\n  sources: tool changed "), "{told}");
}

#[test]
fn what_has_expired_says_when_and_after_how_long() {
    let home = Home::new();
    exec(&home, &["--ttl", "1ms"], &["echo", "x"]);
    thread::sleep(Duration::from_millis(5));
    insta::assert_snapshot!(explain_exec(&home, &[], &["echo", "x"]), @"
    miss: an entry exists, but cannot be used
      expired N ago (ttl 1ms)
    ");
}

#[test]
fn what_was_refused_says_why() {
    let home = Home::new();
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    exec(&home, &[], &["echo", &token]);
    let told = explain_exec(&home, &[], &["echo", &token]);
    insta::assert_snapshot!(told, @"
    miss: no entry for this key
      refused: secret (github token), N ago
    ");
}

#[test]
fn what_gave_way_says_to_what() {
    let home = Home::new();
    let limited = |args: &[&str]| {
        finish(home.command(args).env("RECOUP_CACHE_MAX_ENTRIES", "2")).expect(0);
    };
    for word in ["one", "two", "three"] {
        limited(&["exec", "--", "echo", word]);
        thread::sleep(Duration::from_millis(5));
    }
    let told = explain_exec(&home, &[], &["echo", "one"]);
    let lines: Vec<&str> = told.lines().take(2).collect();
    assert_eq!(lines, ["miss: no entry for this key", "  evicted: over 2 entries, N ago"]);
}

#[test]
fn what_was_deleted_or_cleared_says_so() {
    let home = Home::new();
    home.set("one", "{}");
    home.set("two", "{}");
    home.cache(&["delete", "--key", "one"]).expect(0);
    home.cache(&["clear", "--yes"]).expect(0);
    for key in ["one", "two"] {
        let told = explain(&home, &[key]);
        let lines: Vec<&str> = told.lines().take(2).collect();
        assert_eq!(lines, ["miss: no entry for this key", "  deleted, N ago"], "{key}");
    }
}

#[test]
fn output_that_was_too_large_says_so() {
    let home = Home::new();
    let command = ["head", "-c", "3000000", "/dev/zero"];
    let mut run = home.command(&[&["exec", "--"], &command[..]].concat());
    finish(run.env("RECOUP_CACHE_MAX_SIZE_MB", "1")).expect(0);
    insta::assert_snapshot!(explain_exec(&home, &[], &command), @"
    miss: no entry for this key
      refused: 1.0 MB is over the limit of 1 MB, N ago
    ");
}

#[test]
fn why_a_run_was_not_kept_is_told() {
    let home = Home::new();
    home.run(&["exec", "--", "false"]).expect(1);
    insta::assert_snapshot!(explain_exec(&home, &[], &["false"]), @"
    miss: no entry for this key
      refused: exit code 1, N ago
    ");
    let script = ["sh", "-c", "sleep 5 & echo x"];
    exec(&home, &[], &script);
    let told = explain_exec(&home, &[], &script);
    assert!(told.contains("refused: a background process of the command"), "{told}");
}

#[test]
fn what_would_not_be_kept_is_told() {
    let home = Home::new();
    let told = explain_exec(&home, &["--source", "*.none"], &["true"]);
    assert!(told.contains("\n  sources: the source \"*.none\" matches no file"), "{told}");
}

#[test]
fn a_failure_that_is_kept_is_no_hit_for_who_does_not_want_failures() {
    let home = Home::new();
    let command = ["sh", "-c", "exit 3"];
    home.run(&[&["exec", "--cache-failures", "1h", "--"], &command[..]].concat()).expect(3);
    insta::assert_snapshot!(explain_exec(&home, &[], &command), @"
    miss: an entry exists, but cannot be used
      the stored result is a failure; use --cache-failures to accept it
    ");
    for _ in 0..3 {
        home.run(&[&["exec", "--"], &command[..]].concat()).expect(3);
    }
    assert_eq!(home.cache(&["stats", "--json"]).json()["hits"], 0, "nothing was replayed");
    let told = explain_exec(&home, &["--cache-failures", "1h"], &command);
    assert!(told.starts_with("hit: "), "{told}");
}

#[test]
fn credentials_of_the_environment_are_not_repeated() {
    let home = Home::new();
    let value = "hunter2-zebra-quux-77";
    exec(&home, &[], &["echo", "hello", "world", "foo"]);
    let words = ["explain", "--json", "exec", "--", "echo", "hello", "world", value];
    let output = finish(home.command(&words).env("MY_API_TOKEN", value)).expect(1);
    assert!(!output.text().contains(value), "{}", output.text());
    assert!(output.text().contains("[redacted: environment-credential]"), "{}", output.text());
    home.run(&[
        "exec",
        "--env",
        &format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a"),
        "true",
    ])
    .expect(125);
}

/// What the end of a preview cuts off must not make the rest of a secret harmless.
#[test]
fn secrets_at_the_end_of_a_preview_are_not_kept_in_part() {
    let home = Home::new();
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    for padding in 150..200 {
        exec(&home, &[], &["true", &"x".repeat(padding), &token]);
    }
    assert!(!home.cache(&["ls", "--json"]).expect(0).text().contains("ghp_"));
}

#[test]
fn asking_changes_nothing() {
    let home = Home::new();
    home.run(&["explain", "exec", "--", "true"]).expect(1);
    assert!(!home.recoup().exists());
}

#[test]
fn a_key_is_that_very_key_and_its_beginning_is_named() {
    let home = Home::new();
    let key = "0123456789abcdef".repeat(4);
    home.set(&key, "{}");
    assert_eq!(explain(&home, &["--key", "76543210"]), "miss: no entry for this key");
    assert!(explain(&home, &["--key", "01234567"]).starts_with("hit: "));
    let output = home.run(&["explain", "01234567"]).expect(0);
    assert_eq!(output.stderr, format!("entry {key}:\n"));
    assert!(output.text().starts_with("hit: "), "{}", output.text());
    let parts = ["--paths", "a", "--query", "b", "--operation", "c"];
    home.run(&[&["explain", "review"], &parts[..]].concat()).expect(2);
}

#[test]
fn programs_can_tell_the_reasons_apart() {
    let home = Home::new();
    let code = |output: Output| output.expect(1).json()["causes"][0]["code"].clone();
    let explain = ["explain", "--json", "exec", "--", "true"];
    assert_eq!(code(home.run(&explain)), "absent");
    assert_eq!(code(finish(home.command(&explain).env("RECOUP_CACHE_ENABLED", "0"))), "disabled");
    let refreshing = ["explain", "--json", "exec", "--refresh", "--", "true"];
    assert_eq!(code(home.run(&refreshing)), "asked");
    let away = ["explain", "--json", "--store", "redis://127.0.0.1:1", "key"];
    let output = home.run(&away).expect(1);
    assert_eq!(output.json()["causes"][0]["code"], "store_unavailable");
    assert_eq!(output.json()["text"], "miss: the store is unavailable");
}

#[test]
fn a_result_is_explained_by_its_parts_or_its_key() {
    let home = Home::new();
    let parts = |query: &'static str| ["--paths", "a.rs", "--query", query, "--operation", "audit"];
    let set = [&["set", "--condensed", "{}"][..], &parts("find sql injection")].concat();
    home.cache(&set).expect(0);
    insta::assert_snapshot!(explain(&home, &parts("find sql injections")), @"
    miss: no entry for this key
    nearest: KEY, created N ago, differs in:
      query: differs in the last word: “injections”, was “injection”
    ");
    let key = home.cache(&["ls", "--json"]).json()[0]["key"].as_str().unwrap().to_owned();
    assert_eq!(explain(&home, &[&key]), "hit: N s old, expires in N days");
    assert_eq!(explain(&home, &[&key[..16]]), "hit: N s old, expires in N days");
    assert_eq!(explain(&home, &["--key", &key]), "hit: N s old, expires in N days");
    assert_eq!(explain(&home, &["no-such-key"]), "miss: no entry for this key");
}

#[test]
fn an_agent_run_is_explained() {
    let home = Home::new();
    let words = ["agent-run", "--agent", "a", "--system", "s", "--user", "u", "--model", "m"];
    assert_eq!(explain(&home, &words), "miss: no entry for this key");
}

#[test]
fn programs_get_the_same_in_fields() {
    let home = Home::new();
    exec(&home, &[], &["echo", "one"]);
    let mut json = home.run(&["explain", "--json", "exec", "--", "echo", "two"]).expect(1).json();
    let nearest = json["nearest"].take();
    assert_eq!(json["status"], "miss");
    assert_eq!(json["kind"], "command");
    assert_eq!(json["causes"], serde_json::json!([{ "code": "absent" }]));
    let difference = &nearest["differences"][0];
    assert_eq!(difference["part"], "arguments");
    assert_eq!((&difference["now"], &difference["was"]), (&"two".into(), &"one".into()));
    home.write("source", "one");
    exec(&home, &["--source", "source"], &["echo", "one"]);
    home.write("source", "another");
    let words = ["explain", "--json", "exec", "--source", "source", "--", "echo", "one"];
    let cause = home.run(&words).expect(1).json()["causes"][0].take();
    assert_eq!((&cause["code"], &cause["path"]), (&"source_modified".into(), &"source".into()));
}

#[test]
fn commands_that_look_something_up_explain_it_by_the_way() {
    let home = Home::new();
    let output = home.run(&["exec", "--explain", "--", "echo", "one"]).expect(0);
    assert_eq!(output.text(), "one\n");
    assert_eq!(output.stderr, "recoup: miss: no entry for this key\n");
    let output = home.run(&["exec", "--explain", "--", "echo", "one"]).expect(0);
    assert!(output.stderr.starts_with("recoup: hit: "), "{}", output.stderr);
    home.set("key", "{}");
    let output = home.cache(&["get", "--key", "key", "--explain"]).expect(0);
    assert!(output.stderr.starts_with("hit: "), "{}", output.stderr);
    let output = home.cache(&["get", "--key", "other", "--explain"]).expect(1);
    assert_eq!(output.stderr, "miss: no entry for this key\n");
    let output = home.cache(&["get", "--key", "other", "--explain", "--json"]).expect(1);
    assert_eq!(output.json()["status"], "miss");
}

#[test]
fn nothing_is_run_and_a_command_that_is_not_there_is_told() {
    let home = Home::new();
    home.run(&["explain", "exec", "--", "sh", "-c", "touch ../run"]).expect(1);
    assert!(!home.path("run").exists());
    home.run(&["explain", "exec", "--", "no-such-command"]).expect(127);
    home.run(&["explain", "exec", "--no-cache", "--", "true"]).expect(2);
    home.run(&["explain"]).expect(2);
    home.run(&["explain", "key", "exec", "--", "true"]).expect(2);
    home.run(&["explain", "--key", "key", "exec", "--", "true"]).expect(2);
}
