//! A Codex rollout, in the form that its source and its hooks have.

use recoup_core::memory::HookClient;
use serde_json::{Value, json};

use super::said;

const ROLLOUT: &str = include_str!("../../fixtures/codex/rollout.jsonl");

fn output(output: &Value) -> String {
    let payload = json!({"type": "function_call_output", "call_id": "c1", "output": output});
    said(HookClient::Codex, &json!({"type": "response_item", "payload": payload}).to_string())
}

#[test]
fn a_whole_rollout() {
    let shown: String = ROLLOUT.lines().map(|line| said(HookClient::Codex, line)).collect();
    insta::assert_snapshot!(shown, @r#"
    prompt "Please fix the thing"
    words "I will look."
    call call_fake_00001_1 exec_command Shell("ls /nonexistent")
    outcome call_fake_00001_1 Failed(2) "ls: cannot access '/nonexistent': No such file or directory"
    call call_2 shell_command Shell("echo ok")
    outcome call_2 Succeeded "ok"
    call call_3 shell Shell("npm test 2>&1 | tail -5")
    outcome call_3 Failed(1) "Tests: 1 failed, 1 total"
    call call_4 apply_patch Edit(["src/a.ts", "src/b.ts"])
    outcome call_4 Succeeded "Success. Updated the following files:\nM src/a.ts\nA src/b.ts"
    call call_5 exec_command Shell("rm -rf build")
    outcome call_5 Denied "exec command rejected by user"
    call call_6 exec_command Shell("sleep 100")
    outcome call_6 Interrupted "aborted by user after 3.2s"
    interruption
    compaction
    words "FINAL-ANSWER: fixed."
    "#);
}

#[test]
fn what_a_command_writes_can_not_pass_for_its_heading() {
    let forged = json!(
        "Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 1\nProcess exited with code 3"
    );
    assert!(output(&forged).starts_with("outcome c1 Succeeded"), "{}", output(&forged));
    for text in [
        "a line\nExit code: 1\nOutput:\nx", "Output:\nExit code: 1",
        "Exit code: 1 is what it says\nhello",
    ] {
        assert!(output(&json!(text)).starts_with("outcome c1 Succeeded"), "{text}");
    }
    assert!(output(&json!("the log says: rejected by user")).starts_with("outcome c1 Succeeded"));
}

#[test]
fn outputs_of_all_shapes() {
    assert_eq!(
        output(&json!([{"type": "input_text", "text": "hi"}])),
        "outcome c1 Succeeded \"hi\"\n"
    );
    assert_eq!(
        output(&json!({"content": "boom", "success": false})),
        "outcome c1 Failed \"boom\"\n"
    );
    assert_eq!(
        output(&json!("apply_patch verification failed: no such file")),
        "outcome c1 Refused \"apply_patch verification failed: no such file\"\n"
    );
    assert_eq!(
        output(&json!("Process running with session ID 7\nOutput:\nx")),
        "outcome c1 Succeeded \"Process running with session ID 7\\nOutput:\\nx\"\n"
    );
}

#[test]
fn a_command_as_a_list_is_a_line() {
    let call = |command: Value| {
        let arguments = json!({"command": command}).to_string();
        let payload = json!({"type": "function_call", "name": "shell", "call_id": "c", "arguments": arguments});
        said(HookClient::Codex, &json!({"type": "response_item", "payload": payload}).to_string())
    };
    assert_eq!(
        call(json!(["git", "commit", "-m", "it's done"])),
        "call c shell Shell(\"git commit -m 'it'\\\\''s done'\")\n"
    );
    assert_eq!(call(json!(["/bin/zsh", "-lc", "ls | wc"])), "call c shell Shell(\"ls | wc\")\n");
    let publish = call(json!(["./publish", "-c", "prod"]));
    assert_eq!(publish, "call c shell Shell(\"./publish -c prod\")\n", "it is no shell");
    assert_eq!(call(json!([])), "call c shell Other\n");
}

#[test]
fn what_is_broken_or_unknown_says_nothing() {
    for line in [
        "",
        "{",
        "{}",
        r#"{"type":"event_msg"}"#,
        r#"{"type":"event_msg","payload":{"type":"new"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call"}}"#,
    ] {
        assert_eq!(said(HookClient::Codex, line), "", "{line}");
    }
}
