//! Text after removals: every other byte stays, whatever the form of what was removed.

use super::super::*;
use crate::install::edit::{EmptiedContainers, SettingsSyntax, SettingsText};
use crate::install::entries::hooks;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Removes the hooks that run `ours`.
fn without_hooks(text: &str) -> Result<String, SettingsSyntaxError> {
    let text = text.replace("\"ours\"", "\"recoup hook\"");
    let mut file = SettingsText::read(Some(text.as_bytes()), SettingsSyntax::Toml)?;
    hooks::remove_calls(&mut file, &["hooks"], EmptiedContainers::Any, str::to_owned)?;
    Ok(String::from_utf8(file.bytes()).unwrap())
}

fn without(text: &str) -> String {
    let left = without_hooks(text).unwrap();
    assert!(!left.contains("ours"), "{left}");
    parse_to_json(&left).unwrap_or_else(|fault| panic!("{fault} in\n{left}"));
    assert_eq!(without_hooks(&left).unwrap(), left, "twice");
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
            "[hooks]\nStop = [\n  # first\n  { hooks = [{ command = \"x\" }] } # x\n  # second\n]\n",
        ),
        (
            "[hooks]\nStop = [\n  { hooks = [{ command = \"ours\" }, { command = \"ours\" }] },\n  # second\n  { hooks = [{ command = \"x\" }] },\n]\n",
            "[hooks]\nStop = [\n  # second\n  { hooks = [{ command = \"x\" }] },\n]\n",
        ),
    ] {
        assert_eq!(without(text), left, "{text}");
    }
}

/// Dotted keys may be interleaved with others.
#[test]
fn dotted_keys_between_others() {
    let ours = "[{ hooks = [{ command = \"ours\" }] }]";
    let text = format!(
        "hooks.Stop = {ours}\nmodel = \"x\"\n# keep me\nmode = \"y\"\nhooks.Start = {ours} # us\n[z]\nb = 1\n"
    );
    assert_eq!(without(&text), "model = \"x\"\n# keep me\nmode = \"y\"\n[z]\nb = 1\n");
    let text = format!("[hooks]\nStop = {ours}\nstate.a = 1\nUse = {ours}\nstate.b = 2\n");
    assert_eq!(without(&text), "[hooks]\nstate.a = 1\nstate.b = 2\n");
}

#[test]
fn commas_and_comments_wherever_they_stand() {
    let (ours, other) =
        ("{ hooks = [{ command = \"ours\" }] }", "{ hooks = [{ command = \"x\" }] }");
    for (list, left) in [
        (format!("[\n  {ours}\n  , {other}\n]"), format!("[\n  {other}\n]")),
        (format!("[\n  {other}\n  , {ours}\n]"), format!("[\n  {other}\n]")),
        (format!("[ {other},\n {ours}\n , {other} ]"), format!("[ {other},\n {other} ]")),
        (format!("[\n  {other},\n  {ours}\n  ,\n]"), format!("[\n  {other},\n]")),
        (format!("[ {other}, # about x\n {ours} ]"), format!("[ {other} # about x\n  ]")),
        (format!("[ {ours} # us\n , # them\n {other} ]"), format!("[  # us\n # them\n {other} ]")),
    ] {
        assert_eq!(
            without(&format!("[hooks]\nStop = {list}\n")),
            format!("[hooks]\nStop = {left}\n")
        );
    }
}

#[test]
fn what_is_no_hook_is_left_alone() {
    for text in ["", "hooks = 3\n", "[hooks]\nStop = 'ours'\n", "[[hooks]]\ncommand = 'ours'\n"] {
        assert_eq!(without_hooks(text).unwrap(), text);
    }
    assert!(without_hooks("a = ").is_err());
}

#[test]
fn a_key_goes_with_its_lines() {
    for (text, left) in [
        ("notify = [\"x\"]\n", ""),
        ("# c\nnotify = [\n  \"x\", # y\n]\n\n[z]\n", "# c\n\n[z]\n"),
        ("a = 1\n\nnotify = [\"x\"] # y\nb = 2\n", "a = 1\n\nb = 2\n"),
        ("a = 1\r\nnotify = [\"x\"]", "a = 1\r\n"),
        ("a = 1\n", "a = 1\n"),
        ("[t]\nnotify = [\"x\"]\n", "[t]\nnotify = [\"x\"]\n"),
    ] {
        assert_eq!(remove_fields(text, &[], &["notify"]).unwrap(), left, "{text}");
    }
}

/// One hook, and its comment.
fn hook() -> impl Strategy<Value = (&'static str, &'static str)> {
    let command = prop::sample::select(vec!["ours", "ours", "lint", "make"]);
    (command, prop::sample::select(vec!["", "", " # kept"]))
}

/// The groups of one event, in one of the possible forms.
fn event(name: &'static str, forms: &'static [usize]) -> impl Strategy<Value = String> {
    let groups = prop::collection::vec(prop::collection::vec(hook(), 1..4), 1..4);
    (groups, prop::sample::select(forms), any::<bool>()).prop_map(move |(groups, form, blank)| {
        let line = |hooks: &[(&str, &str)]| {
            let hooks = hooks.iter().map(|it| format!("{{ command = \"{}\" }}", it.0));
            format!("[{}]", hooks.collect::<Vec<_>>().join(", "))
        };
        let gap = if blank { "\n" } else { "" };
        let table = |hooks: &Vec<(&str, &str)>| match form {
            0 => {
                let hooks = hooks.iter().map(|(command, said)| {
                    format!("{gap}# above\n[[hooks.{name}.hooks]]\ncommand = \"{command}\"{said}\n")
                });
                format!("{gap}[[hooks.{name}]]\nmatcher = \"x\"\n{}", hooks.collect::<String>())
            }
            1 => format!("{gap}[[hooks.{name}]]\nhooks = {}\n", line(hooks)),
            2 => format!("  {{ hooks = {} }},\n  # above\n", line(hooks)),
            4 => format!("{{ hooks = {} }}{gap}  ", line(hooks)),
            _ => format!("{{ hooks = {} }}", line(hooks)),
        };
        let all: Vec<String> = groups.iter().map(table).collect();
        match form {
            0 | 1 => all.concat(),
            2 => format!("{name} = [\n{}]\n", all.concat()),
            // Commas at the beginning of a line, and comments behind one.
            4 => {
                format!("{name} = [\n  {}{}\n]\n", all.join("\n  , "), if blank { "," } else { "" })
            }
            5 => format!("{name} = [\n  {} ]\n", all.join(", # about it\n  ")),
            _ => format!("{name} = [{}]\n", all.join(", ")),
        }
    })
}

/// Expected JSON data after the removal.
fn expected(root: &Value) -> Value {
    let Some(events) = root["hooks"].as_object() else { return root.clone() };
    let mut left = Map::new();
    for (event, groups) in events {
        let Some(groups) = groups.as_array() else {
            left.insert(event.clone(), groups.clone());
            continue;
        };
        let mut kept = groups.clone();
        for group in &mut kept {
            let hooks = group["hooks"].as_array_mut().unwrap();
            hooks.retain(|hook| hook["command"] != "ours");
        }
        kept.retain(|group| !group["hooks"].as_array().unwrap().is_empty());
        if !kept.is_empty() {
            left.insert(event.clone(), kept.into());
        }
    }
    let mut root = root.clone();
    if left.is_empty() {
        root.as_object_mut().unwrap().remove("hooks");
    } else {
        root["hooks"] = left.into();
    }
    root
}

/// Number of comments on their own line, outside of lists.
fn comments(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with('#')).count()
}

proptest! {
    /// Removal leaves the remaining data, bytes and comments unchanged.
    #[test]
    fn nothing_else_changes(
        tables in (event("Stop", &[0, 1]), event("End", &[0, 1])),
        lines in (event("Start", &[2, 3, 4, 5]), event("Use", &[2, 3, 4, 5])),
        form in 0..3,
        crlf in any::<bool>(),
    ) {
        let hooks = match form {
            0 => format!("{}{}", tables.0, tables.1),
            1 => format!("[hooks]\n{}{}", lines.0, lines.1),
            _ => format!("hooks.{}c = 3\n# between\nhooks.{}d = 4\n", lines.0, lines.1),
        };
        let text = format!("# first\na = 1 # one\n{hooks}\n[z]\nb = 2\n");
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let left = without_hooks(&text).unwrap();
        prop_assert_eq!(parse_to_json(&left).unwrap(), expected(&parse_to_json(&text).unwrap()), "{}", left);
        prop_assert_eq!(comments(&left), comments(&text), "{}", left);
        prop_assert_eq!(left.matches('\r').count(), if crlf { left.matches('\n').count() } else { 0 });
        prop_assert!(!left.contains("\n\n\n"), "{}", left);
    }
}
