//! Rules with checks: a call that would break one reminds, asks or is refused, and what became of
//! the rule is counted.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{Talk, add, happened, hook, log, remembered};
use crate::support::Home;

/// What a client is told about a call before it starts.
fn told(home: &Home, args: &[&str], payload: &Value) -> Value {
    let output = hook(home.command(args), payload.to_string().as_bytes()).expect(0);
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() { Value::Null } else { output.json() }
}

/// Claude Code's hook before a call, in a terminal.
fn before(home: &Home, changes: Value) -> Value {
    let payload = Talk::new(home, "s").payload("PreToolUse-Bash", changes);
    let mut command = home.command(&["hook"]);
    command.env("CLAUDE_CODE_ENTRYPOINT", "cli");
    let output = hook(command, payload.to_string().as_bytes()).expect(0);
    if output.stdout.is_empty() { Value::Null } else { output.json() }
}

/// The same for a command, each time as another call.
fn runs(home: &Home, command: &str) -> Value {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let id = format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed));
    before(home, json!({"tool_input": {"command": command}, "tool_use_id": id}))
}

fn decision(reply: &Value) -> (&str, &str) {
    let own = &reply["hookSpecificOutput"];
    let text = |name: &str| own[name].as_str().unwrap_or_default();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// Id of the only rule.
fn rule_id(home: &Home) -> String {
    let list = home.run(&["memory", "list", "--json"]).expect(0).json();
    list[0]["id"].as_str().unwrap().to_owned()
}

fn enforce(home: &Home, strength: &str) {
    home.run(&["memory", "enforce", &rule_id(home), strength]).expect(0);
}

#[test]
fn a_call_that_breaks_a_rule_is_given_the_rule_again() {
    let home = Home::new();
    let talk = Talk::new(&home, "s");
    talk.says("from now on use pnpm, never npm");
    for call in ["a", "b"] {
        let changes = json!({"tool_input": {"command": "npm install"}, "tool_use_id": call});
        let reply = talk.tell_with("PreToolUse-Bash", changes);
        reply.has_rules(&["use pnpm, never npm"]);
        assert!(reply.context.contains("breaks a rule"), "{}", reply.context);
    }
    talk.calls("echo 'npm install'").is_silent();
    talk.calls("git commit -m \"stop using npm\"").is_silent();
    assert_eq!(happened(&home, "reminded").len(), 2);
    assert_eq!(log(&home), "");
}

#[test]
fn a_rule_can_refuse_a_call_and_says_what_to_do_instead() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    enforce(&home, "block");
    let reply = runs(&home, "cd web && npm install");
    let (what, why) = decision(&reply);
    assert_eq!(what, "deny", "{reply}");
    assert!(why.contains("“use pnpm, never npm”") && why.contains("Use pnpm instead"), "{why}");
    assert_eq!(
        runs(&home, "cd web && pnpm install")["hookSpecificOutput"]["permissionDecision"],
        Value::Null
    );
    assert_eq!(log(&home), "");
}

#[test]
fn a_call_that_was_refused_twice_passes_with_a_reminder() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    enforce(&home, "block");
    assert_eq!(decision(&runs(&home, "npm ci")).0, "deny");
    assert_eq!(decision(&runs(&home, "npm ci")).0, "deny");
    let third = runs(&home, "npm ci");
    assert_eq!(decision(&third).0, "", "{third}");
    assert!(
        third["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("never npm")
    );
    assert!(third["systemMessage"].as_str().unwrap().contains("refused the same twice"));
    assert_eq!(decision(&runs(&home, "npm run build")).0, "deny", "another call");
}

#[test]
fn an_attempt_in_other_words_is_the_same_attempt() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    enforce(&home, "block");
    let tries = |number: usize| {
        let input = json!({"command": "npm ci", "description": format!("attempt {number}")});
        let reply = before(&home, json!({"tool_input": input, "tool_use_id": number.to_string()}));
        decision(&reply).0.to_owned()
    };
    assert_eq!([1, 2, 3].map(tries), ["deny", "deny", ""]);
    Talk::new(&home, "s").succeeds("pnpm install", "kept");
    assert_eq!(tries(4), "deny", "it was kept meanwhile");
}

#[test]
fn a_decision_hides_no_other_rule_for_ever() {
    let home = Home::new();
    add(&home, &["don't touch db/migrations"]);
    enforce(&home, "block");
    add(&home, &["--paths", "db/**", "SQL keywords are in capitals"]);
    let write = |path: &str| {
        before(
            &home,
            json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": ""}}),
        )
    };
    assert_eq!(decision(&write("db/migrations/1.sql")).0, "deny");
    let next = write("db/seeds.sql");
    let context = next["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(context.contains("SQL keywords"), "{next}");
}

#[test]
fn only_a_person_is_asked() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    enforce(&home, "ask");
    let input = json!({"command": "git push origin main"});
    let asked = runs(&home, "git push origin main");
    let (what, why) = decision(&asked);
    assert_eq!(what, "ask");
    assert!(why.contains("never push to main"), "{why}");
    let in_agent = before(&home, json!({"tool_input": input, "agent_id": "a1", "agent_type": "x"}));
    assert_eq!(decision(&in_agent).0, "", "a sub-agent is reminded: {in_agent}");
    assert!(in_agent["hookSpecificOutput"]["additionalContext"].is_string());
    let payload = Talk::new(&home, "s2").payload("PreToolUse-Bash", json!({"tool_input": input}));
    let mut headless = home.command(&["hook"]);
    headless.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    let reply = hook(headless, payload.to_string().as_bytes()).expect(0).json();
    assert_eq!(decision(&reply).0, "", "{reply}");
    let mut configured = home.command(&["hook"]);
    configured.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    configured.env("RECOUP_RULES_ENFORCE_HEADLESS", "true");
    let reply = hook(configured, payload.to_string().as_bytes()).expect(0).json();
    assert_eq!(decision(&reply).0, "ask", "{reply}");
}

#[test]
fn a_pause_and_off_let_every_call_pass() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    enforce(&home, "block");
    home.run(&["pause"]).expect(0);
    assert_eq!(runs(&home, "npm ci"), Value::Null);
    home.run(&["resume"]).expect(0);
    assert_eq!(decision(&runs(&home, "npm ci")).0, "deny");
    enforce(&home, "off");
    assert_eq!(decision(&runs(&home, "npm run x")).0, "");
}

#[test]
fn what_the_user_did_not_say_never_asks_or_refuses() {
    let home = Home::new();
    let settings = "[rules]\nenforce = \"block\"\n";
    fs::create_dir_all(home.recoup()).unwrap();
    fs::write(home.recoup().join("config.toml"), settings).unwrap();
    home.write("recoup-rules.md", "- never use npm\n");
    assert_eq!(decision(&runs(&home, "npm ci")).0, "", "a repository that was not trusted");
    add(&home, &["use pnpm, never npm"]);
    let id = rule_id(&home);
    home.run(&["memory", "retire", &id]).expect(0);
    assert_eq!(runs(&home, "npm ci"), Value::Null, "a retired rule");
    assert_eq!(remembered(&home, "active"), [""; 0]);
}

#[test]
fn the_repository_does_not_decide_how_strong_rules_are() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    home.write("recoup.toml", "[rules]\nenforce = \"block\"\n");
    assert_eq!(decision(&runs(&home, "npm ci")).0, "");
    home.run(&["trust", "--yes"]);
    assert_eq!(decision(&runs(&home, "npm ci")).0, "");
}

#[test]
fn files_are_compared_wherever_a_path_leads() {
    let home = Home::new();
    add(&home, &["don't touch db/migrations"]);
    enforce(&home, "block");
    let write = |path: &str| {
        let input = json!({"file_path": path, "content": "x"});
        before(&home, json!({"tool_name": "Write", "tool_input": input}))
    };
    let inside = home.project().join("db/migrations/1.sql");
    for path in ["db/../db/migrations/1.sql", inside.to_str().unwrap()] {
        assert_eq!(decision(&write(path)).0, "deny", "{path}");
    }
    for path in ["db/migrations_old/1.sql", "src/db.rs"] {
        assert_eq!(decision(&write(path)).0, "", "{path}");
    }
}

#[test]
fn other_clients_get_what_they_can_take() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    enforce(&home, "block");
    let cursor = super::cursor::payload(
        &home,
        "preToolUse",
        json!({"tool_name": "Shell", "tool_input": {"command": "npm ci"}, "tool_use_id": "c"}),
    );
    let reply = told(&home, &["hook"], &cursor);
    assert_eq!(reply["permission"], "deny", "{reply}");
    assert!(reply["agent_message"].as_str().unwrap().contains("Use pnpm"), "{reply}");
    let pi = json!({
        "event": {"type": "tool_call", "toolName": "bash", "toolCallId": "p",
            "input": {"command": "npm ci"}},
        "session": "pi", "cwd": home.project(), "ui": true,
    });
    let reply = told(&home, &["hook", "--client", "pi"], &pi);
    assert_eq!(reply["decision"], "deny", "{reply}");
    let codex = super::changed(
        super::fixture("codex", "PreToolUse"),
        json!({"cwd": home.project(), "tool_name": "Bash", "tool_input": {"command": "npm ci"}}),
    );
    let reply = told(&home, &["hook", "--client", "codex"], &codex);
    assert_eq!(decision(&reply).0, "deny", "{reply}");
}

#[test]
fn the_report_says_how_often_a_rule_was_kept_and_why() {
    let home = Home::new();
    let talk = Talk::new(&home, "s");
    talk.succeeds("npm install", "before");
    add(&home, &["use pnpm, never npm"]);
    let breaks = |call: &str| {
        let changes = json!({"tool_input": {"command": "npm ci"}, "tool_use_id": call});
        talk.tell_with("PreToolUse-Bash", changes);
        talk.succeeds("npm ci", call);
    };
    breaks("1");
    talk.succeeds("pnpm install", "2");
    talk.succeeds("pnpm test", "3");
    breaks("4");
    breaks("5");
    let report = home.run(&["memory", "report", "--json"]).expect(0).json();
    let check = &report[0]["check"];
    let expected = json!({"broken_before": 1, "kept": 2, "kept_because": 1, "broken": 3,
        "broken_after_reminder": 2, "reminded": 3, "asked": 0, "overridden": 0, "blocked": 0,
        "proposed": "ask"});
    assert_eq!(*check, expected);
    let text = home.run(&["memory", "report"]).expect(0);
    assert!(text.text().contains("kept 2 of 5 times since "), "{}", text.text());
    assert!(text.stderr.contains("`recoup memory enforce"), "{}", text.stderr);
}

#[test]
fn a_stronger_check_is_proposed_once() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    let talk = Talk::new(&home, "s");
    for call in ["1", "2", "3"] {
        let changes = json!({"tool_input": {"command": "npm ci"}, "tool_use_id": call});
        talk.tell_with("PreToolUse-Bash", changes);
        talk.succeeds("npm ci", call);
    }
    let notice = Talk::new(&home, "next").tell("SessionStart-startup").notice;
    assert_eq!(notice.matches("broken after a reminder").count(), 1, "{notice}");
    assert!(notice.contains("`recoup memory enforce"), "{notice}");
    assert_eq!(Talk::new(&home, "last").tell("SessionStart-startup").notice, "");
}

#[test]
fn a_rule_without_a_check_can_not_be_enforced() {
    let home = Home::new();
    add(&home, &["prefer short functions"]);
    let output = home.run(&["memory", "enforce", &rule_id(&home), "block"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("has no check"), "{}", output.stderr);
    let wrong = home.run(&["memory", "enforce", &rule_id(&home), "stop"]);
    assert!(wrong.stderr.contains("expected one of off, remind, ask, block"), "{}", wrong.stderr);
}

#[test]
fn show_tells_the_check_of_a_rule_and_forget_removes_it() {
    let home = Home::new();
    add(&home, &["use pnpm, never npm"]);
    let id = rule_id(&home);
    let shown = home.run(&["memory", "show", &id]).expect(0).text();
    assert!(
        shown.contains("check") && shown.contains("npm") && shown.contains("remind"),
        "{shown}"
    );
    enforce(&home, "ask");
    assert_eq!(home.run(&["memory", "show", &id, "--json"]).json()["strength"], "ask");
    home.run(&["memory", "forget", &id, "--yes"]).expect(0);
    assert!(!super::is_kept(&home, "program:npm"));
}
