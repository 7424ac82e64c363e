//! `get --token` and `set --since`: two commands with the work in between.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use crate::support::{Home, Output};

fn scene() -> Home {
    let home = Home::new();
    home.write("src/a.rs", "one");
    home
}

/// The token that a `get` which missed printed.
fn token(home: &Home, sources: &[&str]) -> String {
    let output = home.cache(&[&["get", "--key", "k", "--token"], sources].concat()).expect(1);
    let token = output.text();
    assert_eq!(token.lines().count(), 1, "{token:?}");
    token.trim_end().to_owned()
}

fn set(home: &Home, token: &str, sources: &str) -> Output {
    let set = ["set", "--key", "k", "--condensed", "1", "--sources", sources, "--since", token];
    home.cache(&set)
}

#[test]
fn unchanged_sources_are_stored() {
    for sources in ["src/a.rs", "src", "src/*.rs"] {
        let home = scene();
        let token = token(&home, &["--sources", sources]);
        set(&home, &token, sources).expect(0);
        home.get("k").expect_hit("1");
    }
}

#[test]
fn a_change_a_new_file_and_an_edit_that_was_undone_are_refused() {
    type Change = fn(&Home);
    let changes: [Change; 3] = [
        |home| drop(home.write("src/a.rs", "two")),
        |home| drop(home.write("src/new.rs", "")),
        |home| {
            home.write("src/a.rs", "two");
            home.write("src/a.rs", "one");
        },
    ];
    for change in changes {
        let home = scene();
        let token = token(&home, &["--sources", "src"]);
        change(&home);
        set(&home, &token, "src").expect_failure("not cached: ");
        home.get("k").expect_miss();
    }
}

#[test]
fn a_refusal_keeps_an_earlier_value() {
    let home = scene();
    let token = token(&home, &["--sources", "src"]);
    home.set("k", "0");
    home.write("src/a.rs", "two");
    set(&home, &token, "src").expect_failure("not cached: ");
    home.get("k").expect_hit("0");
}

#[test]
fn a_token_for_other_sources_is_refused() {
    let home = scene();
    home.write("src/b.rs", "b");
    let token = token(&home, &["--sources", "src/a.rs"]);
    for other in ["src/b.rs", "src", ""] {
        set(&home, &token, other).expect_failure("the token was issued for other sources");
    }
    home.get("k").expect_miss();
}

#[test]
fn without_sources_a_token_tells_older_files_from_newer_ones() {
    let home = scene();
    let source = home.project().join("src/a.rs");
    // Its time of change can't be set, so it has to grow old.
    std::thread::sleep(Duration::from_millis(300));
    set(&home, &token(&home, &[]), "src/a.rs").expect(0);
    home.get("k").expect_hit("1");
    home.cache(&["delete", "--key", "k"]).expect(0);
    let token = token(&home, &[]);
    let later = SystemTime::now() + Duration::from_hours(1);
    let file = File::options().write(true).open(source).unwrap();
    file.set_times(FileTimes::new().set_modified(later)).unwrap();
    set(&home, &token, "src/a.rs").expect_failure("the source src/a.rs has changed");
    home.get("k").expect_miss();
}

#[test]
fn a_token_from_the_future_was_not_given_out_by_us() {
    let home = scene();
    let since = format!("r1-{}", 4_000_000_000_000_u64);
    set(&home, &since, "src/a.rs").expect_failure("the token was issued for other sources");
    home.get("k").expect_miss();
}

#[test]
fn what_is_no_token_is_wrong_usage() {
    let home = scene();
    for garbage in ["", "token", "r1-", "r9-1", "r1-1-zz"] {
        set(&home, garbage, "src/a.rs").expect_usage("invalid --since");
    }
    home.get("k").expect_miss();
}

#[test]
fn json_carries_the_token() {
    let home = scene();
    let args = ["get", "--key", "k", "--json", "--token", "--sources", "src"];
    let miss = home.cache(&args).expect(1).json();
    assert_eq!((&miss["status"], &miss["key"]), (&"miss".into(), &"k".into()));
    set(&home, miss["token"].as_str().unwrap(), "src").expect(0);
    let without = home.cache(&["get", "--key", "none", "--json"]).expect(1).json();
    assert!(without.get("token").is_none(), "only when it was asked for");
}

#[test]
fn a_hit_prints_the_result_and_no_token() {
    let home = scene();
    home.set("k", "1");
    home.cache(&["get", "--key", "k", "--token", "--sources", "src"]).expect_hit("1");
}

#[test]
fn sources_are_for_the_token_alone() {
    scene().cache(&["get", "--key", "k", "--sources", "src"]).expect_usage("--token");
}
