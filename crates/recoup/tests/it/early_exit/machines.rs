//! Agents on several machines: homes with nothing in common but a server.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{command, early_exit, with_stdin};
use crate::redis_server::{Server, free_port};
use crate::support::{Home, Output, finish};

struct Machine {
    home: Home,
    url: String,
}

impl Machine {
    fn of(server: &Server) -> Self {
        let url = format!("redis://127.0.0.1:{}?timeout=30s", server.port);
        Self { home: Home::new(), url }
    }

    fn run(&self, args: &[&str]) -> Output {
        finish(command(&self.home, args).env("RECOUP_STORE", &self.url))
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = command(&self.home, args);
        command.env("RECOUP_STORE", &self.url).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap()
    }
}

#[test]
fn what_one_machine_signals_the_other_sees() {
    let server = Server::start();
    let (one, two) = (Machine::of(&server), Machine::of(&server));
    two.run(&["register", "s", "b"]).expect(0);
    let poll = two.start(&["poll", "s", "--timeout", "60000", "--json"]);
    let file = one.home.write("result.json", "{\"from\":\"one\"}");
    one.run(&["signal", "s", "a", "--result", file.to_str().unwrap()]).expect(0);
    let found = poll.wait_with_output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found, json!({"session_id": "s", "winner_agent": "a", "result": {"from": "one"}}));
    two.run(&["check", "s"]).expect(1);
    two.run(&["signal", "s", "b"]).expect_failure("already signaled by a");
    two.run(&["read-winner", "s"]).expect_hit("{\"from\":\"one\"}");
    let status = two.run(&["status", "s", "--json"]).expect(0).json();
    assert_eq!(status["registered_agents"], json!(["b"]));
    assert_eq!(one.run(&["status"]).expect(0).text(), "s\n");
    two.run(&["cleanup", "s"]).expect(0);
    one.run(&["check", "s"]).expect(0);
    assert!(!one.home.recoup().join("early-exit").exists());
}

#[test]
fn of_twenty_processes_on_two_machines_one_wins() {
    let server = Server::start();
    let machines = [Machine::of(&server), Machine::of(&server)];
    for round in 0..10 {
        let session = format!("s{round}");
        let started: Vec<Child> = (0..20)
            .map(|n| machines[n % 2].start(&["signal", &session, &format!("agent-{n}")]))
            .collect();
        let ended = started.into_iter().map(|mut child| child.wait().unwrap().code());
        let won: Vec<usize> =
            ended.enumerate().filter(|(_, c)| *c == Some(0)).map(|(n, _)| n).collect();
        assert_eq!(won.len(), 1, "{won:?}");
        let winner = machines[0].run(&["check", &session, "--json"]).expect(1).json();
        assert_eq!(winner["winner_agent"], json!(format!("agent-{}", won[0])));
    }
}

#[test]
fn a_race_on_one_machine_ends_the_race_on_the_other() {
    let server = Server::start();
    let (one, two) = (Machine::of(&server), Machine::of(&server));
    let slow = one.start(&["race", "s", "--", "sleep", "60"]);
    let begun = Instant::now();
    super::until("the race has begun", || two.run(&["status"]).text() == "s\n");
    assert_eq!(two.run(&["race", "s", "--", "echo", "found"]).expect(0).text(), "found\n");
    let ended = slow.wait_with_output().unwrap();
    assert!(ended.status.success());
    assert_eq!(ended.stdout, b"found\n");
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(one.run(&["race", "s", "--", "false"]).expect(0).text(), "found\n");
}

#[test]
fn a_server_that_is_away_stops_nobody() {
    let url = format!("redis://:opensesame@127.0.0.1:{}", free_port());
    let home = Home::new();
    let check = early_exit(&home, &["check", "s", "--store", &url]).expect(0);
    assert!(check.stderr.contains("redis://***@") && !check.stderr.contains("opensesame"));
    for args in [&["signal", "s"][..], &["poll", "s"], &["status"], &["read-winner", "s"]] {
        early_exit(&home, &[args, &["--store", &url]].concat()).expect_failure("redis://***@");
    }
    with_stdin(&home, &["write-result", "s", "a", "--store", &url], "1").expect(1);
    let output = early_exit(&home, &["race", "s", "--store", &url, "--", "echo", "found"]);
    let output = output.expect(0);
    assert_eq!(output.text(), "found\n");
    assert!(output.stderr.contains("continues without its session"), "{}", output.stderr);
}
