//! `--condensed` takes JSON as it is, from a file or from stdin, and takes
//! nothing else.

use std::process::Stdio;

use crate::support::{Home, finish};

#[test]
fn a_result_may_come_from_a_file() {
    let home = Home::new();
    home.write("out/result.json", "[1,\n2]\n");
    home.set("k", "@out/result.json");
    home.get("k").expect_hit("[1,\n2]\n");
}

#[test]
fn a_file_that_is_missing_is_named() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "@gone.json"]).expect_failure("gone.json");
    assert!(!home.recoup().exists(), "nothing was begun");
}

#[test]
fn a_directory_is_no_file() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "@."]).expect(1);
}

#[test]
fn what_is_not_json_is_refused_and_leaves_the_old_value() {
    let home = Home::new();
    home.set("k", "{\"old\":true}");
    let bodies = ["", " ", "nope", "{", "{\"a\":1}}", "[1,]", "{'a':1}", "NaN", "1 2", "\"a\nb\""];
    for body in bodies {
        home.cache(&["set", "--key", "k", "--condensed", body])
            .expect_usage("Invalid JSON in --condensed");
        home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body.as_bytes())
            .expect_failure("Invalid JSON in --condensed");
        home.get("k").expect_hit("{\"old\":true}");
    }
}

#[test]
fn json_is_utf_8() {
    let home = Home::new();
    for body in [&b"\"\xff\""[..], b"\xef\xbb\xbf{}", b"\xff\xfe1\0"] {
        home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body)
            .expect_failure("Invalid JSON in --condensed");
    }
    home.get("k").expect_miss();
}

#[test]
fn a_refused_result_makes_no_home() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "nope"]).expect(2);
    assert!(!home.recoup().exists());
}

#[test]
fn a_closed_stdin_is_no_json() {
    let home = Home::new();
    let mut command = home.command(&["cache", "set", "--key", "k", "--condensed", "-"]);
    finish(command.stdin(Stdio::null())).expect_failure("Invalid JSON in --condensed");
}
