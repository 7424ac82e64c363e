//! Settings as people have them: put in, nothing else changes; taken out, all is as it was.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use recoup::clients::{AgentClient, ClientDirs, ClientPlaces, has_our_hooks};
use serde_json::{Value, json};

use super::{CLAUDE, EVENTS, Machine, SETTINGS};

const OTHERS: &str = r#"{
    "model": "opus",
    "hooks": {
        "PostToolUse": [
            {
                "matcher": "Edit|Write",
                "hooks": [{ "type": "command", "command": "prettier --write" }]
            }
        ],
        "Notification": [{ "hooks": [{ "type": "command", "command": "notify-send hi" }] }],
        "Stop": []
    },
    "permissions": { "allow": ["Bash(ls:*)"] }
}
"#;

/// A name, and what the file holds.
fn collection() -> Vec<(&'static str, Vec<u8>)> {
    let rules: Vec<String> = (0..40_000).map(|n| format!("Bash(tool-{n} --all:*)")).collect();
    let huge = serde_json::to_string_pretty(&json!({ "permissions": { "allow": rules } })).unwrap();
    assert!(huge.len() > 1 << 20);
    let texts: [(&str, &str); 14] = [
        ("empty", ""),
        ("blank", " \n\n"),
        ("an empty object", "{}"),
        ("an empty object on two lines", "{\n}\n"),
        ("empty hooks", "{\n  \"hooks\": {}\n}\n"),
        ("tabs", "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n"),
        (
            "CRLF",
            "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n",
        ),
        (
            "minified",
            r#"{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#,
        ),
        ("no newline at the end", "{\n  \"model\": \"opus\"\n}"),
        (
            "names twice",
            "{\n  \"model\": \"a\",\n  \"model\": \"b\",\n  \"hooks\": {},\n  \"hooks\": {}\n}\n",
        ),
        ("unicode", "{\n  \"läuft\": \"日本語 🎉 \\u00e9 \\ud83d\\ude00\",\n  \"a\\nb\": 1e3\n}\n"),
        ("all hooks off", "{\n  \"disableAllHooks\": true\n}\n"),
        ("odd numbers", "{\n  \"a\": 1.0, \"b\": 123456789012345678901234567890, \"c\": -0\n}\n"),
        ("others' hooks", OTHERS),
    ];
    let mut all: Vec<_> =
        texts.into_iter().map(|(name, text)| (name, text.as_bytes().to_vec())).collect();
    all.push(("a byte order mark", b"\xef\xbb\xbf{\n  \"model\": \"opus\"\n}\n".to_vec()));
    all.push(("huge", huge.into_bytes()));
    all
}

fn value(bytes: &[u8]) -> Value {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() { json!({}) } else { serde_json::from_slice(bytes).unwrap() }
}

/// The same without hooks whose command is ours, and without what that leaves empty.
fn without_ours(mut settings: Value) -> Value {
    let hooks = settings.get_mut("hooks").and_then(Value::as_object_mut);
    for (_, groups) in hooks.into_iter().flatten() {
        let groups = groups.as_array_mut().unwrap();
        for group in groups.iter_mut() {
            let is_ours = |hook: &Value| {
                hook["command"].as_str().is_some_and(|it| it.ends_with("bin/recoup"))
            };
            group["hooks"].as_array_mut().unwrap().retain(|hook| !is_ours(hook));
        }
        groups.retain(|group| group["hooks"] != json!([]));
    }
    settings
}

fn without_empty(mut settings: Value) -> Value {
    if let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| *groups != json!([]));
        if hooks.is_empty() {
            settings.as_object_mut().unwrap().remove("hooks");
        }
    }
    settings
}

fn is_hooked(machine: &Machine) -> bool {
    let (home, root) = (machine.path("."), machine.home.project());
    let dirs = ClientDirs::below(&home);
    has_our_hooks(AgentClient::ClaudeCode, &ClientPlaces { dirs: &dirs, root: &root, cwd: None })
}

#[test]
fn in_and_out_again_is_the_same_to_the_byte() {
    for (name, before) in collection() {
        let machine = Machine::with_settings(&before);
        machine.init(&CLAUDE);
        let after = machine.read(SETTINGS);
        assert_ne!(after, before, "{name}");
        let hooked = is_hooked(&machine);
        assert_eq!(hooked, name != "all hooks off", "{name}");
        machine.uninstall(&[]);
        assert_eq!(machine.read(SETTINGS), before, "{name}");
        assert!(!is_hooked(&machine), "{name}");
        assert!(!machine.path(".claude.json").exists(), "{name}");
    }
}

/// JavaScript cuts a text in the middle of a letter, and writes half of it.
#[test]
fn half_a_letter_is_no_hindrance() {
    let before = r#"{"a": "abc\ud83d", "\ude00": ["\\ud83d"]}"#;
    let machine = Machine::with_settings(before);
    machine.write(".claude.json", before);
    machine.init(&CLAUDE);
    assert!(machine.text(SETTINGS).starts_with(before.trim_end_matches('}')));
    assert!(is_hooked(&machine));
    let output = machine.init(&CLAUDE);
    assert!(output.stderr.contains("Nothing was changed."), "{}", output.stderr);
    machine.uninstall(&[]);
    assert_eq!(
        (machine.text(SETTINGS), machine.text(".claude.json")),
        (before.into(), before.into())
    );
}

#[test]
fn nothing_else_changes() {
    for (name, before) in collection() {
        let machine = Machine::with_settings(&before);
        machine.init(&CLAUDE);
        let after = value(&machine.read(SETTINGS));
        assert_eq!(without_empty(without_ours(after)), without_empty(value(&before)), "{name}");
        // Every line that was there is still there, and in the same order.
        let (before, after) = (String::from_utf8(before).unwrap(), machine.text(SETTINGS));
        if before.lines().count() > 2 && !before.contains("{}") && !before.contains("[]") {
            let mut rest = after.lines();
            for line in before.lines() {
                let kept = |it: &str| it == line || it.strip_suffix(',') == Some(line);
                assert!(rest.any(kept), "{name}: {line:?} is gone from {after}");
            }
        }
    }
}

#[test]
fn a_second_time_nothing_is_done() {
    for (name, before) in collection() {
        let machine = Machine::with_settings(&before);
        machine.init(&CLAUDE);
        let files = machine.files();
        let output = machine.init(&CLAUDE);
        assert!(output.stderr.contains("✓ Claude Code  already set up"), "{}", output.stderr);
        assert!(output.stderr.contains("Nothing was changed."), "{name}: {}", output.stderr);
        assert_eq!(output.text(), "", "{name}");
        assert!(machine.files() == files, "{name}");
    }
}

#[test]
fn what_somebody_adds_in_between_stays_and_ours_goes() {
    for (name, before) in collection() {
        let machine = Machine::with_settings(&before);
        machine.init(&CLAUDE);
        let mut settings = value(&machine.read(SETTINGS));
        settings["added"] = json!({ "by": "somebody" });
        let foreign = json!({ "hooks": [{ "type": "command", "command": "mine" }] });
        settings["hooks"]["Stop"].as_array_mut().unwrap().insert(0, foreign.clone());
        machine.write(SETTINGS, serde_json::to_vec_pretty(&settings).unwrap());
        machine.uninstall(&[]);
        let mut expected = value(&before);
        expected["added"] = json!({ "by": "somebody" });
        let stop = &mut expected["hooks"]["Stop"];
        if stop.is_null() {
            *stop = json!([]);
        }
        stop.as_array_mut().unwrap().insert(0, foreign);
        assert_eq!(value(&machine.read(SETTINGS)), expected, "{name}");
    }
}

/// Without a receipt ours is known by its command.
#[test]
fn without_a_receipt_ours_is_found_all_the_same() {
    for (name, before) in collection() {
        let machine = Machine::with_settings(&before);
        machine.init(&CLAUDE);
        fs::remove_dir_all(machine.home.recoup()).unwrap();
        machine.uninstall(&[]);
        let after = value(&machine.read(SETTINGS));
        assert_eq!(without_empty(after), without_empty(value(&before)), "{name}");
    }
}

#[test]
fn what_is_added_looks_like_the_rest() {
    let machine = Machine::with_settings(OTHERS);
    machine.init(&CLAUDE);
    let program = machine.program();
    let hook = format!(
        r#"{{"hooks": [{{"type": "command", "command": "{program}", "args": ["hook"], "timeout": 10}}]}}"#
    );
    let text = machine.text(SETTINGS);
    assert!(text.contains(&format!("            }},\n            {hook}\n        ],")), "{text}");
    assert!(
        text.contains(&format!("        \"Stop\": [\n            {hook}\n        ],")),
        "{text}"
    );
    assert!(text.contains(&format!("        \"SessionEnd\": [{hook}]\n    }},")), "{text}");

    let machine = Machine::with_settings(r#"{"model":"opus"}"#);
    machine.init(&CLAUDE);
    let text = machine.text(SETTINGS);
    assert!(
        text.starts_with(
            r#"{"model":"opus","hooks":{"SessionStart":[{"hooks":[{"type":"command","#
        ),
        "{text}"
    );
    assert!(!text.contains('\n'), "{text}");

    let machine = Machine::with_settings("{\r\n\t\"model\": \"opus\"\r\n}\r\n");
    machine.init(&CLAUDE);
    let text = machine.text(SETTINGS);
    assert!(text.contains("\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": [{"), "{text}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
}

#[test]
fn every_event_that_is_acted_on_has_a_hook_with_a_time_limit() {
    let machine = Machine::new();
    machine.init(&CLAUDE);
    let settings = machine.json(SETTINGS);
    let hooks = settings["hooks"].as_object().unwrap();
    let names: BTreeSet<_> = hooks.keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(EVENTS));
    for groups in hooks.values() {
        let hook = &groups[0]["hooks"][0];
        assert_eq!(hook["command"], machine.program());
        assert_eq!((&hook["args"], &hook["timeout"]), (&json!(["hook"]), &json!(10)));
    }
    let server = &machine.json(".claude.json")["mcpServers"]["recoup"];
    assert_eq!(server["args"], json!(["mcp", "--with-hooks"]));
}

#[test]
fn a_link_stays_a_link_and_modes_stay_as_they_are() {
    let machine = Machine::new();
    machine.write("dotfiles/claude.json", "{\n  \"model\": \"opus\"\n}\n");
    fs::create_dir(machine.path(".claude")).unwrap();
    let real = machine.path("dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../dotfiles/claude.json", machine.path(SETTINGS)).unwrap();
    machine.init(&CLAUDE);
    assert!(machine.path(SETTINGS).is_symlink());
    assert!(machine.text("dotfiles/claude.json").contains("recoup"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    machine.uninstall(&[]);
    assert!(machine.path(SETTINGS).is_symlink());
    assert_eq!(machine.text("dotfiles/claude.json"), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn what_was_there_is_kept_in_private() {
    let before = "{\n  \"model\": \"opus\"\n}\n";
    let machine = Machine::with_settings(before);
    let report = machine.init(&[&CLAUDE[..], &["--json"]].concat()).json();
    let copy = report["clients"][0]["files"][0]["backup"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(&copy).unwrap(), before);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    machine.uninstall(&[]);
    assert_eq!(fs::read_to_string(&copy).unwrap(), before, "it stays");
}

/// Somebody has been in the file: ours is cut out, and brackets with nothing in them are as
/// they were.
#[test]
fn blanks_within_empty_brackets_come_back() {
    for before in [
        "{ \n }",
        "{\n}\n",
        "{ }",
        "{\r\n\t\r\n}",
        "{\"hooks\": { \n }, \"a\": [ ]}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n",
    ] {
        let machine = Machine::with_settings(before);
        machine.init(&CLAUDE);
        machine.write(SETTINGS, machine.text(SETTINGS) + " ");
        machine.uninstall(&[]);
        assert_eq!(machine.text(SETTINGS), format!("{before} "));
    }
    // Whoever writes it in his own way meanwhile, keeps that.
    let machine = Machine::with_settings("{\"hooks\": { }, \"a\": { }}");
    machine.init(&CLAUDE);
    machine.write(SETTINGS, machine.text(SETTINGS).replace("{ }", "{}"));
    machine.uninstall(&[]);
    assert_eq!(machine.text(SETTINGS), "{\"hooks\": { }, \"a\": {}}");
}
