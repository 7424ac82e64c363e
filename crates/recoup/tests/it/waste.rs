//! `recoup waste`: what transcripts say was paid for twice.

use serde_json::{Value, json};

use crate::client_transcripts::Transcript;
use crate::support::Home;

const FROM: [&str; 2] = ["--since", "2026-01-01"];

fn waste(home: &Home) -> Value {
    home.run(&[&["waste", "--json"][..], &FROM[..]].concat()).expect(0).json()
}

/// Report about one kind.
fn kind<'a>(report: &'a Value, name: &str) -> &'a Value {
    let kinds = report["kinds"].as_array().unwrap();
    kinds.iter().find(|it| it["kind"] == name).unwrap()
}

fn at(minute: u32, second: u32) -> String {
    format!("2026-10-01T10:{minute:02}:{second:02}.000Z")
}

/// Runs tools one a minute, each for ten seconds.
fn run_tools(transcript: &Transcript, calls: &[(&str, Value, &str)]) {
    for (minute, (tool, input, output)) in (0..).zip(calls) {
        let times = [at(minute, 0), at(minute, 10)];
        let times = [times[0].as_str(), times[1].as_str()];
        transcript.call(&format!("toolu_{minute}"), times, (tool, input.clone()), output);
    }
}

fn bash(line: &str) -> Value {
    json!({ "command": line })
}

#[test]
fn a_command_that_ran_again_with_nothing_changed_is_counted() {
    let home = Home::new();
    let transcript = Transcript::claude_code(&home, "one", &home.project());
    run_tools(
        &transcript,
        &[
            ("Bash", bash("cargo test"), "3 passed in 1.2s"),
            ("Bash", bash("git status"), "clean"),
            ("Bash", bash("cargo test"), "3 passed in 1.4s"),
        ],
    );
    let report = waste(&home);
    let commands = kind(&report, "commands");
    assert_eq!(commands["times"], 1, "{report:#}");
    assert_eq!(commands["millis"], 10_000);
    assert_eq!(commands["input_tokens"], 1_000_000);
    assert_eq!(commands["micro_dollars"], 5_000_000);
    assert_eq!(commands["command"], "recoup suggest");
    assert_eq!(commands["subjects"][0]["subject"], "cargo test");
    assert_eq!(report["requests"]["times"], 3);
}

#[test]
fn what_may_have_changed_something_ends_the_claim() {
    let edit = json!({"file_path": "/w/a.rs", "old_string": "a", "new_string": "b"});
    for between in [
        ("Edit", edit, "done"),
        ("Bash", bash("npm install"), "added 3 packages"),
        ("Bash", bash("echo x > a.txt"), "x"),
        ("mcp__files__move", json!({}), "done"),
    ] {
        let home = Home::new();
        let transcript = Transcript::claude_code(&home, "one", &home.project());
        let read = json!({"file_path": "/w/a.rs"});
        let test = ("Bash", bash("cargo test"), "3 passed");
        let read = ("Read", read, "fn main() {}");
        run_tools(&transcript, &[test.clone(), read.clone(), between.clone(), test, read]);
        let report = waste(&home);
        assert_eq!(kind(&report, "commands")["times"], 0, "{between:?}");
        assert_eq!(kind(&report, "reads")["times"], 0, "{between:?}");
    }
}

#[test]
fn another_output_is_no_repetition() {
    let home = Home::new();
    let transcript = Transcript::claude_code(&home, "one", &home.project());
    let runs = [("Bash", bash("date"), "Mon"), ("Bash", bash("date"), "Tue")];
    run_tools(&transcript, &runs);
    assert_eq!(kind(&waste(&home), "commands")["times"], 0);
}

#[test]
fn files_that_are_read_again_are_counted_until_a_compaction() {
    let home = Home::new();
    let transcript = Transcript::claude_code(&home, "one", &home.project());
    let read = ("Read", json!({"file_path": "/w/a.rs"}), "fn main() {}");
    run_tools(&transcript, &[read.clone(), read.clone()]);
    transcript.add(&transcript.entry("system.compact_boundary", &at(5, 0)));
    transcript.call("late", [&at(6, 0), &at(6, 1)], (read.0, read.1), read.2);
    let report = waste(&home);
    assert_eq!(kind(&report, "reads")["times"], 1, "{report:#}");
    assert_eq!(kind(&report, "reads")["subjects"][0]["subject"], "/w/a.rs");
}

#[test]
fn a_sub_agent_that_reads_what_the_parent_has_read_is_counted() {
    let home = Home::new();
    let parent = Transcript::claude_code(&home, "one", &home.project());
    let input = json!({"file_path": "/w/a.rs"});
    parent.call("p", [&at(0, 0), &at(0, 1)], ("Read", input.clone()), "fn main() {}");
    let path = home.path(".claude/projects/-work/one/subagents/agent-a7651a8110fb82eeb.jsonl");
    let agent = Transcript::at(path, "one", &home.project());
    let mut call = agent.entry("assistant.tool_use.sidechain", &at(1, 0));
    call["message"]["content"][0]["name"] = json!("Read");
    call["message"]["content"][0]["input"] = input;
    agent.add(&call);
    let report = waste(&home);
    assert_eq!(kind(&report, "sub_agents")["times"], 1, "{report:#}");
    assert_eq!(kind(&report, "reads")["times"], 0);
}

#[test]
fn repeated_corrections_count_with_the_turns_that_followed() {
    let home = Home::new();
    for (session, day) in [("one", "01"), ("two", "02"), ("three", "03")] {
        let time = |second: &str| format!("2026-10-{day}T10:00:{second}.000Z");
        let transcript = Transcript::claude_code(&home, session, &home.project());
        transcript.typed(&time("00"), "no, always use pnpm here, never npm");
        transcript.call(session, [&time("10"), &time("30")], ("Bash", bash("pnpm i")), "ok");
    }
    let report = waste(&home);
    let corrections = kind(&report, "corrections");
    assert_eq!(corrections["times"], 2, "{report:#}");
    assert_eq!(
        (&corrections["millis"], &corrections["input_tokens"]),
        (&json!(60_000), &json!(2_000_000))
    );
    assert_eq!(corrections["command"], "recoup learn");
}

#[test]
fn a_lost_prompt_cache_has_its_cause() {
    let home = Home::new();
    let transcript = Transcript::claude_code(&home, "one", &home.project());
    let request = |id: &str, time: &str, model: &str, read: u64, written: u64| {
        let mut line = transcript.entry("assistant.text", time);
        line["message"]["id"] = json!(id);
        line["message"]["model"] = json!(model);
        line["message"]["usage"]["input_tokens"] = json!(10);
        line["message"]["usage"]["cache_read_input_tokens"] = json!(read);
        line["message"]["usage"]["cache_creation_input_tokens"] = json!(written);
        transcript.add(&line);
    };
    let opus = "claude-opus-4-5";
    request("a", &at(0, 0), opus, 0, 100_000);
    request("b", &at(1, 0), opus, 100_000, 1_000);
    transcript.typed(&at(9, 0), "go on");
    request("c", &at(9, 5), opus, 0, 102_000);
    request("d", &at(9, 30), "claude-sonnet-4-5", 0, 103_000);
    let report = waste(&home);
    let lost = kind(&report, "prompt_cache");
    let causes: Vec<&str> = lost["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["subject"].as_str().unwrap())
        .collect();
    assert_eq!(causes, ["a pause of 5 minutes or longer", "another model"], "{report:#}");
    assert_eq!(lost["subjects"][0]["input_tokens"], 101_000);
    // Written again at 1.25 of the price of $5 instead of read at 0.1 of it.
    assert_eq!(lost["subjects"][0]["micro_dollars"], 580_750);
}

#[test]
fn figures_of_codex_and_pi_are_read() {
    let home = Home::new();
    let codex = Transcript::codex(&home, "two", &home.project(), "codex_cli_rs");
    let context = json!({"turn_id": "t1", "cwd": home.project(), "model": "gpt-5"});
    codex.add(&json!({"timestamp": at(0, 0), "type": "turn_context", "payload": context}));
    for (minute, id) in [(1, "a"), (2, "b")] {
        let item = |payload: Value, second| {
            codex.add(&json!({"timestamp": at(minute, second), "type": "response_item", "payload": payload}));
        };
        let arguments = json!({"cmd": "cargo test"}).to_string();
        item(
            json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
            0,
        );
        let usage =
            json!({"input_tokens": 1_000_000, "cached_input_tokens": 0, "output_tokens": 0});
        let payload = json!({"type": "token_count", "info": {"last_token_usage": usage}});
        codex.add(&json!({"timestamp": at(minute, 1), "type": "event_msg", "payload": payload}));
        let output = "Exit code: 0\nWall time: 9 seconds\nOutput:\nok\n";
        item(json!({"type": "function_call_output", "call_id": id, "output": output}), 20);
    }
    let pi = Transcript::pi(&home, "three", &home.project());
    let usage = json!({"input": 7, "output": 5, "cacheRead": 3, "cacheWrite": 1});
    let message = json!({"role": "assistant", "model": "unknown-1", "content": [], "usage": usage});
    pi.add(&json!({"type": "message", "id": "x", "timestamp": at(1, 0), "message": message}));
    let report = waste(&home);
    let commands = kind(&report, "commands");
    assert_eq!(
        (&commands["times"], &commands["millis"]),
        (&json!(1), &json!(20_000)),
        "{report:#}"
    );
    assert_eq!(commands["micro_dollars"], 1_250_000);
    assert_eq!(report["requests"]["input_tokens"], 2_000_011);
    assert_eq!(
        (&report["requests"]["times"], &report["requests"]["unpriced"]),
        (&json!(3), &json!(1))
    );
}

#[test]
fn people_read_the_sums_the_remedies_and_the_limits() {
    let home = Home::new();
    let empty = home.run(&["waste"]).expect(0);
    assert!(empty.stderr.contains("Nothing was paid for twice"), "{}", empty.stderr);
    let transcript = Transcript::claude_code(&home, "one", &home.project());
    let run = ("Bash", bash("cargo test"), "3 passed");
    run_tools(&transcript, &[run.clone(), run]);
    let said = home.run(&[&["waste"][..], &FROM[..]].concat()).expect(0);
    assert!(
        said.text().contains("  cargo test: once, 10s · 1.0M tokens · $5.00"),
        "{}",
        said.text()
    );
    assert!(said.text().contains("-> `recoup suggest`"), "{}", said.text());
    assert!(said.stderr.contains("Not known: changes that you made by hand"), "{}", said.stderr);
}
