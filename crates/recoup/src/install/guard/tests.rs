//! Changes that are allowed, and those that are refused.

use super::*;

fn check_change(
    held: &InstalledContent,
    peers: &[&'static str],
    before: &str,
    after: &str,
) -> std::result::Result<(), String> {
    AllowedChanges { holds: &[held], peers }.check_difference(before.as_bytes(), after.as_bytes())
}

const OURS: &str = r#"{"hooks":[{"command":"recoup hook"}]}"#;

fn servers() -> InstalledContent {
    InstalledContent::Servers { at: vec!["mcpServers".to_owned()], comments: true }
}

#[test]
fn what_is_ours_may_come_and_go() {
    let with = format!(r#"{{"a":1,"hooks":{{"Stop":[{OURS}]}}}}"#);
    for (before, after) in [(r#"{"a":1}"#, &*with), (&*with, r#"{"a":1}"#), ("", r#"{"hooks":{}}"#)]
    {
        assert_eq!(
            check_change(&InstalledContent::Hooks, &[], before, after),
            Ok(()),
            "{before} {after}"
        );
    }
    let with =
        r#"{"mcpServers":{"x":{"command":"y"},"recoup":{"command":"recoup","args":["mcp"]}}}"#;
    let without = r#"{"mcpServers":{"x":{"command":"y"}} /* z */}"#;
    assert_eq!(check_change(&servers(), &[], with, without), Ok(()));
    let toml = "notify = ['recoup', 'hook']\nb = 1\n[mcp_servers.recoup]\ncommand = 'recoup'\nargs = ['mcp']\n[[hooks.Stop]]\nhooks = [{ command = 'recoup hook' }]\n";
    assert_eq!(check_change(&InstalledContent::TomlServers, &[], toml, "b = 1\n"), Ok(()));
}

#[test]
fn what_is_not_ours_may_not() {
    let lint = r#"{"hooks":[{"command":"lint"}]}"#;
    let both = format!(r#"{{"a":1,"hooks":{{"Stop":[{OURS},{lint}]}}}}"#);
    let own = r#"{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"env A=1 recoup hook"}]}]}}"#;
    for (before, after, name) in [
        (&*both, r#"{"a":1}"#, "hooks"),
        (own, r#"{"a":1}"#, "hooks"),
        (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, "a"),
        (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, "b"),
        (r#"{"a":1}"#, r#"{"a":2}"#, "a"),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, "a"),
    ] {
        let said = check_change(&InstalledContent::Hooks, &[], before, after).unwrap_err();
        assert!(said.contains(&format!("“{name}” would be another")), "{said}");
    }
    let toml = "a = 1\nhooks.Stop = [{ hooks = [{ command = 'recoup hook' }] }]\n";
    assert!(check_change(&InstalledContent::TomlServers, &[], toml, "").is_err());
}

#[test]
fn what_nobody_could_read_is_not_written() {
    let before = "{\"a\": 1, // about a\n\"mcpServers\": {}}";
    let said = check_change(&servers(), &[], before, "{\"a\": 1 // about a}").unwrap_err();
    assert!(said.contains("would not be readable"), "{said}");
    let said =
        check_change(&InstalledContent::TomlServers, &[], "a = [1]\n", "a = [,1]\n").unwrap_err();
    assert!(said.contains("would not be readable"), "{said}");
}

#[test]
fn others_that_remember_go_only_if_that_was_said() {
    let with = r#"{"mcpServers":{"claude-mem":{"command":"x"}},"enabledPlugins":{"claude-mem@y":true,"z":true}}"#;
    let without = r#"{"mcpServers":{},"enabledPlugins":{"claude-mem@y":false,"z":true}}"#;
    assert_eq!(check_change(&servers(), &["claude-mem"], with, without), Ok(()));
    assert!(check_change(&servers(), &["claude-recall"], with, without).is_err());
    assert!(check_change(&servers(), &[], with, without).is_err());
}

#[test]
fn of_a_list_only_our_line_may_come_and_go() {
    let line = InstalledContent::Line("/ours".to_owned());
    let looked_at = |before: &[u8], after: &[u8]| {
        AllowedChanges { holds: &[&line], peers: &[] }.check_difference(before, after).is_ok()
    };
    for (without, with) in [
        (&b""[..], &b"/ours\n"[..]),
        (b"\xff", b"\xff\n/ours\n"),
        (b"a\r\n\nb\n", b"a\r\n\n/ours\r\nb\n"),
    ] {
        assert!(looked_at(without, with) && looked_at(with, without), "{with:?}");
    }
    for (before, after) in [
        (&b"\xff\n"[..], "\u{fffd}\n/ours\n".as_bytes()),
        (b"a\n/ours\n", b""),
        (b"a\nb\n", b"b\na\n/ours\n"),
        (b"a \n", b"a\n/ours\n"),
    ] {
        assert!(!looked_at(before, after), "{before:?}");
    }
}
