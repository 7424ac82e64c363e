//! A winner that dies before its result.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use super::{early_exit, until, with_stdin};
use crate::support::{Home, RECOUP};

#[test]
fn a_killed_winner_is_replaced_after_its_lease() {
    let home = Home::new();
    // An agent that signals, and is killed before it gets to its result.
    let script = format!("{RECOUP} early-exit signal s dead --lease 2s && echo won; sleep 60");
    let mut agent = home
        .prepared("sh", &["-c", &script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(agent.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "won\n");
    agent.kill().unwrap();
    agent.wait().unwrap();
    early_exit(&home, &["check", "s"]).expect(1);
    early_exit(&home, &["signal", "s", "next"]).expect_failure("already signaled by dead");
    early_exit(&home, &["poll", "s", "--timeout", "10"]).expect(1);
    until("the lease ends", || early_exit(&home, &["check", "s"]).code == Some(0));
    early_exit(&home, &["read-winner", "s"]).expect_failure("No winner");
    with_stdin(&home, &["signal", "s", "next", "--result", "-"], "{}").expect(0);
    let late = with_stdin(&home, &["write-result", "s", "dead"], "late").expect(0);
    assert!(late.stderr.contains("the winner of this session is next"), "{}", late.stderr);
    let output = early_exit(&home, &["read-winner", "s", "--json"]).expect(0);
    assert_eq!(output.json(), json!({"session_id": "s", "winner_agent": "next", "result": {}}));
}

#[test]
fn poll_waits_for_the_winner_that_replaces_a_dead_one() {
    let home = Home::new();
    early_exit(&home, &["signal", "s", "dead", "--lease", "300ms"]).expect(0);
    let mut poll = super::command(&home, &["poll", "s", "--timeout", "60000", "--json"]);
    let poll = poll.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(350));
    with_stdin(&home, &["signal", "s", "next", "--result", "-"], "1").expect(0);
    let output = poll.wait_with_output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["winner_agent"], json!("next"));
}
