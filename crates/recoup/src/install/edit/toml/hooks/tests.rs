//! What is left when hooks go: every byte of the rest, whatever form they have.

use serde_json::Value;

use super::*;
use crate::install::edit::toml::value;

fn without(text: &str) -> String {
    let ours = |hook: &Value| hook["command"] == "ours";
    let left = without_hooks(text, ours).unwrap();
    assert!(!left.contains("ours"), "{left}");
    value(&left).unwrap_or_else(|fault| panic!("{fault} in\n{left}"));
    assert_eq!(without_hooks(&left, ours).unwrap(), left, "twice");
    left
}

#[test]
fn tables_of_their_own() {
    let ours = "[[hooks.Stop]]\nmatcher = \"\"\n\n[[hooks.Stop.hooks]]\n# quick\ntype = \"command\"\ncommand = \"ours\" # that\ntimeout = 5\n";
    for (before, behind) in [
        ("", ""),
        ("", "[z]\na = 1\n"),
        ("# me\nmodel = 'x' # best\n", ""),
        ("model = 'x'\n\n# about hooks\n", "\n[z]\na = 1\n"),
        ("[a]\nb = \"\"\"\n[[hooks.Stop]]\n\"\"\"\n\n", "# the end\n"),
    ] {
        let blank = if behind.is_empty() || before.is_empty() { "" } else { "\n" };
        let before = before.trim_end();
        let end = if before.is_empty() { "" } else { "\n" };
        let text = format!("{before}{end}{blank}{ours}{behind}");
        let left = without(&text);
        let expected = format!("{before}{end}{blank}{behind}").replace("\n\n\n", "\n\n");
        assert_eq!(left, expected, "{text}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(without(&crlf), expected.replace('\n', "\r\n"));
    }
}

#[test]
fn others_beside_them_stay() {
    let text = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"ours\"\n# theirs\n[[hooks.Stop.hooks]]\ncommand = \"make\"\n\n[[hooks.Start]]\nhooks = [{ command = \"ours\" }]\n\n[hooks.state.\"a:b\"]\nenabled = true\n";
    let left = "[[hooks.Stop]]\n# theirs\n[[hooks.Stop.hooks]]\ncommand = \"make\"\n\n[hooks.state.\"a:b\"]\nenabled = true\n";
    assert_eq!(without(text), left);
}

#[test]
fn groups_of_one_event() {
    let group =
        |command: &str| format!("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"{command}\"\n");
    let text = [group("ours"), group("a"), group("ours"), group("b"), group("ours")].concat();
    assert_eq!(without(&text), [group("a"), group("b")].concat());
}

#[test]
fn lists_in_a_line() {
    for (text, left) in [
        ("hooks = { Stop = [{ hooks = [{ command = \"ours\" }] }] }\na = 1\n", "a = 1\n"),
        (
            "hooks = { Stop = [{ hooks = [{ command = \"ours\" }] }], End = [{ hooks = [{ command = \"x\" }] }] }\n",
            "hooks = { End = [{ hooks = [{ command = \"x\" }] }] }\n",
        ),
        (
            "hooks = { End = [{ hooks = [{ command = \"x\" }] }], Stop = [{ hooks = [{ command = \"ours\" }] }] }\n",
            "hooks = { End = [{ hooks = [{ command = \"x\" }] }] }\n",
        ),
        (
            "[hooks]\nStop = [{ hooks = [{ command = \"x\" }, { command = \"ours\" }] }] # both\n",
            "[hooks]\nStop = [{ hooks = [{ command = \"x\" }] }] # both\n",
        ),
        (
            "[hooks]\nStop = [{ hooks = [{ command = \"ours\" }, { command = \"x\" }] }]\n",
            "[hooks]\nStop = [{ hooks = [{ command = \"x\" }] }]\n",
        ),
        ("[hooks]\nStop = [{ hooks = [{ command = \"ours\" }] }]\n\n[z]\n", "[z]\n"),
        ("a = 1\nhooks.Stop = [{ hooks = [{ command = \"ours\" }] }]\nb = 2\n", "a = 1\nb = 2\n"),
        (
            "[hooks]\nStop = [\n  # first\n  { hooks = [{ command = \"x\" }] }, # x\n  # second\n  { hooks = [{ command = \"ours\" }] } # o\n]\n",
            "[hooks]\nStop = [\n  # first\n  { hooks = [{ command = \"x\" }] }, # x\n  # second\n]\n",
        ),
        (
            "[hooks]\nStop = [\n  { hooks = [{ command = \"ours\" }, { command = \"ours\" }] },\n  # second\n  { hooks = [{ command = \"x\" }] },\n]\n",
            "[hooks]\nStop = [\n  # second\n  { hooks = [{ command = \"x\" }] },\n]\n",
        ),
    ] {
        assert_eq!(without(text), left, "{text}");
    }
}

#[test]
fn what_is_no_hook_is_left_alone() {
    for text in ["", "hooks = 3\n", "[hooks]\nStop = 'ours'\n", "[[hooks]]\ncommand = 'ours'\n"] {
        assert_eq!(without_hooks(text, |_| true).unwrap(), text);
    }
    assert!(without_hooks("a = ", |_| true).is_err());
}
