//! Each command: what it prints, and how it exits.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{early_exit, with_stdin};
use crate::support::Home;

#[test]
fn check_says_go_on_until_somebody_has_won() {
    let home = Home::new();
    let output = early_exit(&home, &["check", "s"]).expect(0);
    assert_eq!((output.text().as_str(), output.stderr.as_str()), ("", ""));
    assert!(!home.recoup().exists(), "asking creates nothing");
    insta::assert_snapshot!(early_exit(&home, &["check", "s", "--json"]).expect(0).text(), @r#"
    {
      "signaled": false,
      "session_id": "s"
    }
    "#);
    let output = early_exit(&home, &["signal", "s", "a"]).expect(0);
    assert_eq!(
        (output.text().as_str(), output.stderr.as_str()),
        ("", "Early-exit signaled by a\n")
    );
    assert_eq!(early_exit(&home, &["check", "s"]).expect(1).text(), "");
    insta::assert_snapshot!(early_exit(&home, &["check", "s", "--json"]).expect(1).text(), @r#"
    {
      "signaled": true,
      "session_id": "s",
      "winner_agent": "a"
    }
    "#);
    early_exit(&home, &["signal", "s", "b"]).expect_failure("Early-exit already signaled by a\n");
    early_exit(&home, &["signal", "s", "a"]).expect_failure("Early-exit already signaled by a\n");
    early_exit(&home, &["signal", "t"]).expect(0);
    early_exit(&home, &["signal", "t", "b"]).expect_failure("already signaled by unknown");
}

#[test]
fn the_winners_result_is_read_as_it_is_or_as_json() {
    let home = Home::new();
    early_exit(&home, &["read-winner", "s"]).expect_failure("No winner in session: s");
    early_exit(&home, &["read-winner", "s", "--json"]).expect_failure("No winner in session: s");
    early_exit(&home, &["signal", "s", "a"]).expect(0);
    early_exit(&home, &["read-winner", "s"]).expect_failure("Winner (a) has no result yet");
    let output = early_exit(&home, &["read-winner", "s", "--json"]).expect(1);
    assert_eq!(output.json(), json!({"session_id": "s", "winner_agent": "a", "result": null}));
    let result = r#"{"z":12345678901234567890123,"a":[1.0,{}]}"#;
    let output = with_stdin(&home, &["write-result", "s", "a"], result).expect(0);
    assert_eq!(output.text(), "");
    early_exit(&home, &["read-winner", "s"]).expect_hit(result);
    insta::assert_snapshot!(early_exit(&home, &["read-winner", "s", "--json"]).expect(0).text(), @r#"
    {
      "session_id": "s",
      "winner_agent": "a",
      "result": {
        "z": 12345678901234567890123,
        "a": [
          1.0,
          {}
        ]
      }
    }
    "#);
    let file = home.write("answer.txt", "no JSON: \"quoted\"\n");
    early_exit(&home, &["write-result", "s", "a", file.to_str().unwrap()]).expect(0);
    assert_eq!(early_exit(&home, &["read-winner", "s"]).expect(0).text(), "no JSON: \"quoted\"\n");
    let output = early_exit(&home, &["read-winner", "s", "--json"]).expect(0);
    assert_eq!(output.json()["result"], json!("no JSON: \"quoted\"\n"));
    early_exit(&home, &["write-result", "s", "a", "missing.json"]).expect_failure("missing.json");
    early_exit(&home, &["read-winner", "s"]).expect(0);
}

#[test]
fn poll_prints_what_read_winner_does_and_gives_up_in_time() {
    let home = Home::new();
    let begun = Instant::now();
    let output = early_exit(&home, &["poll", "s", "--timeout", "400", "--json"]).expect(1);
    assert!(begun.elapsed() >= Duration::from_millis(400));
    insta::assert_snapshot!(output.text(), @r#"
    {
      "error": "timeout",
      "session_id": "s",
      "timeout_ms": 400
    }
    "#);
    let output = early_exit(&home, &["poll", "s", "--timeout", "0.1s", "--json"]).expect(1);
    assert_eq!(output.json()["timeout_ms"], 100, "with a unit, too");
    early_exit(&home, &["poll", "s", "--timeout", "0"])
        .expect_failure("Timeout waiting for winner");
    with_stdin(&home, &["signal", "s", "a", "--result", "-"], "{}").expect(0);
    let begun = Instant::now();
    early_exit(&home, &["poll", "s"]).expect_hit("{}");
    let output = early_exit(&home, &["poll", "s", "--json"]).expect(0);
    assert_eq!(output.json(), json!({"session_id": "s", "winner_agent": "a", "result": {}}));
    assert!(begun.elapsed() < Duration::from_secs(5), "it waits for nothing that is there");
}

#[test]
fn poll_returns_when_the_result_comes() {
    let home = Home::new();
    let mut poll = super::command(&home, &["poll", "s", "--timeout", "60000"]);
    let mut child = poll.stdout(std::process::Stdio::piped()).spawn().unwrap();
    early_exit(&home, &["register", "s", "a"]).expect(0);
    early_exit(&home, &["signal", "s", "a"]).expect(0);
    assert!(child.try_wait().unwrap().is_none());
    with_stdin(&home, &["write-result", "s", "a"], "done").expect(0);
    let begun = Instant::now();
    assert!(child.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn status_tells_about_one_session_or_lists_them() {
    let home = Home::new();
    assert_eq!(early_exit(&home, &["status", "--json"]).expect(0).json(), json!({"sessions": []}));
    early_exit(&home, &["register", "s", "b"]).expect(0);
    early_exit(&home, &["register", "s", "a"]).expect(0);
    with_stdin(&home, &["signal", "s", "b", "--result", "-"], "1").expect(0);
    insta::assert_snapshot!(early_exit(&home, &["status", "s", "--json"]).expect(0).text(), @r#"
    {
      "session_id": "s",
      "signaled": true,
      "winner_agent": "b",
      "registered_agents": [
        "a",
        "b"
      ],
      "results": [
        "b"
      ]
    }
    "#);
    insta::assert_snapshot!(early_exit(&home, &["status", "s"]).expect(0).text(), @"
    session  s
    status   signaled by b
    agents   a, b
    results  b
    ");
    early_exit(&home, &["register", "t", "a"]).expect(0);
    assert_eq!(early_exit(&home, &["status"]).expect(0).text(), "s\nt\n");
    let output = early_exit(&home, &["status", "--json"]).expect(0);
    assert_eq!(output.json(), json!({"sessions": ["s", "t"]}));
    let output = early_exit(&home, &["status", "none", "--json"]).expect(0);
    assert_eq!(output.json()["exists"], json!(false));
    early_exit(&home, &["cleanup", "s"]).expect(0);
    early_exit(&home, &["cleanup", "s"]).expect(0);
    early_exit(&home, &["check", "s"]).expect(0);
    assert_eq!(early_exit(&home, &["status"]).expect(0).text(), "t\n");
}

#[test]
fn names_that_could_leave_the_directory_are_refused() {
    let home = Home::new();
    let precious = home.path("p");
    fs::create_dir_all(&precious).unwrap();
    let long = "x".repeat(129);
    for session in ["../../p", "..", ".", "", "a/b", "a b", "ü", "a\nb", "+locks", &long] {
        for command in ["check", "signal", "cleanup", "read-winner", "poll", "status"] {
            early_exit(&home, &[command, session]).expect_usage("invalid session");
        }
        for command in ["register", "write-result"] {
            early_exit(&home, &[command, session, "a"]).expect_usage("invalid session");
            early_exit(&home, &[command, "s", session]).expect_usage("invalid agent");
        }
        early_exit(&home, &["signal", "s", session]).expect_usage("invalid agent");
        early_exit(&home, &["race", session, "--", "true"]).expect_usage("invalid session");
    }
    early_exit(&home, &["signal", "s", "--lease", "off"]).expect_usage("--lease");
    early_exit(&home, &["poll", "s", "--timeout", "soon"]).expect_usage("soon");
    early_exit(&home, &["check"]).expect_usage("SESSION");
    assert!(precious.is_dir() && !home.recoup().exists());
}

#[test]
fn a_result_with_a_secret_is_refused_and_the_session_stays_open() {
    let home = Home::new();
    let secret = r#"{"password": "secret123"}"#;
    for args in [&["signal", "s", "a", "--result", "-"][..], &["write-result", "s", "a"]] {
        let output = with_stdin(&home, args, secret).expect_failure("Secret patterns detected");
        assert!(!output.stderr.contains("secret123"));
    }
    early_exit(&home, &["check", "s"]).expect(0);
}

#[test]
fn a_large_result_comes_back_whole() {
    let home = Home::new();
    let large = format!("[{}0]", "12345,".repeat(2_000_000));
    let file = home.write("large.json", &large);
    early_exit(&home, &["signal", "s", "a", "--result", file.to_str().unwrap()]).expect(0);
    early_exit(&home, &["read-winner", "s"]).expect_hit(large);
}

#[test]
fn json_within_json_is_as_pretty_as_the_rest() {
    let home = Home::new();
    early_exit(&home, &["signal", "s", "a"]).expect(0);
    for result in [
        r#"{"b":[1,2,{"c":null}],"d":{},"e":[],"f":"a \"q\" \\ , : { é"}"#,
        "[ ]",
        "null",
        r#""text""#,
        "{\n}",
        " [ -1.5e3 , [ ] ]\n",
    ] {
        with_stdin(&home, &["write-result", "s", "a"], result).expect(0);
        let text = early_exit(&home, &["read-winner", "s", "--json"]).expect(0).text();
        let value: serde_json::Value = serde_json::from_str(result).unwrap();
        let inner = serde_json::to_string_pretty(&value).unwrap().replace('\n', "\n  ");
        let outer = "{\n  \"session_id\": \"s\",\n  \"winner_agent\": \"a\",\n  \"result\": ";
        assert_eq!(text.replace("-1.5e3", "-1500.0"), format!("{outer}{inner}\n}}\n"));
    }
}

#[test]
fn however_deep_a_result_is_its_layout_stays_small() {
    let home = Home::new();
    let deep = format!("{}1,2{}", "[".repeat(100_000), "]".repeat(100_000));
    let file = home.write("deep.json", &deep);
    early_exit(&home, &["signal", "s", "a", "--result", file.to_str().unwrap()]).expect(0);
    for command in ["read-winner", "poll"] {
        let text = early_exit(&home, &[command, "s", "--json"]).expect(0).text();
        assert!(text.len() < 2 * deep.len(), "{}", text.len());
        let (_, result) = text.split_once("\"result\": ").unwrap();
        let result: String = result.split_ascii_whitespace().collect();
        assert_eq!(result, format!("{deep}}}"));
    }
}
