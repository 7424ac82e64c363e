//! In a terminal: what was found is said, changes are shown on request, each question is asked once,
//! and no means no.

use std::io::{Read as _, Write as _};

use pty_process::Size;
use pty_process::blocking::{Command, open};

use super::{Machine, SETTINGS};

/// What a person sees who says yes to questions with these words, and no to all others.
pub(super) fn seen(machine: &Machine, args: &[&str], yes_to: &[&str]) -> (i32, String) {
    seen_while(machine, args, yes_to, |_| {})
}

/// The same where something happens before each answer.
pub(super) fn seen_while(
    machine: &Machine,
    args: &[&str],
    yes_to: &[&str],
    meanwhile: impl Fn(&str),
) -> (i32, String) {
    let (mut pty, pts) = open().unwrap();
    pty.resize(Size::new(40, 120)).unwrap();
    let command = Command::from(machine.command(args)).env("TERM", "xterm");
    let mut child = command.spawn(pts).unwrap();
    let (mut seen, mut asked) = (String::new(), 0);
    let mut room = [0; 4096];
    // A terminal whose other end is closed is an error on Linux.
    while let Ok(read @ 1..) = pty.read(&mut room) {
        seen += &String::from_utf8_lossy(&room[..read]);
        while let Some(end) = seen[asked..].find("[y/N] ") {
            let question = &seen[asked..asked + end];
            let question = question.lines().last().unwrap_or_default();
            let yes = yes_to.iter().any(|words| question.contains(words));
            meanwhile(question);
            pty.write_all(if yes { b"y\n" } else { b"n\n" }).unwrap();
            asked += end + "[y/N] ".len();
        }
    }
    (child.wait().unwrap().code().unwrap(), seen)
}

#[test]
fn it_is_shown_in_colours_and_written_after_a_yes() {
    let machine = Machine::with_settings("{\n  \"model\": \"opus\"\n}\n");
    let (code, text) = seen(&machine, &["init"], &["Write these"]);
    assert_eq!(code, 0, "{text}");
    let found = "\u{1b}[32m+\u{1b}[0m \u{1b}[1mClaude Code\u{1b}[0m  hooks for ";
    assert!(text.contains(found), "{text}");
    assert!(text.contains("; MCP server “recoup”\r\n"), "{text}");
    assert!(!text.contains("\"hooks\": {"), "only on request: {text}");
    assert!(text.contains("May a model help to recognize rules?"), "{text}");
    assert!(text.contains("~/recoup/config.toml\u{1b}[0m  judge.enabled = false"), "{text}");
    assert!(text.contains("Write these 3 files? `d` shows every change. [y/N]"), "{text}");
    assert!(text.contains("Done. New sessions remember"), "{text}");
    assert!(machine.text(SETTINGS).contains("recoup"));
    assert!(machine.text("recoup/config.toml").starts_with("[judge]\nenabled = false\n"));
    let (code, text) = seen(&machine, &["init"], &[]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("[y/N]"), "asked once: {text}");
    let (code, text) = seen(&machine, &["uninstall"], &["Remove this?"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Remove this? [y/N]"), "{text}");
    assert_eq!(machine.text(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn every_change_is_shown_on_request_and_asked_about_again() {
    let machine = Machine::with_settings("{\n  \"model\": \"opus\"\n}\n");
    let (mut pty, pts) = open().unwrap();
    pty.resize(Size::new(40, 120)).unwrap();
    let args = [
        "init", "--client", "claude-code", "--judge", "no", "--sync-rules", "no", "--skills", "off",
    ];
    let command = Command::from(machine.command(&args)).env("TERM", "xterm");
    let mut child = command.spawn(pts).unwrap();
    pty.write_all(b"d\nn\n").unwrap();
    let (mut text, mut room) = (String::new(), [0; 4096]);
    while let Ok(read @ 1..) = pty.read(&mut room) {
        text += &String::from_utf8_lossy(&room[..read]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(1), "{text}");
    assert_eq!(text.matches("Write these 3 files?").count(), 2, "{text}");
    assert!(text.contains("\u{1b}[32m+  \"hooks\": {"), "in colours: {text}");
    assert!(text.contains("Nothing was changed."), "{text}");
    assert_eq!(machine.text(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
    let (_, text) = seen(&machine, &["init", "--diff"], &[]);
    assert!(text.contains("\u{1b}[32m+  \"hooks\": {"), "{text}");
    assert!(text.contains("Write these 3 files? [y/N]"), "{text}");
}

#[test]
fn no_changes_nothing() {
    let machine = Machine::with_settings("{}\n");
    let (code, text) = seen(&machine, &["init"], &["May a model"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("Nothing was changed."), "{text}");
    assert_eq!(machine.text(SETTINGS), "{}\n");
    assert!(!machine.home.recoup().exists());
}

#[test]
fn others_that_remember_are_asked_about() {
    let other = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"npx claude-recall hook run stop"}]}]}}"#;
    let machine = Machine::with_settings(other);
    let (code, text) = seen(&machine, &["init"], &["Remove claude-recall (", "Write these"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("Remove claude-recall (its hooks, servers and plug-ins)? [y/N]"),
        "{text}"
    );
    assert!(!machine.text(SETTINGS).contains("claude-recall"));
    machine.uninstall(&[]);
    assert_eq!(machine.text(SETTINGS), other);
}

const RECALL: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"npx claude-recall hook run stop"}]}]}}"#;

#[test]
fn a_no_to_taking_others_out_is_asked_for_once() {
    let machine = Machine::with_settings(RECALL);
    let (code, text) = seen(&machine, &["init"], &["Write these"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Remove claude-recall ("), "{text}");
    let config = machine.text("recoup/config.toml");
    assert!(config.contains("[peers]\nkeep = \"claude-recall\"\n"), "{config}");
    machine.run(&["config", "check"]).expect(0);

    let (code, text) = seen(&machine, &["init"], &[]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("[y/N]"), "asked once: {text}");
    assert!(text.contains("stays, as configured (`peers.keep`)"), "{text}");

    // Another one is another question, and a yes to it is none to the first.
    let plugin =
        machine.text(SETTINGS).replacen('{', r#"{"enabledPlugins":{"claude-mem@x":true},"#, 1);
    machine.write(SETTINGS, plugin);
    let (code, text) = seen(&machine, &["init"], &["Remove claude-mem (", "Write this"]);
    assert_eq!(code, 0, "{text}");
    assert!(machine.text(SETTINGS).contains("npx claude-recall"));
    assert_eq!(machine.json(SETTINGS)["enabledPlugins"]["claude-mem@x"], false);

    // What is said by a flag is what is meant.
    machine.init(&["--replace-peers"]);
    assert!(!machine.text(SETTINGS).contains("claude-recall"));
    assert!(machine.text("recoup/config.toml").contains("keep = \"none\""));
}

#[test]
fn two_refusals_are_both_remembered() {
    let machine = Machine::with_settings(RECALL);
    seen(&machine, &["init"], &["Write these"]);
    let plugin =
        machine.text(SETTINGS).replacen('{', r#"{"enabledPlugins":{"claude-mem@x":true},"#, 1);
    machine.write(SETTINGS, plugin);
    let (code, text) = seen(&machine, &["init"], &["Write this"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("Remove claude-recall ("), "{text}");
    assert!(machine.text("recoup/config.toml").contains("keep = \"claude-recall, claude-mem\""));
    let (_, text) = seen(&machine, &["init"], &[]);
    assert!(!text.contains("[y/N]"), "{text}");
}

#[test]
fn a_person_who_types_no_command_is_helped_as_for_wrong_usage() {
    let (code, text) = seen(&Machine::new(), &[], &[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("Usage:"), "{text}");
}

#[test]
fn a_person_is_asked_before_the_cache_is_cleared() {
    let machine = Machine::new();
    machine.home.set("k", "1");
    let (code, text) = seen(&machine, &["cache", "clear"], &[]);
    assert_eq!((code, text.contains("Nothing was changed")), (1, true), "{text}");
    machine.home.get("k").expect_hit("1");
    let (code, text) = seen(&machine, &["cache", "clear"], &["Delete all entries in"]);
    assert_eq!((code, text.contains("Removed 1 entry")), (0, true), "{text}");
}

#[test]
fn each_client_without_hooks_is_asked_about_once_whether_its_agents_may_record_rules() {
    let machine = Machine::with_settings("{}\n");
    for client in [".cursor", ".config/zed"] {
        std::fs::create_dir_all(machine.path(client)).unwrap();
    }
    let yes = ["agents in Cursor", "it is kept as a candidate", "Write these"];
    let (code, text) = seen(&machine, &["init", "--client", "cursor"], &yes);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("May agents in Cursor record rules on your behalf?"), "{text}");
    assert!(machine.text("recoup/config.toml").contains("[record]\nallow = \"cursor\"\n"));
    let (code, text) = seen(&machine, &["init"], &["Write these"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("May agents in Zed record rules"), "{text}");
    assert!(!text.contains("May agents in Cursor") && !text.contains("in Claude Code"), "{text}");
    let config = machine.text("recoup/config.toml");
    assert!(config.contains("allow = \"cursor\"\ndeny = \"zed\"\n"), "{config}");
    let (_, text) = seen(&machine, &["init"], &[]);
    assert!(!text.contains("[y/N]"), "asked once: {text}");
}

#[test]
fn rules_in_transcripts_are_offered_at_the_end() {
    let machine = Machine::with_settings("{}");
    let line = include_str!("../../fixtures/pi/session.jsonl");
    machine.write(".pi/agent/sessions/--work--/one.jsonl", line);
    let (code, text) = seen(&machine, &["init"], &["Write these"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Look in 1 transcripts ("), "{text}");
    // Asked only where something was set up, and never with --yes.
    let (_, text) = seen(&machine, &["init"], &[]);
    assert!(!text.contains("Look in"), "{text}");
    machine.write(SETTINGS, "{}");
    let (_, text) = seen(&machine, &["init", "--yes"], &[]);
    assert!(!text.contains("Look in"), "{text}");
}
