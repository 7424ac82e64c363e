//! A Pi session, in the form that its documentation and its events have.

use recoup::transcripts::parse_entries;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::HookClient;
use serde_json::{Value, json};

use super::said;

const SESSION: &str = include_str!("../../fixtures/pi/session.jsonl");

#[test]
fn a_whole_session() {
    let shown: String = SESSION.lines().map(|line| said(HookClient::Pi, line)).collect();
    insta::assert_snapshot!(shown, @r#"
    prompt "Please fix"
    words "I will look."
    call toolu_fake_00001_1 bash Shell("ls /nonexistent")
    outcome toolu_fake_00001_1 Failed(2) "ls: cannot access '/nonexistent': No such file or directory"
    call call_2 edit Edit(["a.ts"])
    call call_3 read Read("b.ts")
    outcome call_2 Succeeded "Successfully replaced text in a.ts."
    outcome call_3 Failed "ENOENT: no such file or directory, access 'b.ts'"
    call 0000000a bash Shell("npm test")
    outcome 0000000a Failed(1) "1 failing"
    compaction
    words "Done."
    "#);
}

#[test]
fn how_a_call_ended() {
    let result = |text: &str, is_error: bool| {
        let message: Value = json!({"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": text}], "isError": is_error});
        said(HookClient::Pi, &json!({"type": "message", "message": message}).to_string())
    };
    assert_eq!(
        result("half\n\nCommand aborted", true),
        "outcome c Interrupted \"half\\n\\nCommand aborted\"\n"
    );
    assert_eq!(
        result("x\n\nCommand timed out after 5 seconds", true),
        "outcome c Failed \"x\\n\\nCommand timed out after 5 seconds\"\n"
    );
    assert_eq!(result("Command exited with code 7", true), "outcome c Failed(7) \"\"\n");
    assert_eq!(
        result("Command exited with code 7", false),
        "outcome c Succeeded \"Command exited with code 7\"\n"
    );
}

#[test]
fn times_are_texts_or_numbers() {
    let at = |time: Value| {
        let line = json!({"type": "message", "timestamp": time, "message": {"role": "user", "content": "hi"}});
        parse_entries(HookClient::Pi, line.to_string().as_bytes())[0].at
    };
    assert_eq!(at(json!(1_794_776_087_693_i64)), Some(Timestamp::from_millis(1_794_776_087_693)));
    assert_eq!(at(json!("2026-11-15T20:54:47.642Z")), Timestamp::parse("2026-11-15T20:54:47.642Z"));
    assert_eq!(at(json!({})), None);
}

#[test]
fn what_is_broken_or_unknown_says_nothing() {
    for line in [
        "",
        "{",
        "{}",
        r#"{"type":"message"}"#,
        r#"{"type":"message","message":{"role":"new","content":"x"}}"#,
        r#"{"type":"ephemeral","messages":[]}"#,
    ] {
        assert_eq!(said(HookClient::Pi, line), "", "{line}");
    }
}
