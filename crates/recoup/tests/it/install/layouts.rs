//! Layouts in which a cut is easily one byte off: what is not ours stays, and what is left can be
//! read.

use super::Machine;

const CONFIG: &str = ".codex/config.toml";
const ZED: &str = ".config/zed/settings.json";

#[test]
fn dotted_keys_of_ours_go_and_those_between_them_stay() {
    let ours = "[{ hooks = [{ command = \"recoup hook --client codex\" }] }]";
    let rest = "model = \"x\"\n# keep me\nsandbox_mode = \"read-only\"\n";
    let before = format!("hooks.Stop = {ours}\n{rest}hooks.SessionStart = {ours}\n[z]\nb=1\n");
    let machine = Machine::new();
    machine.write(CONFIG, &before);
    machine.init(&["--client", "codex"]);
    let after = machine.text(CONFIG);
    assert!(after.starts_with(&format!("{rest}[z]\nb=1\n")), "{after}");
    machine.uninstall(&[]);
    assert_eq!(machine.text(CONFIG), format!("{rest}[z]\nb=1\n"));
    machine.write(CONFIG, &before);
    machine.uninstall(&[]);
    assert_eq!(machine.text(CONFIG), format!("{rest}[z]\nb=1\n"), "without a receipt");
}

#[test]
fn commas_at_the_beginning_of_a_line_stay_sound() {
    let (ours, other) =
        ("{ hooks = [{ command = \"recoup hook\" }] }", "{ hooks = [{ command=\"z\"}] }");
    let without = format!("[hooks]\nStop = [\n  {other}\n]\n");
    for list in [format!("{ours}\n  , {other}"), format!("{other}\n  , {ours}")] {
        let before = format!("[hooks]\nStop = [\n  {list}\n]\n");
        let machine = Machine::new();
        machine.write(CONFIG, &before);
        machine.uninstall(&[]);
        assert_eq!(machine.text(CONFIG), without);
        machine.write(CONFIG, &before);
        machine.init(&["--client", "codex"]);
        machine.uninstall(&[]);
        assert_eq!(machine.text(CONFIG), without);
    }
}

#[test]
fn a_bracket_behind_ours_stays_outside_of_a_comment() {
    let ours = "\"recoup\": {\"command\":\"recoup\",\"args\":[\"mcp\"]}";
    for (before, without) in [
        (
            format!(
                "{{\n  \"context_servers\": {{\n    \"a\": {{\"command\":\"x\"}}, // about a\n    {ours}}}\n}}"
            ),
            "{\n  \"context_servers\": {\n    \"a\": {\"command\":\"x\"} // about a\n    }\n}",
        ),
        (format!("{{ // mine\n  \"context_servers\": {{{ours}}} }}"), "{ // mine\n   }"),
    ] {
        let machine = Machine::new();
        machine.write(ZED, before);
        machine.uninstall(&[]);
        assert_eq!(machine.text(ZED), without);
    }
}

#[test]
fn comments_alone_stay() {
    let machine = Machine::new();
    let before = "// Zed settings\n// see x\n";
    machine.write(ZED, before);
    machine.init(&["--client", "zed"]);
    assert!(machine.text(ZED).starts_with(before), "{}", machine.text(ZED));
    let put = machine.text(ZED);
    machine.init(&["--client", "zed"]);
    assert_eq!(machine.text(ZED), put, "a second time");
    machine.uninstall(&[]);
    assert_eq!(machine.text(ZED), before);
    machine.init(&["--client", "zed"]);
    machine.write(ZED, machine.text(ZED) + "// more\n");
    machine.uninstall(&[]);
    assert_eq!(machine.text(ZED), format!("{before}// more\n"), "changed in between");
}

#[test]
fn dotted_keys_within_braces_stay() {
    let ours = "[{ hooks = [{ command = 'recoup hook' }] }]";
    for (hooks, left) in [
        (format!("hooks = {{ a.b = 1, Stop = {ours} }}"), "hooks = { a.b = 1 }"),
        (
            format!("hooks = {{ Stop = {ours}, a.b = 1, a.c = {{ d.e = 2 }} }}"),
            "hooks = { a.b = 1, a.c = { d.e = 2 } }",
        ),
        (
            format!("hooks = {{ a.\"b,c\" = 1, Stop = {ours}, a.d = 2, End = {ours} }}"),
            "hooks = { a.\"b,c\" = 1, a.d = 2 }",
        ),
    ] {
        let file = |hooks: &str| format!("model = 'x'\n{hooks}\nb = 1\n");
        let machine = Machine::new();
        machine.write(CONFIG, file(&hooks));
        machine.uninstall(&[]);
        assert_eq!(machine.text(CONFIG), file(left));
        machine.write(CONFIG, file(&hooks));
        machine.init(&["--client", "codex"]);
        machine.uninstall(&[]);
        assert_eq!(machine.text(CONFIG), file(left));
    }
}
