//! Say it once: what the user said is applied in the next conversation, after a
//! compaction, on resume, and by sub-agents.

use serde_json::json;

use super::{Talk, add, happened, remembered};
use crate::support::Home;

#[test]
fn what_is_said_once_is_given_to_the_next_session() {
    let home = Home::new();
    let first = Talk::new(&home, "first");
    first.tell("SessionStart-startup").is_silent();
    let reply = first.says("from now on use pnpm");
    assert_eq!(reply.notice, "recoup: will remember: use pnpm");
    assert_eq!(reply.context, "", "the agent has just read it");
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);

    let reply = Talk::new(&home, "second").tell("SessionStart-startup");
    reply.has_rules(&["use pnpm"]);
    assert_eq!(reply.notice, "");
}

#[test]
fn every_beginning_gives_what_its_context_does_not_have() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let talk = Talk::new(&home, "one");
    talk.tell("SessionStart-startup").has_rules(&["use pnpm"]);
    talk.tell("SessionStart-resume").is_silent();
    add(&home, &["never push to main"]);
    talk.tell("SessionStart-resume").has_rules(&["never push to main"]);
    talk.tell("SessionStart-resume").is_silent();
    let reply = talk.tell("SessionStart-compact");
    reply.has_rules(&["use pnpm", "never push to main"]);
    assert_eq!(reply.notice, "recoup: 2 rules are in the compacted context again");
    talk.tell("SessionStart-resume").is_silent();
    // Nothing says where this one comes from.
    let fork = Talk::new(&home, "fork").tell("SessionStart-fork");
    fork.has_rules(&["use pnpm", "never push to main"]);
    let clear = Talk::new(&home, "clear").tell("SessionStart-clear");
    clear.has_rules(&["use pnpm", "never push to main"]);
    let began = happened(&home, "began");
    let how: Vec<&str> = began.iter().map(|(how, _)| how.as_str()).collect();
    let expected = ["startup", "resume", "resume", "resume", "compact", "resume", "fork", "clear"];
    assert_eq!(how, expected);
}

#[test]
fn a_branch_is_given_what_the_session_that_it_comes_from_does_not_have() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    Talk::new(&home, "parent").tell("SessionStart-startup").has_rules(&["use pnpm"]);
    add(&home, &["never push to main"]);
    let copy = json!({"type": "user", "sessionId": "branch", "message": {"content": "hello"},
                      "forkedFrom": {"sessionId": "parent", "messageUuid": "x"}});
    let lines = format!("{}\n{copy}\n", json!({"type": "mode", "sessionId": "branch"}));
    let transcript = json!({"transcript_path": home.write("branch.jsonl", lines)});
    let branch = Talk::new(&home, "branch");
    branch.tell_with("SessionStart-fork", transcript.clone()).has_rules(&["never push to main"]);
    branch.tell_with("SessionStart-resume", transcript).is_silent();
    branch.calls("git push -u origin topic").is_silent();
    // Of a session that we never saw nothing is known.
    let other = copy.to_string().replace("parent", "stranger");
    let transcript = json!({"transcript_path": home.write("other.jsonl", other)});
    let reply = Talk::new(&home, "other").tell_with("SessionStart-fork", transcript);
    reply.has_rules(&["use pnpm", "never push to main"]);
}

#[test]
fn the_same_rules_are_the_same_bytes() {
    let home = Home::new();
    for rule in ["use pnpm", "never push to main", "put tests in __tests__/"] {
        add(&home, &[rule]);
    }
    let first = Talk::new(&home, "one").tell("SessionStart-startup").context;
    let second = Talk::new(&home, "two").tell("SessionStart-startup").context;
    assert_eq!(first, second);
}

#[test]
fn what_there_was_no_room_for_is_not_new_on_resume() {
    let home = Home::new();
    for number in 0..150 {
        add(&home, &[&format!("rule {number}: {}", "always mind the gap ".repeat(6))]);
    }
    let talk = Talk::new(&home, "one");
    let reply = talk.tell("SessionStart-startup");
    assert!(reply.context.contains("More rules are recorded than fit here"));
    talk.tell("SessionStart-resume").is_silent();
}

#[test]
fn a_sub_agent_is_given_the_rules_in_a_context_of_its_own() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    let talk = Talk::new(&home, "one");
    talk.tell("SessionStart-startup").has_rules(&["never push to main"]);
    talk.tell("SubagentStart").has_rules(&["never push to main"]);
    let inside = json!({"tool_input": {"command": "git push -u origin topic"}});
    talk.tell_with("PreToolUse-Bash-in-subagent", inside.clone()).is_silent();
    talk.tell_with("SubagentStart", json!({"agent_id": "another"}))
        .has_rules(&["never push to main"]);
    talk.tell("SubagentStop").is_silent();
    let tasks = happened(&home, "task");
    assert_eq!(tasks, [("completed".to_owned(), "general-purpose".to_owned())]);
}

#[test]
fn a_sub_agent_without_a_name_is_given_the_rules_and_takes_none_from_the_session() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    let talk = Talk::new(&home, "one");
    let nameless = json!({"agent_id": null});
    talk.tell_with("SubagentStart", nameless.clone()).has_rules(&["never push to main"]);
    talk.tell("SessionStart-startup").has_rules(&["never push to main"]);
    talk.tell_with("SubagentStart", nameless).has_rules(&["never push to main"]);
    talk.tell("SessionStart-resume").is_silent();
}

#[test]
fn the_end_of_a_compaction_is_no_sub_agent() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.tell("PreCompact-auto").is_silent();
    talk.tell("SubagentStop-compaction").is_silent();
    assert_eq!(happened(&home, "task"), []);
    assert_eq!(happened(&home, "compacted").len(), 1);
}

#[test]
fn a_change_of_mind_is_told_and_counts_at_once() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use pnpm");
    let reply = talk.says("from now on use yarn");
    assert_eq!(reply.notice, "recoup: will remember: use yarn, instead of: use pnpm");
    assert_eq!(reply.context, "", "what gave way is not brought up");
    assert_eq!(remembered(&home, "active"), ["use yarn"]);
    assert_eq!(remembered(&home, "superseded"), ["use pnpm"]);
    Talk::new(&home, "two").tell("SessionStart-startup").has_rules(&["use yarn"]);
}

#[test]
fn the_same_again_is_confirmation_and_the_same_event_is_not() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use pnpm");
    talk.says("from now on use pnpm").is_silent();
    let evidence =
        || home.run(&["memory", "list", "--json"]).expect(0).json()[0]["evidence"].clone();
    assert_eq!(evidence(), 1, "two hooks told of one prompt");
    let again = json!({"prompt": "from now on use pnpm", "prompt_id": "another"});
    let reply = talk.tell_with("UserPromptSubmit", again);
    assert_eq!(reply.notice, "recoup: remembered already: use pnpm");
    assert_eq!(evidence(), 2);
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
}

#[test]
fn before_a_call_only_what_concerns_it_is_said_and_only_once() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    add(&home, &["--paths", "db/**", "keep every change reversible"]);
    let talk = Talk::new(&home, "one");
    talk.calls("cargo test --workspace").is_silent();
    talk.calls("git push -u origin topic").has_rules(&["never push to main"]);
    talk.calls("git push -u origin topic").is_silent();
    let edit = |name: &str| {
        let path = home.project().join(name);
        talk.tell_with("PreToolUse-Edit", json!({"tool_input": {"file_path": path}}))
    };
    edit("src/main.rs").is_silent();
    edit("db/schema.sql").has_rules(&["[only for db/**] keep every change reversible"]);
    edit("db/schema.sql").is_silent();
}

#[test]
fn a_rule_about_what_a_call_does_concerns_it_whatever_else_it_says() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    add(&home, &["for commits use conventional commits"]);
    add(&home, &["push notifications are sent by the worker"]);
    add(&home, &["release notes are written by hand"]);
    let called = |session: &str, tool: &str| {
        let call = json!({"tool_name": tool, "tool_input": {"a": "b"}});
        Talk::new(&home, session).tell_with("PreToolUse-mcp__echo__echo", call)
    };
    called("one", "mcp__git__push").has_rules(&["never push to main"]);
    called("one", "mcp__git__push").is_silent();
    called("one", "mcp__git__git_commit").has_rules(&["for commits use conventional commits"]);
    called("one", "mcp__git__release").is_silent();
    called("one", "mcp__git__log").is_silent();
    let talk = Talk::new(&home, "two");
    talk.calls("git add -A && git commit -m x")
        .has_rules(&["for commits use conventional commits"]);
    talk.calls("git push -u origin topic").has_rules(&["never push to main"]);
    talk.calls("git status").is_silent();
}

#[test]
fn a_prompt_brings_up_what_is_remembered_about_it() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.tell("SessionStart-startup").is_silent();
    add(&home, &["staging runs on port 8443"]);
    talk.says("please look into the failing build").is_silent();
    talk.says("which port does staging run on?").has_rules(&["staging runs on port 8443"]);
    talk.says("and on which port does staging run?").is_silent();
}

#[test]
fn where_work_stood_is_told_to_the_next_one() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let path = home.recoup().join("memory.db");
    let sql = rusqlite::Connection::open(path).unwrap();
    let scope: String = sql.query_row("SELECT scope FROM notes", [], |row| row.get(0)).unwrap();
    let body =
        json!({"remaining": ["the </recoup-checkpoint> parser"], "completed": ["the lexer"]});
    let sql = sql.execute(
        "INSERT INTO checkpoints SELECT ?1, updated, ?2 FROM notes",
        (scope, body.to_string()),
    );
    assert_eq!(sql, Ok(1));
    let context = Talk::new(&home, "one").tell("SessionStart-startup").context;
    assert!(context.contains("\nRemains: the &lt;/recoup-checkpoint> parser\nDone: the lexer\n"));
    assert_eq!(context.matches("</recoup-checkpoint>").count(), 1, "{context}");
    assert!(context.contains("An agent wrote this, not the user"), "{context}");
}

#[test]
fn rules_of_the_team_that_nobody_has_accepted_are_announced_and_not_given() {
    let home = Home::new();
    let rules = "# Rules\n\n## Preferences\n\n- use tabs\n";
    std::fs::write(home.project().join("recoup-rules.md"), rules).unwrap();
    let reply = Talk::new(&home, "one").tell("SessionStart-startup");
    assert_eq!(reply.context, "");
    assert_eq!(
        reply.notice,
        "recoup: recoup-rules.md of this repository has no effect until you run `recoup trust`"
    );
    assert_eq!(Talk::new(&home, "one").tell("SessionStart-resume").notice, "");
}
