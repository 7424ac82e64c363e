//! `recoup learn`: rules that were stated before, in transcripts of all clients.

mod decisions;
mod places;

use std::fs;

use serde_json::Value;

use crate::client_transcripts::Transcript;
use crate::support::{Home, Output};

const PNPM: &str = "no, always use pnpm in this project, never npm";

fn learn(home: &Home, args: &[&str]) -> Value {
    home.run(&[&["learn", "--json"], args].concat()).expect(0).json()
}

/// Texts of the rules that are offered.
fn texts(report: &Value) -> Vec<&str> {
    report["rules"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect()
}

/// Active rules of this project.
fn remembered(home: &Home) -> Vec<Value> {
    let list = home.run(&["memory", "list", "--json"]).expect(0).json();
    list.as_array().unwrap().clone()
}

/// States a rule twice, in two sessions of Claude Code.
fn state_twice(home: &Home, rule: &str) {
    for day in ["01", "02"] {
        Transcript::claude_code(home, &format!("session-{day}"), &home.project())
            .typed(&format!("2026-10-{day}T10:00:00.000Z"), rule);
    }
}

#[test]
fn what_was_said_in_several_sessions_of_all_clients_is_one_rule() {
    let home = Home::new();
    let project = home.project();
    Transcript::claude_code(&home, "one", &project)
        .typed("2026-10-01T10:00:00.000Z", PNPM)
        .typed("2026-10-01T10:05:00.000Z", "continue")
        .typed("2026-10-01T10:06:00.000Z", PNPM);
    Transcript::codex(&home, "two", &project, "codex_cli_rs")
        .typed_in_codex("2026-10-02T10:00:00.000Z", PNPM);
    Transcript::pi(&home, "three", &project).typed_in_pi("2026-10-03T10:00:00.000Z", PNPM);
    let report = learn(&home, &[]);
    let [rule] = &report["rules"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((rule["times"].as_u64(), rule["sessions"].as_u64()), (Some(4), Some(3)));
    assert_eq!(rule["first_said_at"], "2026-10-01T10:00:00Z");
    assert_eq!(rule["last_said_at"], "2026-10-03T10:00:00Z");
    let clients: Vec<&str> = rule["quotes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["client"].as_str().unwrap())
        .collect();
    assert_eq!(clients, ["pi", "codex", "claude-code", "claude-code"]);
    assert!(rule["quotes"][0]["text"].as_str().unwrap().contains("pnpm"), "{rule:#}");
    assert_eq!(rule["projects"][0]["root"], project.to_str().unwrap());
    assert_eq!(report["transcripts"], 3);
    assert!(remembered(&home).is_empty(), "nothing is kept without --yes");
}

#[test]
fn what_is_kept_has_its_dates_and_is_not_offered_again() {
    let home = Home::new();
    state_twice(&home, PNPM);
    let report = learn(&home, &["--yes"]);
    let notes = remembered(&home);
    let [note] = &notes[..] else { panic!("{notes:#?}") };
    assert_eq!(note["id"], report["rules"][0]["kept"][0]);
    assert_eq!(note["created_at"], "2026-10-01T10:00:00.000Z");
    assert_eq!((note["source"].as_str(), note["evidence"].as_u64()), (Some("user"), Some(2)));
    assert!(note["quote"].as_str().unwrap().contains("pnpm"));
    let again = learn(&home, &["--yes"]);
    assert!(texts(&again).is_empty(), "{again:#}");
    assert_eq!(again["left_out"]["known"], 1);
    assert_eq!(remembered(&home).len(), 1);
}

#[test]
fn what_was_said_once_is_shown_only_on_request() {
    let home = Home::new();
    Transcript::claude_code(&home, "one", &home.project()).typed("2026-10-01T10:00:00.000Z", PNPM);
    let quiet = learn(&home, &[]);
    assert!(texts(&quiet).is_empty());
    assert_eq!(quiet["left_out"]["once"], 1);
    assert_eq!(texts(&learn(&home, &["--all"])).len(), 1);
    let ended: Output = home.run(&["learn"]).expect(0);
    assert!(ended.stderr.contains("said once (`recoup learn --all`)"), "{}", ended.stderr);
}

#[test]
fn the_latest_statement_of_a_topic_wins() {
    let home = Home::new();
    for (session, day, text) in [
        ("one", "2026-05-01", "always use pnpm here"),
        ("two", "2026-05-02", "always use pnpm here"),
        ("three", "2026-06-01", "always use bun here"),
        ("four", "2026-06-02", "always use bun here"),
    ] {
        Transcript::claude_code(&home, session, &home.project())
            .typed(&format!("{day}T10:00:00.000Z"), text);
    }
    let report = learn(&home, &["--yes"]);
    let [rule] = &report["rules"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert!(rule["text"].as_str().unwrap().contains("bun"), "{rule:#}");
    let older = &rule["older"][0];
    assert!(older["text"].as_str().unwrap().contains("pnpm"), "{rule:#}");
    assert_eq!((older["times"].as_u64(), rule["times"].as_u64()), (Some(2), Some(2)));
    let notes = remembered(&home);
    assert_eq!(notes.len(), 1, "{notes:#?}");
}

#[test]
fn only_a_person_is_heard() {
    let home = Home::new();
    for session in ["one", "two"] {
        let at = format!("2026-10-0{}T10:00:00.000Z", session.len() % 2 + 1);
        let transcript = Transcript::claude_code(&home, session, &home.project());
        let mut script = transcript.entry("user.text", &at);
        script["message"]["content"] = "always sort the imports by length".into();
        transcript.add(&script);
        let mut agent = transcript.entry("user.text.sidechain", &at);
        agent["message"]["content"] = "never edit the files in src/gen".into();
        transcript.add(&agent);
        let mut summary = transcript.entry("user.text.compact_summary", &at);
        summary["message"]["content"] =
            "This session is being continued from a previous one. Always answer in French.".into();
        transcript.add(&summary);
        let mut output = transcript.entry("user.tool_result", &at);
        output["message"]["content"][0]["content"] = "from now on always use yarn".into();
        transcript.add(&output);
        Transcript::codex(&home, session, &home.project(), "codex_exec")
            .typed_in_codex(&at, "always use tabs in this project");
    }
    let report = learn(&home, &["--all"]);
    assert!(texts(&report).is_empty(), "{report:#}");
}

#[test]
fn private_text_secrets_and_opt_outs_are_not_heard() {
    let home = Home::new();
    for day in ["01", "02"] {
        let at = |time: &str| format!("2026-10-{day}T10:{time}:00.000Z");
        Transcript::claude_code(&home, &format!("session-{day}"), &home.project())
            .typed(&at("00"), "<private>always use the staging server in Lyon</private> ok?")
            .typed(&at("01"), "don't remember this: always deploy on Fridays")
            .typed(
                &at("02"),
                "always use the token ghp_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4MTIz for git",
            );
    }
    let report = learn(&home, &["--all"]);
    let shown = report.to_string();
    for hidden in ["Lyon", "Friday", "ghp_"] {
        assert!(!shown.contains(hidden), "{hidden}: {report:#}");
    }
}

#[test]
fn broken_and_foreign_files_do_not_stop_it() {
    let home = Home::new();
    state_twice(&home, PNPM);
    let folder = home.path(".claude/projects/-work");
    fs::write(folder.join("broken.jsonl"), b"{\"type\":\"user\",\xff\n[1,2\n{}\n").unwrap();
    fs::write(folder.join("empty.jsonl"), b"").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.jsonl")).unwrap();
    assert_eq!(texts(&learn(&home, &[])).len(), 1);
}

#[test]
fn a_fork_does_not_count_twice() {
    let home = Home::new();
    let at = "2026-10-01T10:00:00.000Z";
    for session in ["original", "fork"] {
        Transcript::claude_code(&home, session, &home.project()).typed(at, PNPM);
    }
    let report = learn(&home, &["--all"]);
    assert_eq!(report["rules"][0]["times"], 1, "{report:#}");
}
