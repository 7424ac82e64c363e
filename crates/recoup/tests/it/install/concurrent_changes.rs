//! Somebody else is faster: between what was shown and what is written, files change.

use std::process::{Child, Stdio};

use serde_json::json;

use super::terminal::seen_while;
use super::{CLAUDE, Machine, SETTINGS};

const INIT: [&str; 3] = ["init", "--client", "claude-code"];

/// A machine on which nothing else is asked.
fn machine() -> Machine {
    let machine = Machine::with_settings("{\n  \"model\": \"opus\"\n}\n");
    machine.init(&["--client", "pi", "--judge", "no", "--sync-rules", "no", "--skills", "off"]);
    machine
}

#[test]
fn another_change_elsewhere_in_the_file_is_kept_and_ours_is_written() {
    let machine = machine();
    let (code, text) = seen_while(&machine, &INIT, &["Write"], |_| {
        machine.write(SETTINGS, "{\n  \"new\": 1,\n  \"model\": \"opus\"\n}\n");
    });
    assert_eq!(code, 0, "{text}");
    let settings = machine.json(SETTINGS);
    assert_eq!(settings["new"], 1);
    assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], machine.program());
    machine.uninstall(&[]);
    assert_eq!(machine.text(SETTINGS), "{\n  \"new\": 1,\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn nothing_is_left_to_do_when_another_has_done_it() {
    let machine = machine();
    let (code, text) = seen_while(&machine, &INIT, &["Write"], |_| {
        machine.init(&CLAUDE);
    });
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Nothing to do: another process"), "{text}");
}

#[test]
fn what_was_not_shown_is_not_written() {
    let machine = machine();
    let old =
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "recoup hook"}]}]}});
    let (code, text) = seen_while(&machine, &INIT, &["Write"], |_| {
        machine.write(SETTINGS, old.to_string());
    });
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("no longer the ones that were shown: nothing was changed"), "{text}");
    assert_eq!(machine.json(SETTINGS), old);
    assert!(!machine.path(".claude.json").exists());
}

#[test]
fn what_another_puts_in_while_we_take_out_stays_known() {
    let machine = machine();
    machine.init(&CLAUDE);
    let (code, text) = seen_while(&machine, &["uninstall"], &["Remove this"], |_| {
        machine.init(&["--client", "codex"]);
    });
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("run `recoup uninstall` again"), "{text}");
    assert!(machine.text(SETTINGS).contains("recoup"), "nothing was taken out");
    assert!(machine.text("recoup/installed.json").contains("codex"));
    machine.uninstall(&[]);
    assert!(!machine.path(".codex").exists(), "a directory that we made");
    assert!(!machine.path("recoup/installed.json").exists());
}

fn start(machine: &Machine, args: &[&str]) -> Child {
    let mut command = machine.command(args);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn all_of_many_at_once_succeed() {
    let machine = machine();
    let before = machine.text(SETTINGS);
    let init = ["init", "--yes", "--client", "claude-code", "--client", "codex"];
    for round in 0..4 {
        let uninstalls = if round == 0 { 0 } else { 3 };
        let all: Vec<Child> = (0..6)
            .map(|number| {
                let args: &[&str] =
                    if number < uninstalls { &["uninstall", "--yes"] } else { &init };
                start(&machine, args)
            })
            .collect();
        for child in all {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    machine.init(&init[2..]);
    machine.uninstall(&[]);
    assert_eq!(machine.text(SETTINGS), before);
    for gone in [".codex", ".claude.json", "recoup/installed.json"] {
        assert!(!machine.path(gone).exists(), "{gone}");
    }
}
