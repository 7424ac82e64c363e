//! Pi: what our extension sends, and the extension itself: checked against the types of
//! the very version that the events were recorded from, and run with the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{add, changed, fixture, happened, hook, log, remembered};
use crate::support::{Home, RECOUP};

#[track_caller]
fn tell_as(home: &Home, ui: bool, event: impl Into<Value>) -> Value {
    let event: Value = event.into();
    tell_in(home, &json!({"session": "one", "ui": ui}), &event)
}

/// The same in a session: its id, file and parent.
#[track_caller]
fn tell_in(home: &Home, session: &Value, event: &Value) -> Value {
    let payload = changed(session.clone(), json!({"event": event, "cwd": home.project()}));
    let args = ["hook", "--client", "pi"];
    let output = hook(home.command(&args), payload.to_string().as_bytes()).expect(0);
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() { Value::Null } else { output.json() }
}

#[track_caller]
pub(super) fn tell(home: &Home, event: Value) -> Value {
    tell_as(home, true, event)
}

fn recorded(name: &str, changes: Value) -> Value {
    changed(fixture("pi", "events")[name].clone(), changes)
}

#[test]
fn rules_come_with_the_first_answer_and_again_after_a_compaction() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    assert_eq!(tell(&home, recorded("session_start", json!({}))), Value::Null);
    let start = json!({"type": "before_agent_start", "prompt": "Please fix"});
    let reply = tell(&home, start.clone());
    assert!(reply["context"].as_str().unwrap().contains("\n- use pnpm\n"), "{reply}");
    assert_eq!(tell(&home, start.clone()), Value::Null);
    assert_eq!(
        tell(&home, json!({"type": "session_before_compact", "reason": "manual"})),
        Value::Null
    );
    let compacted = tell(&home, json!({"type": "session_compact", "reason": "manual"}));
    let notice = "recoup: 1 rule is in the compacted context again";
    assert_eq!(compacted, json!({"notice": notice}), "the person is told");
    assert!(tell(&home, start).to_string().contains("use pnpm"));
}

/// A session of Pi in a file, as `--session` and `--continue` go on with it.
fn session_file(home: &Home, id: &str) -> String {
    let name = format!("sessions/{id}.jsonl");
    home.write(&name, format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\"}}\n"));
    home.project().join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_session_that_goes_on_is_known_by_its_file_and_told_nothing_again() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let start = json!({"type": "before_agent_start", "prompt": "Please fix"});
    let startup = recorded("session_start", json!({}));
    let new = json!({"session": "one", "file": home.project().join("sessions/one.jsonl")});
    assert_eq!(tell_in(&home, &new, &startup), Value::Null);
    assert!(tell_in(&home, &new, &start).to_string().contains("use pnpm"));
    let going_on = json!({"session": "one", "file": session_file(&home, "one")});
    for _ in 0..2 {
        tell_in(&home, &going_on, &recorded("session_shutdown", json!({})));
        assert_eq!(tell_in(&home, &going_on, &startup), Value::Null);
        assert_eq!(tell_in(&home, &going_on, &start), Value::Null);
    }
    add(&home, &["use tabs"]);
    let news = tell_in(&home, &going_on, &start).to_string();
    assert!(news.contains("use tabs") && !news.contains("use pnpm"), "{news}");
    let unseen = json!({"session": "unseen", "file": session_file(&home, "unseen")});
    tell_in(&home, &unseen, &startup);
    assert!(tell_in(&home, &unseen, &start).to_string().contains("use pnpm"));
}

#[test]
fn a_fork_has_what_its_parent_was_given() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let start = json!({"type": "before_agent_start", "prompt": "Please fix"});
    let parent = session_file(&home, "one");
    assert!(tell(&home, start.clone()).to_string().contains("use pnpm"));
    for (id, reason) in [("by-flag", "startup"), ("by-command", "fork")] {
        let fork = json!({"session": id, "file": session_file(&home, id), "parent": parent});
        let began = recorded("session_start", json!({"reason": reason}));
        assert_eq!(tell_in(&home, &fork, &began), Value::Null);
        assert_eq!(tell_in(&home, &fork, &start), Value::Null, "{reason}");
        tell_in(&home, &fork, &json!({"type": "session_compact", "reason": "manual"}));
        assert!(tell_in(&home, &fork, &start).to_string().contains("use pnpm"));
        tell_in(&home, &fork, &began);
        assert_eq!(tell_in(&home, &fork, &start), Value::Null, "it goes on");
    }
    let empty = json!({"session": "empty", "file": "/no/such/file", "parent": parent});
    tell_in(&home, &empty, &recorded("session_start", json!({"reason": "fork"})));
    assert!(tell_in(&home, &empty, &start).to_string().contains("use pnpm"), "before all answers");
}

#[test]
fn rules_are_back_after_a_compaction_in_the_middle_of_an_answer() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let result = || recorded("tool_result", json!({"input": {"command": "ls"}}));
    assert!(
        tell(&home, json!({"type": "before_agent_start", "prompt": "go"}))
            .to_string()
            .contains("use pnpm")
    );
    assert_eq!(tell(&home, result()), Value::Null);
    tell(&home, json!({"type": "session_compact", "reason": "threshold"}));
    assert!(tell(&home, result()).to_string().contains("use pnpm"));
    assert_eq!(tell(&home, result()), Value::Null);
    let goes_on = json!({"type": "before_agent_start", "prompt": "go on"});
    assert_eq!(tell(&home, goes_on), Value::Null);
}

#[test]
fn what_is_typed_is_remembered_and_what_an_extension_or_a_script_types_is_not() {
    let home = Home::new();
    let says = |changes| recorded("input", changes);
    tell(&home, says(json!({"text": "from now on use bun", "source": "extension"})));
    assert_eq!(remembered(&home, "active"), [""; 0]);
    tell_as(&home, false, says(json!({"text": "from now on use yarn"})));
    assert_eq!(remembered(&home, "candidate"), ["use yarn"]);
    let reply = tell(&home, says(json!({"text": "from now on use pnpm"})));
    let notice = reply["notice"].as_str().unwrap();
    assert!(notice.starts_with("recoup: will remember: use pnpm (say"), "{notice}");
    assert_eq!(tell(&home, json!({"type": "before_agent_start", "prompt": "go"})), Value::Null);
}

#[test]
fn a_result_is_taken_in_and_brings_the_rules_that_concern_it() {
    let home = Home::new();
    assert_eq!(tell(&home, recorded("tool_result", json!({}))), Value::Null);
    let error = "ls: cannot access '/nonexistent': No such file or directory";
    assert_eq!(happened(&home, "failed"), [("ls".to_owned(), error.to_owned())]);
    add(&home, &["never push to main"]);
    let pushed = json!({"toolCallId": "x", "input": {"command": "git push origin main"}});
    let reply = tell(&home, recorded("tool_result", pushed));
    assert!(reply["context"].as_str().unwrap().contains("\n- never push to main\n"), "{reply}");
    tell(&home, recorded("session_shutdown", json!({})));
    assert_eq!(happened(&home, "ended"), [("quit".to_owned(), String::new())]);
}

#[test]
fn every_recorded_event_is_taken() {
    let home = Home::new();
    for event in fixture("pi", "events").as_object().unwrap().values() {
        tell(&home, event.clone());
    }
    assert_eq!(log(&home), "");
}

/// The compiler with Pi's types beside it, as `cargo xtask` brings it.
fn compiler() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("pi-tsc")).find(|it| it.is_file());
    found.expect("pi-tsc is on the PATH: `cargo xtask test` brings it")
}

/// A folder in which the extension is compiled, with `changed` applied to it first.
fn compiled(changed: impl Fn(String) -> String) -> (TempDir, std::process::Output) {
    let dir = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/pi/recoup.ts");
    let text = changed(fs::read_to_string(source).unwrap());
    fs::write(dir.path().join("recoup.ts"), text).unwrap();
    fs::write(dir.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    let options = json!({"strict": true, "target": "es2023", "module": "nodenext",
        "skipLibCheck": true, "types": ["node"], "noUncheckedIndexedAccess": true,
        "noUnusedLocals": true, "noUnusedParameters": true, "erasableSyntaxOnly": true});
    let config = json!({"compilerOptions": options, "files": ["recoup.ts"]});
    fs::write(dir.path().join("tsconfig.json"), config.to_string()).unwrap();
    let compiler = compiler();
    let modules = compiler.parent().unwrap().join("../root/node_modules");
    std::os::unix::fs::symlink(modules, dir.path().join("node_modules")).unwrap();
    let output = Command::new(compiler).arg("-p").arg(dir.path()).output().unwrap();
    (dir, output)
}

#[test]
fn the_extension_fits_the_types_of_pi() {
    let (_dir, output) = compiled(|text| text);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let (_dir, output) = compiled(|text| text.replace("event.messageType", "event.messageSort"));
    assert!(!output.status.success(), "the types are looked at");
}

/// Plays Pi: hands events to the extension, and prints what it returns and shows.
const HARNESS: &str = "
import recoup from './recoup.js';
const [events, cwd] = [JSON.parse(process.argv[2]), process.argv[3]];
const handlers = {}, shown = [], returned = [];
recoup({ on: (name, handler) => { handlers[name] = handler; return () => {}; } });
const ui = { notify: (text) => shown.push(text) };
for (const { hasUI = true, session = 'one', file, header, ...event } of events) {
    const sessionManager =
        { getSessionId: () => session, getSessionFile: () => file, getHeader: () => header ?? null };
    const ctx = { ui, hasUI, cwd, sessionManager };
    returned.push((await handlers[event.type](event, ctx)) ?? null);
}
console.log(JSON.stringify({ shown, returned, events: Object.keys(handlers) }));
";

fn play(home: &Home, dir: &Path, program: &str, events: &Value) -> Value {
    fs::write(dir.join("harness.js"), HARNESS).unwrap();
    let project = home.project();
    let mut node = home.prepared("node", &[dir.join("harness.js")]);
    node.arg(events.to_string()).arg(project).env("RECOUP_BIN", program);
    let output = node.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_extension_hands_on_what_recoup_says() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    let (dir, output) = compiled(|text| text);
    assert!(output.status.success());
    let pushed = json!({"toolCallId": "x", "input": {"command": "npm publish"}});
    let user =
        |text: &str| json!({"type": "before_agent_start", "messageType": "user", "prompt": text});
    let answer = json!([{"role": "assistant", "content": [{"type": "text", "text": "(applied from memory: never push to main)"}]}]);
    let events = json!([
        recorded("session_start", json!({})),
        recorded("input", json!({"text": "from now on use pnpm"})),
        user("go"),
        recorded("tool_result", pushed),
        {"type": "agent_end", "messages": answer},
        recorded("input", json!({"text": "from now on use tabs", "hasUI": false})),
        recorded("session_shutdown", json!({})),
    ]);
    let played = play(&home, dir.path(), RECOUP, &events);
    let shown = played["shown"].as_array().unwrap();
    assert_eq!(shown.len(), 1, "only where there is a UI");
    assert!(shown[0].as_str().unwrap().starts_with("recoup: will remember: use pnpm (say"));
    assert_eq!(played["returned"][1], json!({"action": "continue"}));
    let message = &played["returned"][2]["message"];
    assert_eq!(message["customType"], "recoup");
    assert!(message["content"].as_str().unwrap().contains("never push to main"));
    assert_eq!(played["returned"][3], Value::Null, "nothing concerns it");
    assert_eq!(happened(&home, "stopped").len(), 1);
    assert_eq!(remembered(&home, "candidate"), ["use tabs"]);

    let played = play(&home, dir.path(), "/no/such/program", &events);
    assert_eq!(played["shown"], json!([]));
    assert_eq!(played["returned"][2], Value::Null, "without recoup Pi goes on");

    let header =
        json!({"type": "session", "id": "two", "parentSession": session_file(&home, "one")});
    let file = session_file(&home, "two");
    let in_fork = |event| changed(event, json!({"session": "two", "file": file, "header": header}));
    let events = json!([in_fork(recorded("session_start", json!({}))), in_fork(user("go"))]);
    let played = play(&home, dir.path(), RECOUP, &events);
    assert_eq!(played["returned"], json!([null, null]), "a fork knows its parent");
}
