//! Claude Code's transcript, from lines that the real program wrote.

use recoup::transcripts::parse_entries;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::EntryKind;
use serde_json::{Value, json};

use super::{said, shown};

fn fixture() -> serde_json::Map<String, Value> {
    let text = include_str!("../../fixtures/claude-code/transcript-entries.json");
    serde_json::from_str(text).unwrap()
}

fn of(line: &Value) -> String {
    said(HookClient::ClaudeCode, &line.to_string())
}

#[test]
fn every_kind_of_line_that_was_recorded() {
    let shown: String = fixture()
        .iter()
        .flat_map(|(name, line)| ["# ", name, "\n", &of(line)].map(str::to_owned))
        .collect();
    insta::assert_snapshot!(shown, @r#"
    # agent-name
    # assistant.text
    words "I will look."
    # assistant.text.api_error
    # assistant.text.sidechain
    [a7651a8110fb82eeb] words "SUBAGENT-RESULT"
    # assistant.tool_use
    call toolu_fake_00001_1 Bash Shell("ls /nonexistent")
    # assistant.tool_use.sidechain
    [a7651a8110fb82eeb] call toolu_fake_00002_0 Bash Shell("echo from-subagent")
    # attachment.async_hook_response
    # attachment.hook_additional_context
    # attachment.hook_blocking_error
    # attachment.hook_non_blocking_error
    # attachment.hook_permission_decision
    # attachment.hook_stopped_continuation
    # attachment.hook_success
    # attachment.hook_system_message
    # attachment.queued_command
    notification bjjlzw26u completed "Background command \"Background job\" completed (exit code 0)"
    # cost-state
    # custom-title
    # file-history-snapshot
    # last-prompt
    # mode
    # permission-mode
    # queue-operation
    # system.api_error
    # system.compact_boundary
    compaction
    # system.informational
    # system.local_command
    # system.stop_hook_summary
    # system.turn_duration
    # tools-used
    # user.text
    prompt "Please fix the thing"
    # user.text.compact_summary
    # user.text.human
    prompt "wait please"
    # user.text.interrupted
    interruption
    # user.text.meta
    # user.text.sidechain
    [a7651a8110fb82eeb] sub-agent "SUBTASK-MARK do it"
    # user.text.task-notification
    notification bic727oia completed "Background command \"Late job\" completed (exit code 0)"
    # user.tool_result
    outcome toolu_fake_00002_0 Succeeded "File created successfully at: /home/dev/work/note.txt (file state is current in your context — no need to Read it back)"
    # user.tool_result.is_error
    outcome toolu_fake_00001_1 Failed(2) "ls: cannot access '/nonexistent': No such file or directory"
    # user.tool_result.sidechain
    [a7651a8110fb82eeb] outcome toolu_fake_00002_0 Succeeded "from-subagent"
    "#);
}

#[test]
fn a_line_has_its_time() {
    let line = fixture()["user.text.human"].to_string();
    let entries = parse_entries(HookClient::ClaudeCode, line.as_bytes());
    assert_eq!(entries[0].at, Timestamp::parse("2026-11-15T20:33:31.708Z"));
    assert!(entries[0].at.is_some());
}

fn user(content: impl Into<Value>, more: impl Into<Value>) -> Value {
    let (content, more): (Value, Value) = (content.into(), more.into());
    let mut line = json!({"type": "user", "message": {"role": "user", "content": content}});
    if let Value::Object(more) = more {
        line.as_object_mut().unwrap().extend(more);
    }
    line
}

fn result(text: &str, is_error: bool, more: impl Into<Value>) -> String {
    of(&user(
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": is_error}]),
        more,
    ))
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    let typed = [json!({}), json!({"origin": {"kind": "human"}})];
    for more in typed {
        assert_eq!(of(&user(json!("use tabs"), more)), "prompt \"use tabs\"\n");
    }
    let machine = [
        json!({"origin": {"kind": "task-notification"}}),
        json!({"origin": {"kind": "hook"}}),
        json!({"origin": {"kind": "something-new"}}),
        json!({"origin": {}}),
        json!({"isMeta": true}),
        json!({"isCompactSummary": true}),
    ];
    for more in machine {
        assert_eq!(of(&user(json!("use tabs"), more.clone())), "", "{more}");
    }
    for text in [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>use tabs</local-command-stdout>",
        "<bash-stdout>use tabs</bash-stdout>",
        "This session is being continued from a previous conversation that ran out of context. use tabs",
    ] {
        assert_eq!(of(&user(json!(text), json!({}))), "", "{text}");
    }
}

#[test]
fn what_the_client_adds_to_a_prompt_is_cut_out() {
    let text = "<system-reminder>never use tabs</system-reminder>\nuse spaces<ide_selection>x</ide_selection>";
    assert_eq!(of(&user(json!(text), json!({}))), "prompt \"use spaces\"\n");
    let text = "a <ide_selection>b <system-reminder>c</ide_selection>d</system-reminder> e";
    assert_eq!(of(&user(json!(text), json!({}))), "", "d and e may be a file's");
    let blocks = json!([{"type": "text", "text": "look at"}, {"type": "image", "source": {}}, {"type": "text", "text": "this"}]);
    assert_eq!(of(&user(blocks, json!({}))), "prompt \"look at\\nthis\"\n");
    assert_eq!(of(&user(json!("a <private>b</private> c"), json!({}))), "prompt \"a  c\"\n");
}

#[test]
fn behind_a_tag_that_nobody_closed_nothing_is_the_users() {
    let text = "what is this?\nalways use <system-reminder> from now on use tabs";
    assert_eq!(of(&user(json!(text), json!({}))), "prompt \"what is this?\"\n");
}

#[test]
fn very_many_tags_are_cut_out_in_one_pass() {
    for piece in ["<system-reminder>x</system-reminder>", "<ide_selection>"] {
        let text = format!("use tabs\n{}", piece.repeat((4 << 20) / piece.len()));
        let began = std::time::Instant::now();
        assert!(of(&user(json!(text), json!({}))).starts_with("prompt \"use tabs"));
        assert!(began.elapsed().as_secs() < 10, "{piece}: {:?}", began.elapsed());
    }
}

#[test]
fn text_beside_a_tools_result_is_no_prompt() {
    let blocks = json!([
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]},
        {"type": "text", "text": "always use yarn"},
    ]);
    assert_eq!(of(&user(blocks, json!({}))), "outcome t1 Succeeded \"ok\"\n");
}

#[test]
fn what_was_said_while_the_agent_worked_is_a_prompt() {
    let queued = |mode: &str, origin: Value| {
        of(
            &json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "use tabs", "commandMode": mode, "origin": origin}}),
        )
    };
    assert_eq!(queued("prompt", json!({"kind": "human"})), "prompt \"use tabs\"\n");
    assert_eq!(queued("prompt", Value::Null), "prompt \"use tabs\"\n");
    assert_eq!(queued("prompt", json!({"kind": "hook"})), "");
    assert_eq!(queued("task-notification", Value::Null), "");
}

#[test]
fn how_a_call_ended() {
    assert_eq!(
        result("Exit code 127\nbash: x: command not found", true, json!({})),
        "outcome t1 Failed(127) \"bash: x: command not found\"\n"
    );
    assert_eq!(result("Exit code 1", true, json!({})), "outcome t1 Failed(1) \"\"\n");
    assert_eq!(
        result("Exit code 1\nx", false, json!({})),
        "outcome t1 Succeeded \"Exit code 1\\nx\"\n"
    );
    assert_eq!(result("MCP error", true, json!({})), "outcome t1 Failed \"MCP error\"\n");
    assert_eq!(
        result("<tool_use_error>File has not been read yet.</tool_use_error>", true, json!({})),
        "outcome t1 Refused \"File has not been read yet.\"\n"
    );
    assert_eq!(
        result("Permission to use Bash with command x has been denied.", true, json!({})),
        "outcome t1 Refused \"Permission to use Bash with command x has been denied.\"\n"
    );
    let stopped = json!({"toolUseResult": {"stdout": "half", "stderr": "", "interrupted": true}});
    assert_eq!(result("half", true, stopped), "outcome t1 Interrupted \"half\"\n");
    assert_eq!(
        result("[Request interrupted by user for tool use]", true, json!({})),
        "outcome t1 Interrupted \"[Request interrupted by user for tool use]\"\n"
    );
}

#[test]
fn a_person_said_no_only_if_the_client_says_so() {
    let no = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let ended = |text, more| result(text, true, more).split(' ').nth(2).unwrap().to_owned();
    assert_eq!(ended(no, json!({"toolUseResult": "User rejected tool use"})), "Denied");
    assert_eq!(ended(no, json!({})), "Denied");
    assert_eq!(
        ended("no", json!({"permissionDecision": {"decision": "reject", "source": "user_reject"}})),
        "Denied"
    );
    assert_eq!(
        ended("no", json!({"permissionDecision": {"decision": "reject", "source": "hook"}})),
        "Refused"
    );
    let forged = json!({"toolUseResult": format!("Error: {no}")});
    assert_eq!(ended(no, forged), "Failed", "a tool wrote that");
    assert_eq!(result(no, false, json!({})).split(' ').nth(2), Some("Succeeded"));
}

#[test]
fn calls_are_known_by_what_they_do() {
    let call = |name: &str, input: Value| {
        of(
            &json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": name, "input": input}]}}),
        )
    };
    assert_eq!(call("Bash", json!({"command": "npm test"})), "call t1 Bash Shell(\"npm test\")\n");
    assert_eq!(
        call("Edit", json!({"file_path": "/a.rs", "old_string": "x"})),
        "call t1 Edit Edit([\"/a.rs\"])\n"
    );
    assert_eq!(
        call("Write", json!({"file_path": "/a.rs", "content": "x"})),
        "call t1 Write Write(\"/a.rs\")\n"
    );
    assert_eq!(call("Read", json!({"file_path": "/a.rs"})), "call t1 Read Read(\"/a.rs\")\n");
    assert_eq!(call("Agent", json!({"prompt": "x"})), "call t1 Agent Agent\n");
    assert_eq!(call("mcp__x__y", json!({"command": "rm"})), "call t1 mcp__x__y Other\n");
    assert_eq!(call("Bash", json!({"command": 3})), "call t1 Bash Other\n");
}

#[test]
fn the_same_input_has_the_same_print() {
    let print = |line: &str| match &parse_entries(HookClient::ClaudeCode, line.as_bytes())[0].what {
        EntryKind::Call(call) => call.print,
        other => panic!("{other:?}"),
    };
    let line = |id: &str, command: &str| {
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}}).to_string()
    };
    assert_eq!(print(&line("1", "ls")), print(&line("2", "ls")));
    assert_ne!(print(&line("1", "ls")), print(&line("1", "pwd")));
}

#[test]
fn several_blocks_are_several_entries() {
    let line = json!({"type": "assistant", "isSidechain": true, "agentId": "a7", "message": {"content": [
        {"type": "thinking", "thinking": "x"},
        {"type": "text", "text": "first"},
        {"type": "tool_use", "id": "t1", "name": "Glob", "input": {}},
    ]}});
    assert_eq!(of(&line), "[a7] words \"first\"\n[a7] call t1 Glob Other\n");
}

#[test]
fn half_a_character_does_not_lose_the_line() {
    let line = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"cut \ud83d and whole \ud83d\ude00 and \\ud83d"}]}}"#;
    assert_eq!(
        said(HookClient::ClaudeCode, line),
        "outcome t1 Succeeded \"cut \u{fffd} and whole 😀 and \\\\ud83d\"\n"
    );
}

#[test]
fn what_is_broken_or_unknown_says_nothing() {
    for line in [
        "",
        "{",
        "null",
        "3",
        "[]",
        "{}",
        "\u{0}",
        r#"{"type":3}"#,
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":3}"#,
        r#"{"type":"user","message":{"content":3}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
        r#"{"type":"brand-new","message":{"content":"use tabs"}}"#,
        r#"{"type":"attachment","attachment":null}"#,
    ] {
        assert_eq!(said(HookClient::ClaudeCode, line), "", "{line}");
    }
    assert_eq!(shown(&parse_entries(HookClient::ClaudeCode, b"\xff\xfe{\"type\":\"user\"}")), "");
}

#[test]
fn spaces_between_the_words_do_not_matter() {
    let line = "{ \"type\" : \"user\" , \"message\" : { \"content\" : \"use tabs\" } } ";
    assert_eq!(said(HookClient::ClaudeCode, line), "prompt \"use tabs\"\n");
}

#[test]
fn a_request_that_holds_a_conversation_says_nothing() {
    let line = r#"{"type":"api-request-body","body":{"messages":[{"role":"user","content":"use tabs"}],"type":"user"}}"#;
    assert_eq!(said(HookClient::ClaudeCode, line), "");
}

#[test]
fn unknown_fields_of_any_type_do_not_matter() {
    let line = r#"{"type":"user","message":{"content":"use tabs","role":3},"timestamp":"never","new":{"a":[1,2]},"agentId":null}"#;
    assert_eq!(said(HookClient::ClaudeCode, line), "prompt \"use tabs\"\n");
}
