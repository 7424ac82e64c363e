//! What can't be read or written: said clearly, and nothing is touched.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use super::{CLAUDE, Machine, SETTINGS};
use crate::support::{RECOUP, finish};

#[test]
fn malformed_settings_are_named_with_line_and_column_and_nothing_is_touched() {
    let cases: [(&[u8], &str); 8] = [
        (b"{\n  \"a\": 1,\n}\n", "~/.claude/settings.json, line 3, column 1: "),
        (b"{\n  // mine\n}\n", "line 2, column 3: comments are not allowed here"),
        (b"[]\n", "line 1, column 1: expected an object here"),
        (b"{\"hooks\": []}", "line 1, column 11: \u{201c}hooks\u{201d} should be an object"),
        (
            b"{\"hooks\": {\n \"Stop\": \"x\"}}",
            "line 2, column 10: \u{201c}Stop\u{201d} should be a list",
        ),
        (b"{\"a\": \"\xff\"}", "line 1, column 8: the file is not UTF-8"),
        (b"{\"a\": 1", "line 1, column 7: "),
        (b"\0\0\0", "line 1, column 1: "),
    ];
    for (settings, said) in cases {
        let machine = Machine::with_settings(settings);
        machine.write(".codex/config.toml", "model = \"x\"\n");
        let before = machine.files();
        let named = [&["init", "--yes", "--client", "codex"], &CLAUDE[..]].concat();
        let output = machine.run(&named).expect(1);
        assert!(output.stderr.contains(said), "{}", output.stderr);
        assert!(output.stderr.contains("nothing was changed"), "{}", output.stderr);
        assert!(machine.files() == before, "nothing at all: both clients were named");

        // Only found, it is left out, and the other goes on.
        let output = machine.run(&["init", "--yes"]).expect(1);
        assert!(output.stderr.contains(said), "{}", output.stderr);
        assert_eq!(machine.read(SETTINGS), settings);
        assert!(!machine.path(".claude.json").exists(), "no file of that client");
        assert!(machine.path(".codex/hooks.json").exists());

        // Taking out does what it can, and says what it can't.
        let readable = said.contains("should be");
        let output = machine.run(&["uninstall", "--yes"]).expect(i32::from(!readable));
        assert!(!machine.path(".codex/hooks.json").exists());
        if !readable {
            assert!(output.stderr.contains("it was not changed"), "{}", output.stderr);
        }
        assert_eq!(machine.read(SETTINGS), settings);
    }
}

#[test]
fn a_project_whose_name_is_no_text_is_refused_and_nothing_is_touched() {
    let machine = Machine::new();
    let root = machine.path("").join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let before = machine.files();
    let args = [&["init", "--project", "--yes"], &CLAUDE[..]].concat();
    let output = finish(machine.command(&args).current_dir(&root)).expect(1);
    assert!(output.stderr.contains("not UTF-8"), "{}", output.stderr);
    let args = [&["init", "--project", "--dry-run", "--json"], &CLAUDE[..]].concat();
    let output = finish(machine.command(&args).current_dir(&root));
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    assert!(machine.files() == before);
}

#[test]
fn malformed_toml_is_named_with_line_and_column() {
    let machine = Machine::new();
    machine.write(".codex/config.toml", "a = 1\n[broken\n");
    let output = machine.run(&["init", "--yes", "--client", "codex"]).expect(1);
    assert!(
        output.stderr.contains("~/.codex/config.toml, line 2, column 8: "),
        "{}",
        output.stderr
    );
    assert!(!machine.path(".codex/hooks.json").exists());
}

#[test]
fn what_is_read_only_stays_so_and_nothing_else_is_written() {
    let machine = Machine::with_settings("{}\n");
    machine.write(".claude.json", "{}\n");
    let file = machine.path(".claude.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let output = machine.run(&["init", "--yes"]).expect(1);
    assert!(
        output.stderr.contains(": ~/.claude.json is read-only: make it writable"),
        "{}",
        output.stderr
    );
    assert_eq!(machine.text(SETTINGS), "{}\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();

    let dir = machine.path(".claude");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).unwrap();
    let output = machine.run(&["init", "--yes"]).expect(1);
    assert!(output.stderr.contains("can't write to ~/.claude: check"), "{}", output.stderr);
    assert_eq!(machine.text(".claude.json"), "{}\n");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    machine.init(&[]);
}

#[test]
fn something_else_in_the_place_of_a_file_is_refused() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path(SETTINGS)).unwrap();
    let output = machine.run(&[&["init", "--yes"], &CLAUDE[..]].concat()).expect(1);
    let refused = ": ~/.claude/settings.json is not a regular file\n";
    assert!(output.stderr.contains(refused), "{}", output.stderr);
    let output = machine.run(&["uninstall", "--yes"]).expect(1);
    assert!(output.stderr.contains(refused), "{}", output.stderr);

    let machine = Machine::new();
    machine.write(".claude", "a file");
    let output = machine.run(&[&["init", "--yes"], &CLAUDE[..]].concat()).expect(1);
    assert!(output.stderr.contains(": ~/.claude is not a directory"), "{}", output.stderr);

    let machine = Machine::new();
    machine.write(".pi/agent/extensions/recoup.ts", "export default () => {};\n");
    let output = machine.run(&["init", "--yes", "--client", "pi"]).expect(1);
    assert!(output.stderr.contains("this extension is not recoup's"), "{}", output.stderr);
}

#[test]
fn a_program_that_will_be_gone_is_refused() {
    let machine = Machine::new();
    fs::remove_file(machine.path("bin/recoup")).unwrap();
    let output = machine.run(&[&["init", "--yes"], &CLAUDE[..]].concat()).expect(2);
    assert!(output.stderr.contains("the next build replaces it"), "{}", output.stderr);
    assert!(!machine.path(SETTINGS).exists());
    let given =
        |program: &str| machine.run(&["init", "--yes", "--client", "pi", "--program", program]);
    given("/no/such/recoup").expect_usage("no such program");
    given("/bin/sh").expect_usage("the program must be named recoup");
    given(RECOUP).expect(0);
}

#[test]
fn without_a_terminal_it_is_shown_and_not_written() {
    let machine = Machine::with_settings("{}\n");
    let repeat = "; repeat the command with --yes to confirm, or with --dry-run to only show the \
                  changes\n";
    for command in ["init", "uninstall"] {
        let output = machine.run(&[command]);
        if command == "init" {
            let output = output.expect(2);
            assert!(output.text().contains("+  \"hooks\": {"), "{}", output.text());
            assert!(output.stderr.contains(repeat), "{}", output.stderr);
        } else {
            output.expect(0);
        }
        assert_eq!(machine.text(SETTINGS), "{}\n");
    }
    machine.init(&[]);
    let output = machine.run(&["uninstall"]).expect(2);
    assert!(output.stderr.contains(repeat), "{}", output.stderr);
    let shown = machine.run(&["uninstall", "--dry-run"]).expect(0);
    assert!(shown.text().contains("--- ~/.claude/settings.json"), "{}", shown.text());
    assert!(machine.text(SETTINGS).contains("recoup"));
}

#[test]
fn usage_is_checked() {
    let machine = Machine::new();
    let all = "expected one of claude-code, codex, pi, qwen, copilot, droid, kimi, gemini, cursor, \
               windsurf, vscode, zed, opencode";
    machine.run(&["init", "--client", "emacs"]).expect_usage(&format!("{all}, mcp\n"));
    machine.run(&["uninstall", "--client", "emacs"]).expect_usage(&format!("{all}\n"));
    machine
        .run(&["init", "--client", "mcp", "--client", "pi"])
        .expect_usage("cannot be combined with other clients");
    machine.run(&["init", "--user", "--project"]).expect_usage("cannot be used with");
    machine.run(&["init", "--judge", "maybe"]).expect_usage("maybe");
    machine.run(&["uninstall", "--purge", "--client", "pi"]).expect_usage("cannot be used with");
    machine
        .run(&["uninstall", "--client", "mcp"])
        .expect_usage("remove recoup from its configuration by hand");
    let mut command = machine.command(&["init", "--yes"]);
    let output = finish(command.env_remove("HOME")).expect(2);
    assert!(output.stderr.contains("HOME is not set"), "{}", output.stderr);
    let output = machine.run(&["init", "--yes"]).expect(1);
    assert!(output.stderr.contains("no supported client found"), "{}", output.stderr);
}

/// Settings may hold keys; a diff ends up in logs and bug reports.
#[test]
fn secrets_in_settings_are_not_shown() {
    let key = format!(
        "sk-ant-{}",
        "api03-Zq7vXw2Lr9Tk4Ns6Bf8Hd1Jm3Pc5Gy0Wu2Ea7Ro9Ti4Ks6Dl8Fn1Vb3Mx5Cz0Qh2Yj7Ug9Ew4Ip6Oa8St1-RdKfLgAA"
    );
    let machine = Machine::with_settings(format!(
        "{{\n  \"env\": {{\"ANTHROPIC_API_KEY\": \"{key}\"}}\n}}\n"
    ));
    let output = machine.init(&[&CLAUDE[..], &["--diff"]].concat());
    assert!(output.text().contains("\"SessionStart\""), "{}", output.text());
    assert!(!output.text().contains("Zq7vXw2Lr9Tk4"), "{}", output.text());
    assert!(machine.text(SETTINGS).contains(&key));
    let report = machine.run(&["uninstall", "--json", "--yes"]).expect(0);
    assert!(!report.text().contains("Zq7vXw2Lr9Tk4"), "{}", report.text());
}

/// A limit on the size of files stands in for the full disk.
#[test]
fn what_helps_without_room_is_no_other_store() {
    let machine = Machine::with_settings("{}\n");
    let script = "trap '' XFSZ; ulimit -f 0; exec recoup init --yes --client claude-code";
    let output = finish(&mut machine.prepared("sh", &["-c", script])).expect(1);
    assert!(output.stderr.contains("\nhint: free disk space"), "{}", output.stderr);
    assert!(!output.stderr.contains("--store"), "{}", output.stderr);
    assert_eq!(machine.text(SETTINGS), "{}\n");
    machine.init(&CLAUDE);
}

/// Nobody may write there, not even root.
#[test]
fn what_helps_where_nothing_can_be_written_is_another_home() {
    let machine = Machine::with_settings("{}\n");
    let mut command = machine.command(&["init", "--yes", "--client", "claude-code"]);
    let output = finish(command.env("RECOUP_HOME", "/sys/recoup")).expect(1);
    assert!(output.stderr.contains("RECOUP_HOME"), "{}", output.stderr);
    assert!(!output.stderr.contains("--store"), "{}", output.stderr);
    assert_eq!(machine.text(SETTINGS), "{}\n");
}
