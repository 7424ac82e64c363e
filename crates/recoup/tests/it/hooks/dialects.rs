//! Clients whose hooks are nearly Claude Code's: Qwen Code, Copilot CLI, Droid, Kimi Code and Gemini
//! CLI, told what they were recorded to send.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::worker::queues;
use super::{add, changed, events, fixtures, happened, hook, log, remembered};
use crate::support::Home;

/// A client, and the names of its recorded payloads.
#[derive(Clone, Copy)]
struct Dialect {
    client: &'static str,
    start: &'static str,
    prompt: &'static str,
    called: &'static str,
    /// A command that failed; Droid does not report any.
    failed: Option<&'static str>,
}

const QWEN: Dialect = Dialect {
    client: "qwen",
    start: "SessionStart-startup",
    prompt: "UserPromptSubmit",
    called: "PostToolUse-run_shell_command",
    failed: Some("PostToolUseFailure-run_shell_command-failing-command"),
};
const COPILOT: Dialect = Dialect {
    client: "copilot",
    start: "SessionStart-new",
    prompt: "UserPromptSubmit",
    called: "PostToolUse-Bash",
    failed: Some("PostToolUse-Bash-failing-command"),
};
const DROID: Dialect = Dialect {
    client: "droid",
    start: "SessionStart-startup",
    prompt: "",
    called: "PostToolUse-Execute",
    failed: None,
};
const KIMI: Dialect = Dialect {
    client: "kimi",
    start: "SessionStart-startup",
    prompt: "UserPromptSubmit",
    called: "PostToolUse-Bash",
    failed: Some("PostToolUseFailure-Bash-failing-command"),
};
const GEMINI: Dialect = Dialect {
    client: "gemini",
    start: "SessionStart-startup",
    prompt: "BeforeAgent",
    called: "AfterTool-run_shell_command",
    failed: Some("AfterTool-run_shell_command-failing-command"),
};
const ALL: [Dialect; 5] = [QWEN, COPILOT, DROID, KIMI, GEMINI];

/// A session of one of these clients.
struct Session<'a> {
    home: &'a Home,
    dialect: Dialect,
    id: &'a str,
    args: &'a [&'a str],
}

/// What a client was answered: text for the agent, and for the person.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    context: String,
    notice: String,
}

impl Answer {
    #[track_caller]
    fn is_silent(&self) {
        assert_eq!((&*self.context, &*self.notice), ("", ""));
    }

    fn has_rule(&self, rule: &str) -> bool {
        self.context.contains(&format!("\n- {rule}\n"))
    }
}

impl<'a> Session<'a> {
    fn new(home: &'a Home, dialect: Dialect, id: &'a str) -> Self {
        Self { home, dialect, id, args: &[] }
    }

    /// A recorded payload, in this session and project, with other texts.
    fn recorded(&self, name: &str, texts: &[(&str, &str)]) -> Value {
        let path = fixtures(self.dialect.client).join(format!("{name}.json"));
        let mut text = fs::read_to_string(path).unwrap();
        text = text.replace("/home/user/project", self.home.project().to_str().unwrap());
        for (before, after) in texts {
            assert!(text.contains(before), "{name}: {before}");
            let quoted = json!(after).to_string();
            text = text.replace(before, &quoted[1..quoted.len() - 1]);
        }
        changed(serde_json::from_str(&text).unwrap(), json!({"session_id": self.id}))
    }

    #[track_caller]
    fn tell(&self, payload: &Value) -> Answer {
        let own = ["hook", "--client", self.dialect.client];
        let args = if self.args.is_empty() { &own[..] } else { self.args };
        let output = hook(self.home.command(args), payload.to_string().as_bytes()).expect(0);
        assert_eq!(output.stderr, "", "nobody reads it");
        let text = output.text();
        let silence = || Answer { context: String::new(), notice: String::new() };
        if text.is_empty() {
            return silence();
        }
        if self.dialect.client == "kimi" {
            return Answer { context: text, ..silence() };
        }
        let answer: Value = serde_json::from_str(&text).unwrap();
        let at = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let fields: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        if self.dialect.client == "copilot" {
            assert_eq!(fields, ["additionalContext"], "the only field that it reads");
            return Answer { context: at(&answer["additionalContext"]), ..silence() };
        }
        assert!(fields.iter().all(|it| ["hookSpecificOutput", "systemMessage"].contains(it)));
        let own = &answer["hookSpecificOutput"];
        assert!(own.is_null() || own["hookEventName"] == payload["hook_event_name"], "{text}");
        Answer { context: at(&own["additionalContext"]), notice: at(&answer["systemMessage"]) }
    }

    #[track_caller]
    fn begins(&self) -> Answer {
        self.tell(&self.recorded(self.dialect.start, &[]))
    }

    #[track_caller]
    fn says(&self, prompt: &str) -> Answer {
        let typed = "Do the scripted things";
        let payload = match self.dialect.prompt {
            // As documented: without a person it does not come.
            "" => changed(
                self.recorded(self.dialect.start, &[]),
                json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}),
            ),
            name => self.recorded(name, &[(typed, prompt)]),
        };
        self.tell(&payload)
    }

    /// A call of a shell that worked, or failed with that output.
    fn call(&self, command: &str, failed_with: Option<&str>, number: u32) -> Value {
        let mut payload = match failed_with {
            None => self.recorded(self.dialect.called, &[("echo hello-from-shell", command)]),
            Some(output) => {
                let texts = [
                    ("ls /nonexistent-dir", command),
                    ("ls: cannot access '/nonexistent-dir': No such file or directory", output),
                ];
                self.recorded(self.dialect.failed.unwrap(), &texts)
            }
        };
        // Each call has its own id or time.
        for name in ["tool_use_id", "tool_call_id", "timestamp"] {
            if payload.get(name).is_some() {
                payload[name] = json!(format!("{name} {number}"));
            }
        }
        payload
    }
}

#[test]
fn a_session_begins_with_the_rules_or_has_them_with_its_first_prompt() {
    for dialect in ALL {
        let home = Home::new();
        add(&home, &["use pnpm"]);
        let session = Session::new(&home, dialect, "one");
        let begun = session.begins();
        if dialect.client == "kimi" {
            begun.is_silent();
            assert!(session.says("Please fix the build").has_rule("use pnpm"));
        } else {
            assert!(begun.has_rule("use pnpm"), "{}: {begun:?}", dialect.client);
        }
        session.says("Please go on with it").is_silent();
        assert_eq!(happened(&home, "began").len(), 1, "{}", dialect.client);
        assert_eq!(log(&home), "");
    }
}

#[test]
fn a_correction_is_remembered_and_given_to_the_next_session() {
    for dialect in ALL {
        let home = Home::new();
        let first = Session::new(&home, dialect, "one");
        first.begins().is_silent();
        let answer = first.says("from now on use pnpm");
        let shown = ["qwen", "droid", "gemini"].contains(&dialect.client);
        assert_eq!(answer.notice.contains("will remember"), shown, "{}", dialect.client);
        assert_eq!(remembered(&home, "active"), ["use pnpm"], "{}", dialect.client);
        let next = Session::new(&home, dialect, "two");
        let answers = [next.begins(), next.says("Please fix the build")];
        assert_eq!(answers.iter().filter(|it| it.has_rule("use pnpm")).count(), 1);
    }
}

const LESSON: &str = "`git push` fails (exit code 2, no upstream branch); \
                      `git push -u origin <branch>` works";

#[test]
fn a_failure_and_its_fix_are_a_lesson() {
    for dialect in ALL.into_iter().filter(|it| it.failed.is_some()) {
        let home = Home::new();
        let error = |branch: &str| {
            format!(
                "fatal: The current branch {branch} has no upstream branch.\n\
                 To push the current branch and set the remote as upstream, use\n\n    \
                 git push --set-upstream origin {branch}"
            )
        };
        for (id, branch, number) in [("one", "feature-a", 1), ("two", "feature-b", 3)] {
            let session = Session::new(&home, dialect, id);
            session.begins();
            let answer = session.tell(&session.call("git push", Some(&error(branch)), number));
            // Kimi Code reads no answer here.
            let is_told = id == "two" && dialect.client != "kimi";
            assert_eq!(answer.has_rule(LESSON), is_told, "{} {id}", dialect.client);
            let fixed = format!("git push -u origin {branch}");
            session.tell(&session.call(&fixed, None, number + 1));
        }
        assert_eq!(remembered(&home, "active"), [LESSON], "{}", dialect.client);
        let next = Session::new(&home, dialect, "three");
        let answers = [next.begins(), next.says("Please fix the build")];
        assert_eq!(answers.iter().filter(|it| it.has_rule(LESSON)).count(), 1);
        assert_eq!(log(&home), "");
    }
}

#[test]
fn a_rule_for_a_file_comes_with_the_result_of_the_call() {
    for (dialect, name) in [
        (QWEN, "PostToolUse-write_file"),
        (COPILOT, "PostToolUse-Write"),
        (DROID, "PostToolUse-Create"),
        (GEMINI, "AfterTool-write_file"),
    ] {
        let home = Home::new();
        let session = Session::new(&home, dialect, "one");
        session.begins();
        add(&home, &["--paths", "made.txt", "one word in each line"]);
        let answer = session.tell(&session.recorded(name, &[]));
        assert!(answer.context.contains("one word in each line"), "{name}: {answer:?}");
        let edited = happened(&home, "edited");
        assert_eq!(edited[0].0, "made.txt", "{}", dialect.client);
    }
}

#[test]
fn a_tool_of_a_server_has_one_name_in_all_clients() {
    for (dialect, name) in [
        (QWEN, "PostToolUse-mcp__tiny__echo"),
        (DROID, "PostToolUse-tiny___echo"),
        (KIMI, "PostToolUse-mcp__tiny__echo"),
        (GEMINI, "AfterTool-mcp_tiny_echo"),
    ] {
        let home = Home::new();
        let session = Session::new(&home, dialect, "one");
        session.tell(&session.recorded(name, &[]));
        assert_eq!(happened(&home, "succeeded")[0].0, "mcp__tiny__echo", "{}", dialect.client);
    }
}

#[test]
fn events_that_say_nothing_new_are_not_recorded() {
    for (dialect, name) in [
        (QWEN, "UserPromptSubmit-after-tool-result"),
        (QWEN, "PostToolBatch-write_file-error"),
        (QWEN, "Notification"),
        (COPILOT, "Notification"),
        (COPILOT, "PermissionRequest-bash"),
        (COPILOT, "PreToolUse-Bash"),
        // Somebody denied it: the command has not run.
        (KIMI, "PostToolUseFailure-Bash"),
        (KIMI, "TurnStarted"),
        // It comes before every request, compacted or not.
        (GEMINI, "PreCompress-auto"),
        (GEMINI, "BeforeModel"),
    ] {
        let home = Home::new();
        add(&home, &["use pnpm"]);
        let session = Session::new(&home, dialect, "one");
        session.begins();
        let before = events(&home);
        session.tell(&session.recorded(name, &[])).is_silent();
        assert_eq!(events(&home), before, "{} {name}", dialect.client);
        assert_eq!(log(&home), "");
    }
}

/// In a trusted project, it runs the hooks in `.claude/settings.json`.
#[test]
fn copilot_is_known_by_its_payload_in_the_hooks_of_claude_code() {
    for args in [&["hook"][..], &["hook", "--client", "claude-code"]] {
        let home = Home::new();
        add(&home, &["use pnpm"]);
        let session = Session { args, ..Session::new(&home, COPILOT, "one") };
        assert!(session.begins().has_rule("use pnpm"), "{args:?}");
        session.says("from now on write tests first").is_silent();
        session.tell(&session.call("git push", Some("fatal: no upstream branch"), 1)).is_silent();
        assert_eq!(happened(&home, "failed").len(), 1, "{args:?}");
        session.tell(&session.recorded("Stop", &[])).is_silent();
        session.tell(&session.recorded("SessionEnd-complete", &[])).is_silent();
        assert_eq!(happened(&home, "stopped").len(), 1);
        assert_eq!(log(&home), "");
    }
}

/// The last event of Copilot CLI names its transcript, wherever its directory is. That of another
/// client in the hooks of Claude Code may have any form.
#[test]
fn no_transcript_of_another_client_is_read_as_claude_codes() {
    let transcript =
        "/home/user/.copilot/session-state/5c06f53a-ebb2-45d8-a399-bf2d83032c47/events.jsonl";
    for (path, is_copilot) in [
        ("/elsewhere/session-state/5c06f53a-ebb2-45d8-a399-bf2d83032c47/events.jsonl", true),
        ("/elsewhere/chats/5c06f53a-ebb2-45d8-a399-bf2d83032c47.jsonl", false),
    ] {
        let home = Home::new();
        add(&home, &["use pnpm"]);
        let session = Session { args: &["hook"], ..Session::new(&home, COPILOT, "one") };
        session.tell(&session.recorded("Stop", &[(transcript, path)])).is_silent();
        let sql = Connection::open(home.recoup().join("memory.db")).unwrap();
        let find = "SELECT client FROM events WHERE what = 'stopped'";
        let client: String = sql.query_row(find, [], |row| row.get(0)).unwrap();
        assert_eq!(client, if is_copilot { "copilot" } else { "claude-code" }, "{path}");
        assert!(queues(&home).is_empty(), "{path}");
        assert_eq!(log(&home), "");
    }
}

/// Hooks of the user and of the project, as `recoup init` and `recoup init --project` set them.
#[test]
fn hooks_at_both_levels_are_answered_and_heard_once() {
    for dialect in [QWEN, DROID, GEMINI] {
        let home = Home::new();
        add(&home, &["use pnpm"]);
        let session = Session::new(&home, dialect, "one");
        assert!(session.begins().has_rule("use pnpm"), "{}", dialect.client);
        session.begins().is_silent();
        session.says("from now on write tests first");
        session.says("from now on write tests first").is_silent();
        let call = session.call("git push", None, 1);
        session.tell(&call);
        session.tell(&call);
        for what in ["began", "prompted", "succeeded"] {
            assert_eq!(happened(&home, what).len(), 1, "{}: {:?}", dialect.client, events(&home));
        }
        // A compacted context has lost them.
        let compacted = changed(session.recorded(dialect.start, &[]), json!({"source": "compact"}));
        assert!(session.tell(&compacted).has_rule("use pnpm"), "{}", dialect.client);
        assert_eq!(log(&home), "");
    }
}

#[test]
fn one_malformed_part_of_a_prompt_does_not_hide_the_others() {
    for prompt in [
        json!([{"type": "text", "text": "from now on use pnpm", "id": 7}]),
        json!(["from now on use pnpm"]),
        json!([{"type": "image", "id": 7}, 3, {"type": "text", "text": "from now on use pnpm"}]),
    ] {
        let home = Home::new();
        let session = Session::new(&home, KIMI, "one");
        let told = changed(session.recorded(KIMI.prompt, &[]), json!({"prompt": prompt}));
        session.tell(&told);
        assert_eq!(remembered(&home, "active"), ["use pnpm"], "{prompt}");
        assert_eq!(log(&home), "");
    }
}

#[test]
fn copilot_with_two_hooks_is_answered_and_heard_once() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let own = Session::new(&home, COPILOT, "one");
    let other = Session { args: &["hook"], ..Session::new(&home, COPILOT, "one") };
    assert!(own.begins().has_rule("use pnpm"));
    other.begins().is_silent();
    let call = own.call("git push", Some("fatal: no upstream branch"), 1);
    for session in [own, other] {
        session.says("from now on write tests first").is_silent();
        session.tell(&call).is_silent();
        session.tell(&session.recorded("Stop", &[])).is_silent();
    }
    for (what, count) in [("began", 1), ("prompted", 1), ("failed", 1), ("stopped", 1)] {
        assert_eq!(happened(&home, what).len(), count, "{what}: {:?}", events(&home));
    }
}

/// Results that end with neither success nor failure, by what the clients write. Each also has the
/// output of a command that prints an exit code itself.
const UNKNOWN_ENDS: [(Dialect, &str, &str); 9] = [
    (
        GEMINI,
        "<untrusted_context>\nOutput: hello-from-shell\nProcess Group PGID: 22874\n</untrusted_context>",
        "Command was cancelled by user before it could complete. Below is the output before it was \
         cancelled:\nExit Code: 1",
    ),
    (
        GEMINI,
        "<untrusted_context>\nOutput: hello-from-shell\nProcess Group PGID: 22874\n</untrusted_context>",
        "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without \
         output. There was no output before it was cancelled.",
    ),
    (
        GEMINI,
        "<untrusted_context>\nOutput: hello-from-shell\nProcess Group PGID: 22874\n</untrusted_context>",
        "Command moved to background (PID: 77). Output hidden. Press Ctrl+B to view.",
    ),
    (
        GEMINI,
        "hello-from-shell\nProcess Group PGID: 22874",
        "(empty)\nSignal: 9\nBackground PIDs: 77\nProcess Group PGID: 22874",
    ),
    (
        QWEN,
        "hello-from-shell\nError: (none)\nExit Code: 0\nSignal: (none)",
        "Exit Code: 0\nError: (none)\nExit Code: (none)\nSignal: SIGKILL",
    ),
    (
        QWEN,
        "Command: echo hello-from-shell\nDirectory: (root)\nOutput: hello-from-shell\nError: (none)\n\
         Exit Code: 0\nSignal: (none)\nProcess Group PGID: (none)",
        "Command was cancelled by user before it could complete.",
    ),
    (
        COPILOT,
        "hello-from-shell\n<shellId: 0 completed with exit code 0>",
        "<shellId: 0 completed with exit code 0>\n<command with shellId: 0 is still running after 30 \
         seconds>",
    ),
    (COPILOT, "hello-from-shell\n<shellId: 0 completed with exit code 0>", ""),
    (
        DROID,
        "hello-from-shell\n\n\n[Process exited with code 0]",
        "Command timed out after 60 seconds",
    ),
];

#[test]
fn a_command_whose_end_is_unknown_has_no_outcome() {
    for (dialect, ended, unknown) in UNKNOWN_ENDS {
        let home = Home::new();
        let session = Session::new(&home, dialect, "one");
        session.begins();
        let quoted = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            text[1..text.len() - 1].to_owned()
        };
        session.tell(&session.recorded(dialect.called, &[(&quoted(ended), unknown)]));
        for what in ["succeeded", "failed"] {
            assert!(happened(&home, what).is_empty(), "{} {unknown}", dialect.client);
        }
        session.tell(&session.recorded(dialect.called, &[]));
        assert_eq!(happened(&home, "succeeded").len(), 1, "{}", dialect.client);
        assert_eq!(log(&home), "");
    }
}

#[test]
fn processes_that_gemini_leaves_in_the_background_do_not_hide_the_exit_code() {
    let home = Home::new();
    let session = Session::new(&home, GEMINI, "one");
    let more = [("Exit Code: 2", "Exit Code: 2\nBackground PIDs: 77")];
    session.tell(&session.recorded(GEMINI.failed.unwrap(), &more));
    assert_eq!(happened(&home, "failed").len(), 1);
}

#[test]
fn no_command_can_print_another_exit_code() {
    for dialect in ALL.into_iter().filter(|it| it.failed.is_some()) {
        let home = Home::new();
        let session = Session::new(&home, dialect, "one");
        let printed = "Exit Code: 0\n<shellId: 1 completed with exit code 0>\n\
                       Command failed with exit code: 0.\nfatal: it is broken";
        session.tell(&session.call("make all", Some(printed), 1));
        assert_eq!(happened(&home, "failed").len(), 1, "{}", dialect.client);
    }
}
