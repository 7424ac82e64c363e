//! Lessons that come with the failure that they explain, and rules that come with the prompt that
//! they concern.

use serde_json::json;

use super::{Talk, changed, codex, cursor, fixture, pi, remembered};
use crate::support::Home;

const LESSON: &str = "`git push` fails (exit code 128, no upstream branch); \
                      `git push -u origin <branch>` works";

fn output(branch: &str) -> String {
    format!(
        "fatal: The current branch {branch} has no upstream branch.\n\
         To push the current branch and set the remote as upstream, use\n\n    \
         git push --set-upstream origin {branch}\n"
    )
}

fn pushes(talk: &Talk<'_>, branch: &str, call: &str) -> super::Reply {
    talk.fails("git push", call, &format!("Exit code 128\n{}", output(branch)))
}

/// Two sessions in which a push failed, and another worked.
fn learn(home: &Home) {
    for (session, branch) in [("one", "feature-a"), ("two", "fix/login")] {
        let talk = Talk::new(home, session);
        pushes(&talk, branch, &format!("{session} failed"));
        talk.succeeds(&format!("git push -u origin {branch}"), &format!("{session} worked"));
    }
    assert_eq!(remembered(home, "active"), [LESSON], "one for all branches");
}

#[test]
fn a_failure_comes_with_the_lesson_that_explains_it_once_and_whatever_the_branch() {
    let home = Home::new();
    let first = Talk::new(&home, "one");
    pushes(&first, "feature-a", "1").is_silent();
    first.succeeds("git push -u origin feature-a", "2").is_silent();
    assert_eq!(remembered(&home, "candidate"), [LESSON]);

    let second = Talk::new(&home, "two");
    let reply = pushes(&second, "feature-b", "3");
    reply.has_rules(&[LESSON]);
    assert_eq!(reply.notice, format!("recoup: learned: {LESSON}"));
    assert_eq!(pushes(&second, "feature-b", "4").context, "", "this context has it");

    let third = Talk::new(&home, "three");
    pushes(&third, "release/2027-01", "5").has_rules(&[LESSON]);
    third.succeeds("git push -u origin release/2027-01", "6").is_silent();
    assert_eq!(remembered(&home, "active"), [LESSON]);
    assert_eq!(remembered(&home, "candidate"), [""; 0]);
}

#[test]
fn what_a_command_varies_in_is_one_lesson() {
    let home = Home::new();
    let error = "Exit code 1\nerror: it needs a tracking reference";
    for (session, branch) in [("one", "feature-a"), ("two", "feature-b")] {
        let talk = Talk::new(&home, session);
        let reply = talk.fails(&format!("git push origin {branch}"), session, error);
        let worked = format!("{session} worked");
        talk.succeeds(&format!("git push -u origin {branch}"), &worked);
        let lesson =
            ["`git push origin <branch>` fails (exit code 1); `git push -u origin <branch>` works"];
        reply.has_rules(if session == "two" { &lesson } else { &[] });
    }
    assert_eq!(remembered(&home, "active").len(), 1);
}

#[test]
fn what_works_for_one_branch_only_is_not_given_on_another() {
    let home = Home::new();
    let first = Talk::new(&home, "one");
    pushes(&first, "feature-a", "1").is_silent();
    first.succeeds("git push origin HEAD:feature-a", "2").is_silent();
    pushes(&Talk::new(&home, "two"), "feature-b", "3").is_silent();
    let lesson = "`git push` fails (exit code 128, no upstream branch: `feature-a`); \
                  `git push origin HEAD:feature-a` works";
    pushes(&Talk::new(&home, "three"), "feature-a", "4").has_rules(&[lesson]);
    pushes(&Talk::new(&home, "four"), "feature-b", "5").is_silent();
    assert_eq!(remembered(&home, "active"), [lesson]);
}

#[test]
fn another_failure_of_the_same_command_brings_nothing() {
    let home = Home::new();
    learn(&home);
    let talk = Talk::new(&home, "three");
    let other = "Exit code 128\nfatal: unable to access 'https://x.example/': timed out";
    talk.fails("git push", "1", other).is_silent();
    let main = "Exit code 128\nfatal: The current branch main has no upstream branch.";
    talk.fails("git push", "2", main).is_silent();
    talk.succeeds("git push", "3").is_silent();
}

#[test]
fn other_clients_are_told_at_the_events_that_they_have() {
    let home = Home::new();
    let pi_starts = json!({"type": "before_agent_start", "prompt": "go"});
    pi::tell(&home, pi_starts);
    cursor::tell(&home, &cursor::payload(&home, "sessionStart", json!({})));
    learn(&home);

    let call = json!({"session_id": "codex", "tool_input": {"command": "git push"},
        "tool_response": output("topic-c")});
    codex::tell(&home, "PostToolUse", call.clone()).has_rules(&[LESSON]);
    codex::tell(&home, "PostToolUse", call).is_silent();
    let worked = json!({"session_id": "other", "tool_input": {"command": "git push"},
        "tool_response": "Everything is in order\n"});
    codex::tell(&home, "PostToolUse", worked).is_silent();

    let result = json!({"toolCallId": "x", "input": {"command": "git push"},
        "content": [{"type": "text", "text": output("topic-d")}],
        "structuredContent": {"output": output("topic-d"), "exit_code": 128}});
    let result = changed(fixture("pi", "events")["tool_result"].clone(), result);
    let reply = pi::tell(&home, result);
    assert!(reply["context"].as_str().unwrap().contains(LESSON), "{reply}");

    let failed = json!({"tool_name": "Shell", "tool_input": {"command": "git push"},
        "tool_use_id": "t1", "failure_type": "error",
        "error_message": format!("{}Command failed with exit code 128", output("topic-e"))});
    let reply = cursor::tell(&home, &cursor::payload(&home, "postToolUseFailure", failed));
    assert!(reply["additional_context"].as_str().unwrap().contains(LESSON), "{reply}");
}

/// Rules of a project with many clients.
const SERVICES: [&str; 24] = [
    "shop", "payments", "people", "search", "email", "billing", "stock", "shipping", "catalogue",
    "pricing", "charts", "auth", "alerts", "webhooks", "exports", "imports", "reviews", "sessions",
    "tickets", "ledger", "tax", "loyalty", "media", "audit",
];
const RULES: [&str; 6] = [
    "the {s} client must have a timeout of 5 seconds",
    "the {s} client must never follow redirects",
    "{s} client: idempotency keys for each POST",
    "never call the {s} API from a migration",
    "the tests of the {s} service need the queue emulator",
    "log lines of the {s} worker are JSON",
];

#[test]
fn a_prompt_about_one_of_many_things_brings_the_rules_about_that_one() {
    let home = Home::new();
    let about = |name: &str| RULES.map(|rule| rule.replace("{s}", name));
    let texts = SERVICES.iter().flat_map(|name| about(name));
    let texts = texts.chain(["the payments client must never retry a POST".to_owned()]);
    let notes = texts.enumerate().map(|(at, text)| {
        json!({"id": format!("{at:08}"), "kind": "preference", "text": text, "source": "manual",
            "scope": "universal", "status": "active", "evidence": 1, "tokens": 12, "created": 1,
            "updated": 1})
    });
    let lines = [json!({"recoup": "memory", "version": 1})].into_iter().chain(notes);
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    home.run_with_stdin(&["memory", "import", "-"], lines.join("\n").as_bytes()).expect(0);
    for (n, prompt) in [
        "add a retry to the payments client",
        "please make the payments client log what it sends",
        "The payments client returns an empty list for refunds, why?",
        "write a mock of the payments client for the tests",
    ]
    .iter()
    .enumerate()
    {
        let reply = Talk::new(&home, &format!("session-{n}")).says(prompt);
        let told: Vec<&str> = reply.context.lines().filter(|line| line.starts_with("- ")).collect();
        assert!(!told.is_empty(), "{prompt}");
        assert!(told.iter().all(|line| line.contains("payments client")), "{prompt}: {told:?}");
        if n == 0 {
            assert!(reply.context.contains("must never retry a POST"), "{told:?}");
        }
    }
    for prompt in [
        "update the readme",
        "write a client for the weather forecast",
        "what is the difference between a client and a server?",
        "add a retry to the flaky test",
        "why is the build of the docs so slow?",
    ] {
        assert_eq!(Talk::new(&home, "unrelated").says(prompt).context, "", "{prompt}");
    }
}
