//! `recoup key`: the keys of agent runs, and the canonical JSON that keys of
//! JSON are made from.

use std::fs;

use crate::support::{Home, Output};

const RUN: [&str; 8] = [
    "--agent", "reviewer", "--system", "You review code.", "--user", "Review src/auth.rs",
    "--model", "claude-sonnet-4-5",
];
const RUN_KEY: &str = "6cbe1a0aefa451b6ba0645d4dbb968637955465d7fc93e1baa8ca13b4e50393f\n";

fn agent_run(home: &Home, args: &[&str]) -> Output {
    home.run(&[&["key", "agent-run"], args].concat())
}

fn with_prompts<'a>(system: &'a str, user: &'a str) -> [&'a str; 8] {
    let mut args = RUN;
    (args[3], args[5]) = (system, user);
    args
}

#[test]
fn an_agent_run_has_the_key_of_the_contract() {
    let output = agent_run(&Home::new(), &RUN).expect(0);
    assert_eq!(output.text(), RUN_KEY);
    assert_eq!(output.stderr, "");
}

#[test]
fn prompts_may_come_from_files() {
    let home = Home::new();
    home.write("system.txt", "You review code.");
    home.write("user.txt", "Review src/auth.rs");
    let output = agent_run(&home, &with_prompts("@system.txt", "@user.txt")).expect(0);
    assert_eq!(output.text(), RUN_KEY);
}

#[test]
fn a_boundary_between_fields_can_not_be_moved() {
    let home = Home::new();
    let run = |agent, system| {
        let args = ["--agent", agent, "--system", system, "--user", "u", "--model", "m"];
        agent_run(&home, &args).expect(0).text()
    };
    assert_ne!(run("ab", ""), run("a", "b"));
}

#[test]
fn values_may_begin_with_a_hyphen() {
    let args = ["--agent", "-a", "--system", "- one\n- two", "--user", "--help", "--model", "-m"];
    let output = agent_run(&Home::new(), &args).expect(0);
    assert_eq!(output.stdout.len(), 65);
}

#[test]
fn a_nul_byte_in_a_file_is_refused() {
    let home = Home::new();
    home.write("user.txt", b"Review\0src");
    agent_run(&home, &with_prompts("s", "@user.txt")).expect_usage("\"user\" contains a NUL byte");
}

#[test]
fn a_file_that_is_missing_or_no_text_is_named() {
    let home = Home::new();
    agent_run(&home, &with_prompts("s", "@gone.txt")).expect_failure("gone.txt");
    fs::write(home.project().join("latin1.txt"), b"caf\xe9").unwrap();
    agent_run(&home, &with_prompts("s", "@latin1.txt")).expect_failure("--user is not valid UTF-8");
}

#[test]
fn every_field_of_an_agent_run_is_required() {
    agent_run(&Home::new(), &RUN[..6]).expect_usage("--model");
}

#[test]
fn canonical_json_from_an_argument_a_file_and_stdin() {
    let home = Home::new();
    let (given, canonical) =
        (r#"{ "b": 1.0, "a": [1E30, "\u20ac"] }"#, r#"{"a":[1e+30,"€"],"b":1}"#);
    home.write("x.json", given);
    let expected = format!("{canonical}\n");
    for output in [
        home.run(&["key", "canonical", given]),
        home.run(&["key", "canonical", "@x.json"]),
        home.run_with_stdin(&["key", "canonical"], given.as_bytes()),
        home.run_with_stdin(&["key", "canonical", "-"], given.as_bytes()),
    ] {
        assert_eq!(output.expect(0).text(), expected);
    }
}

#[test]
fn a_negative_number_is_json_too() {
    assert_eq!(Home::new().run(&["key", "canonical", "-5"]).expect(0).text(), "-5\n");
}

#[test]
fn the_hash_of_canonical_json_ignores_how_it_was_written() {
    let home = Home::new();
    let hash = |json: &str| home.run(&["key", "canonical", "--sha256", json]).expect(0).text();
    assert_eq!(hash("{}"), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n");
    assert_eq!(hash(r#"{"a":1,"b":2}"#), hash("{ \"b\" : 2.0, \"a\": 1 }"));
    assert_ne!(hash(r#"{"a":1,"b":2}"#), hash(r#"{"a":2,"b":1}"#));
}

#[test]
fn what_has_no_canonical_form_is_refused_with_its_place() {
    let home = Home::new();
    for (json, words) in [
        ("{\"a\":[1,}", "not JSON"),
        ("", "not JSON"),
        (r#"{"a":1,"a":2}"#, "occurs twice"),
        (r#"{"n":[9007199254740993]}"#, "$.n[0]"),
        (r#""\ud800""#, "lone surrogate"),
    ] {
        home.run(&["key", "canonical", json]).expect_usage(words);
        home.run_with_stdin(&["key", "canonical"], json.as_bytes()).expect_failure(words);
    }
    home.run_with_stdin(&["key", "canonical"], b"\"\xff\"").expect_failure("not valid UTF-8");
}
