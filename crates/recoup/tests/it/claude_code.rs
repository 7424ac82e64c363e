//! With the real Claude Code, driven against a scripted model: what its hooks
//! print is looked for where it counts, in the requests to the model.
//!
//! Ignored otherwise, because the client is large and comes from the npm
//! registry: `cargo xtask test --full` brings it and runs these too.

mod client;
mod contract;
mod conversation;
mod enforced;
mod gateway;
mod hooks;
mod installed;
mod mirror;
mod newcomer;
mod older;
mod plugin_of_claude;
mod replayed;
mod sessions;
mod terminal;

use serde_json::json;

use client::Client;
use hooks::Hook;

use crate::model::{Answer, Script};

const RULE: &str = "Never use var in JavaScript.";

/// A client whose user has recorded the rule.
fn client_with_the_rule(hook: &Hook, script: Script) -> Client {
    let client = Client::new(hook, script);
    client.home.run(&["memory", "add", RULE]).expect(0);
    client
}

/// Starts a sub-agent that says `prompt`, and waits for it or not.
fn sub_agent(prompt: &str, run_in_background: bool) -> Answer {
    let input = json!({
        "description": "a test",
        "prompt": prompt,
        "subagent_type": "general-purpose",
        "run_in_background": run_in_background,
    });
    Answer::tool("Agent", input)
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_new_session_begins_with_the_rule() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    client.ask(&[], "hello");
    assert_eq!(client.asked().len(), 1);
    assert_eq!(client.last_asked().count(RULE), 1);
}

/// The proof that the other tests can fail.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn without_the_hook_no_request_has_the_rule() {
    let script = Script::default().on("delegate", sub_agent("look around", false));
    let client = client_with_the_rule(&Hook::None, script);
    let mut conversation = client.talk();
    for prompt in ["hello", "delegate", "/compact", "go on"] {
        conversation.say(prompt);
    }
    conversation.end();
    let asked = client.asked();
    assert_eq!(asked.len(), 6, "one for each, the sub-agent's and the one with its result");
    assert!(asked.iter().all(|request| request.count(RULE) == 0));
    assert_eq!(client.starts(), ["startup", "compact"]);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_resumed_or_forked_session_has_the_rule_once() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    client.ask(&[], "hello");
    for arguments in [&["--continue"][..], &["--continue", "--fork-session"]] {
        client.ask(arguments, "again");
        let request = client.last_asked();
        assert_eq!(request.count("hello"), 1, "the same conversation");
        assert_eq!(request.count(RULE), 1, "{arguments:?}");
    }
    assert_eq!(client.starts(), ["startup", "resume", "fork"]);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_rule_is_back_after_a_compaction_that_was_asked_for() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    let mut conversation = client.talk();
    for prompt in ["hello", "/compact", "go on"] {
        conversation.say(prompt);
    }
    conversation.end();
    assert_compacted(&client);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_rule_is_back_after_a_compaction_that_came_by_itself() {
    let script = Script::default().on("hello", Answer::text("Long.").filling_the_context());
    let client = client_with_the_rule(&Hook::Recoup, script);
    let mut conversation = client.talk();
    for prompt in ["hello", "go on"] {
        conversation.say(prompt);
    }
    conversation.end();
    assert_compacted(&client);
}

/// `hello`, a summary of it, and `go on`, which has the summary instead of
/// `hello`, and the rule once more.
#[track_caller]
fn assert_compacted(client: &Client) {
    let asked = client.asked();
    let [before, summary, after] = asked.as_slice() else { panic!("{} requests", asked.len()) };
    assert_eq!(before.count(RULE), 1);
    assert!(summary.asks_for_a_summary());
    assert_eq!(after.count("They talked."), 1);
    assert_eq!(after.count("hello"), 0);
    assert_eq!(after.count(RULE), 1);
    assert_eq!(client.starts(), ["startup", "compact"]);
}

/// The proof that compaction takes away what a session began with.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn compaction_drops_what_only_the_start_has_said() {
    // The text is put together: what was typed as a command reaches the model
    // as well, in what the client tells it about `/compact`.
    let script = r#"grep -q '"startup"' && echo said at "" the start; exit 0"#;
    let hook = Hook::Script(script.into());
    let client = Client::new(&hook, Script::default());
    let mut conversation = client.talk();
    for prompt in ["hello", "and", "/compact", "go on"] {
        conversation.say(prompt);
    }
    conversation.end();
    let counts: Vec<_> =
        client.asked().iter().map(|request| request.count("said at  the start")).collect();
    assert_eq!(counts, [1, 1, 1, 0]);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_sub_agent_has_the_rule_whether_it_is_waited_for_or_not() {
    let script = Script::default()
        .on("delegate", sub_agent("look around", false))
        .on("send off", sub_agent("look further", true));
    let client = client_with_the_rule(&Hook::Recoup, script);
    for (prompt, task) in [("delegate", "look around"), ("send off", "look further")] {
        client.ask(&[], prompt);
        let asked = client.asked();
        let own: Vec<_> = asked.iter().filter(|request| request.newest_says(task)).collect();
        let [own] = own.as_slice() else { panic!("{} requests with `{task}`", own.len()) };
        assert!(own.agent.is_some());
        assert_eq!(own.count(RULE), 1, "{prompt}");
    }
    let agents = client.asked().iter().filter(|request| request.agent.is_some()).count();
    assert_eq!(agents, 2);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_person_who_clears_the_conversation_has_the_rule_again() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    let mut terminal = client.sit_down();
    terminal.enter("hello", || client.fields("Stop", "cwd").len() == 1);
    terminal.enter("/clear", || client.starts() == ["startup", "clear"]);
    terminal.enter("begin", || client.fields("Stop", "cwd").len() == 2);
    terminal.leave();
    let request = client.last_asked();
    assert!(request.newest_says("begin"));
    assert_eq!((request.count("hello"), request.count(RULE)), (0, 1));
}

/// Three processes, of which the second only compacts.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_session_that_was_compacted_and_resumed_has_the_rule_once() {
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    client.ask(&[], "hello");
    client.ask(&["--continue"], "/compact");
    client.ask(&["--continue"], "go on");
    let request = client.last_asked();
    assert_eq!(request.count("They talked."), 1);
    assert_eq!(request.count(RULE), 1);
    assert_eq!(client.starts(), ["startup", "resume", "compact", "resume"]);
}
