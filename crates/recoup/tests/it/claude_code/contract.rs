//! What is taken for granted about the client, held against the client: which
//! events come, with what, in which surroundings, and how hooks end.

use std::collections::BTreeSet;

use super::client::Client;
use super::hooks::{Hook, Seen};
use super::{client_with_the_rule, sub_agent};
use crate::install::EVENTS;
use crate::model::{Answer, Script};

/// A conversation in which everything happens.
fn everything() -> Script {
    Script::default()
        .on("list", Answer::bash("echo one"))
        .on("break", Answer::bash("echo no such thing >&2; exit 3"))
        .on("delegate", sub_agent("look around", false))
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn every_event_comes_and_every_hook_ends_well() {
    let client = client_with_the_rule(&Hook::Recoup, everything());
    let mut conversation = client.talk();
    for prompt in ["list", "break", "delegate", "/compact"] {
        conversation.say(prompt);
    }
    let heard = conversation.end();
    let seen = client.seen();
    let events: BTreeSet<_> = seen.iter().map(Seen::event).collect();
    // The model answers each time: no turn ends with its failure.
    let all = EVENTS.into_iter().chain(["PostToolBatch"]);
    let expected = all.filter(|event| *event != "StopFailure");
    assert_eq!(events, expected.collect());
    let ended: Vec<_> = heard.iter().filter(|line| line["subtype"] == "hook_response").collect();
    let loud: BTreeSet<_> = ended.iter().map(|line| line["hook_event"].as_str().unwrap()).collect();
    assert!(loud.len() >= 8, "the client tells how hooks ended: {loud:?}");
    for line in ended {
        assert_eq!(
            (&line["exit_code"], &line["outcome"]),
            (&0.into(), &"success".into()),
            "{line}"
        );
        assert_eq!(line["stderr"], "", "{line}");
    }
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn payloads_have_what_is_read_from_them() {
    let client = client_with_the_rule(&Hook::Recoup, everything());
    let mut conversation = client.talk();
    for prompt in ["list", "break"] {
        conversation.say(prompt);
    }
    conversation.end();
    let seen = client.seen();
    let payload = |event: &str| &first(&seen, event).payload;
    assert_eq!(payload("SessionStart")["source"], "startup");
    assert_eq!(payload("UserPromptSubmit")["prompt"], "list");
    assert_eq!(payload("PreToolUse")["tool_input"]["command"], "echo one");
    assert_eq!(payload("PostToolUse")["tool_response"]["stdout"], "one");
    let failure = payload("PostToolUseFailure")["error"].as_str().unwrap();
    assert_eq!(failure, "Exit code 3\nno such thing");
    assert_eq!(payload("PostToolBatch")["tool_calls"][0]["tool_name"], "Bash");
    assert_eq!(payload("Stop")["last_assistant_message"], "Fine.");
    assert_eq!(payload("Stop")["stop_hook_active"], false);
    assert_eq!(payload("SessionEnd")["reason"], "other");
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_transcript_is_where_events_say_but_not_from_the_beginning() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    client.ask(&[], "hello");
    let seen = client.seen();
    let session = seen[0].field("session_id");
    let project =
        client.home.project().to_string_lossy().replace(|c: char| !c.is_alphanumeric(), "-");
    let path = client.home.path(&format!(".claude/projects/{project}/{session}.jsonl"));
    assert!(path.is_file());
    for event in &seen {
        assert_eq!(event.field("transcript_path"), path.to_str().unwrap());
        assert_eq!(event.field("cwd"), client.home.project().to_str().unwrap());
        assert_eq!(event.field("session_id"), session);
    }
    // The client writes it beside what it does: at a stop it may be there, or not yet.
    let there = |seen: &Seen| (seen.event() != "Stop").then_some(seen.transcript);
    let there: Vec<_> = seen.iter().map(|seen| (seen.event(), there(seen))).collect();
    let expected = [
        ("SessionStart", Some(false)),
        ("UserPromptSubmit", Some(false)),
        ("Stop", None),
        ("SessionEnd", Some(true)),
    ];
    assert_eq!(there, expected);
}

/// By this what a person has said is told from what a script says.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_environment_tells_whether_a_person_is_there() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    client.ask(&[], "hello");
    let mut conversation = client.talk();
    conversation.say("hello");
    conversation.end();
    assert_eq!(entrypoints(&client), ["sdk-cli"]);

    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    let mut terminal = client.sit_down();
    terminal.enter("hello", || !client.fields("Stop", "cwd").is_empty());
    terminal.leave();
    assert_eq!(entrypoints(&client), ["cli"]);
    assert_eq!(client.fields("SessionEnd", "reason"), ["prompt_input_exit"]);
}

fn entrypoints(client: &Client) -> Vec<String> {
    let all: BTreeSet<_> = client.seen().into_iter().map(|seen| seen.entrypoint).collect();
    all.into_iter().collect()
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_finished_agent_in_the_background_is_told_as_a_prompt_that_nobody_typed() {
    let script = Script::default().on("send off", sub_agent("look further", true));
    let client = client_with_the_rule(&Hook::Recoup, script);
    client.ask(&[], "send off");
    let prompts = client.fields("UserPromptSubmit", "prompt");
    let [typed, told] = prompts.as_slice() else { panic!("{prompts:#?}") };
    assert_eq!(typed, "send off");
    assert!(told.starts_with("<task-notification>"), "{told}");
    assert!(told.contains("<status>completed</status>"), "{told}");
    assert_eq!(client.fields("SubagentStop", "agent_type"), ["general-purpose"]);
}

/// The limit is on the text, not on the JSON around it, and counts a character
/// outside the basic plane twice.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn ten_thousand_units_reach_the_model_and_of_one_more_only_a_preview() {
    let print = r#"cat > /dev/null; text=$(printf '%5000s' | sed "s/ /😀/g")"#;
    for (more, arrived) in [("", 5000), ("x", 1000)] {
        let script = format!(
            r#"{print}{more}; printf '{{"hookSpecificOutput":{{"hookEventName":"SessionStart","additionalContext":"%s"}}}}' "$text""#
        );
        let client = Client::new(&Hook::Script(script), Script::default());
        client.ask(&[], "hello");
        assert_eq!(client.last_asked().count("😀"), arrived, "and {} more", more.len());
    }
}

#[track_caller]
fn first<'a>(seen: &'a [Seen], event: &str) -> &'a Seen {
    seen.iter().find(|seen| seen.event() == event).unwrap_or_else(|| panic!("no {event}"))
}
