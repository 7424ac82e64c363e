//! Files that are not where they were, links, and two names of one file: what was put in comes
//! out.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{CLAUDE, Machine, SETTINGS};
use crate::support::finish;

fn receipt(machine: &Machine) -> std::path::PathBuf {
    machine.home.recoup().join("installed.json")
}

#[test]
fn what_the_environment_placed_is_found_without_it() {
    let machine = Machine::new();
    let mut init = machine.command(&["init", "--yes", "--client", "codex", "--client", "pi"]);
    init.args(CLAUDE)
        .env("CODEX_HOME", machine.path("cx"))
        .env("PI_CODING_AGENT_DIR", machine.path("pi"));
    finish(init.env("CLAUDE_CONFIG_DIR", machine.path("cc"))).expect(0);
    for file in ["cc/settings.json", "cc/.claude.json", "cx/hooks.json", "cx/config.toml"] {
        assert!(machine.text(file).contains("recoup"), "{file}");
    }
    // Somebody else has been in one of them: it can't just be brought back.
    let settings = machine.text("cc/settings.json");
    machine.write("cc/settings.json", settings.replacen('{', "{\n  \"model\": \"x\",", 1));
    machine.uninstall(&[]);
    assert_eq!(machine.json("cc/settings.json"), json!({"model": "x"}));
    for file in ["cc/.claude.json", "cx", "pi"] {
        assert!(!machine.path(file).exists(), "{file}");
    }
    assert!(!receipt(&machine).exists());
}

#[test]
fn a_client_that_reads_another_file_by_now_is_taken_out_of_the_first() {
    let machine = Machine::new();
    machine.write(".config/opencode/mine.txt", "");
    machine.init(&["--client", "opencode"]);
    machine.write(".config/opencode/opencode.jsonc", "{}");
    machine.uninstall(&[]);
    assert!(!machine.path(".config/opencode/opencode.json").exists());
    assert_eq!(machine.text(".config/opencode/opencode.jsonc"), "{}");
}

#[test]
fn a_link_that_led_nowhere_stays_and_what_it_led_to_goes() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path(".claude")).unwrap();
    fs::create_dir_all(machine.path("dot")).unwrap();
    symlink("../dot/settings.json", machine.path(SETTINGS)).unwrap();
    machine.init(&CLAUDE);
    assert!(machine.text("dot/settings.json").contains("SessionStart"));
    machine.uninstall(&[]);
    assert_eq!(fs::read_link(machine.path(SETTINGS)).unwrap(), Path::new("../dot/settings.json"));
    assert!(!machine.path("dot/settings.json").exists());

    // A file has taken the link's place meanwhile: what the link led to is known.
    machine.init(&CLAUDE);
    fs::remove_file(machine.path(SETTINGS)).unwrap();
    machine.write(SETTINGS, "{}");
    machine.uninstall(&[]);
    assert!(!machine.path("dot/settings.json").exists());
    assert_eq!(machine.text(SETTINGS), "{}");
}

#[test]
fn two_clients_with_one_file_both_get_what_is_theirs() {
    let machine = Machine::new();
    machine.write(".cursor/mcp.json", "{}\n");
    fs::create_dir_all(machine.path(".config/Code/User")).unwrap();
    symlink(machine.path(".cursor/mcp.json"), machine.path(".config/Code/User/mcp.json")).unwrap();
    let both = ["--client", "cursor", "--client", "vscode"];
    machine.init(&both);
    let file = machine.json(".cursor/mcp.json");
    assert_eq!(file["mcpServers"]["recoup"]["command"], machine.program());
    assert_eq!(file["servers"]["recoup"]["command"], machine.program());
    let again = machine.init(&both);
    assert!(again.stderr.contains("Nothing was changed."), "{}", again.stderr);
    machine.uninstall(&["--client", "vscode"]);
    assert_eq!(machine.json(".cursor/mcp.json").get("servers"), None);
    assert!(machine.text(".cursor/mcp.json").contains("mcpServers"));
    machine.init(&both);
    machine.uninstall(&[]);
    assert_eq!(machine.text(".cursor/mcp.json"), "{}\n");
    assert!(machine.path(".config/Code/User/mcp.json").is_symlink());
}

#[test]
fn a_home_that_is_a_repository_hides_every_file_and_shows_it_again() {
    let machine = Machine::new();
    let home = machine.path("");
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(&home).env("HOME", &home).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    git(&["init", "-q"]);
    let before = machine.text(".git/info/exclude");
    let mut init = machine.command(&["init", "--yes", "--project"]);
    finish(init.args(CLAUDE).current_dir(&home)).expect(0);
    let list = machine.text(".git/info/exclude");
    assert!(list.contains("/.claude/settings.local.json\n/.claude.json\n"), "{list}");
    // Somebody adds to it: both lines go, and no other.
    machine.write(".git/info/exclude", format!("{list}mine\n"));
    machine.uninstall(&[]);
    assert_eq!(machine.text(".git/info/exclude"), format!("{before}mine\n"));
}

#[test]
fn what_the_team_has_is_not_taken_out_unasked() {
    let machine = Machine::new();
    let team = json!({"mcpServers": {"recoup": {"command": "recoup", "args": ["mcp"]}}});
    machine.write("project/.cursor/mcp.json", team.to_string());
    machine.init(&CLAUDE);
    machine.uninstall(&[]);
    assert_eq!(machine.json("project/.cursor/mcp.json"), team);
    machine.uninstall(&["--project"]);
    assert_eq!(machine.json("project/.cursor/mcp.json"), json!({}));
}

#[test]
fn one_file_that_is_in_the_way_does_not_keep_the_others() {
    let machine = Machine::new();
    machine.write(".codex/config.toml", "model = \"x\"\n");
    Command::new("git").args(["init", "-q"]).current_dir(machine.home.project()).status().unwrap();
    machine.init(&[&CLAUDE[..], &["--client", "codex"]].concat());
    machine.init(&[&CLAUDE[..], &["--project"]].concat());
    let config = machine.path(".codex/config.toml");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o444)).unwrap();
    let exclude = machine.path("project/.git/info/exclude");
    fs::rename(&exclude, machine.path("aside")).unwrap();
    fs::create_dir(&exclude).unwrap();
    let output = machine.run(&["uninstall", "--yes"]).expect(1);
    assert!(output.stderr.contains("config.toml is read-only"), "{}", output.stderr);
    assert!(output.stderr.contains("info/exclude"), "{}", output.stderr);
    assert!(!machine.path(SETTINGS).exists());
    assert!(!machine.path(".codex/hooks.json").exists());
    assert!(!machine.path("project/.claude").exists());

    // What could not be done is still known, and done when it can be.
    fs::set_permissions(&config, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_dir(&exclude).unwrap();
    fs::rename(machine.path("aside"), &exclude).unwrap();
    machine.uninstall(&[]);
    assert_eq!(machine.text(".codex/config.toml"), "model = \"x\"\n");
    assert!(!fs::read_to_string(&exclude).unwrap().contains(".claude"));
    assert!(!receipt(&machine).exists());
}

#[test]
fn a_file_that_was_not_there_goes_when_the_last_has_left_it() {
    let machine = Machine::new();
    let project = [&CLAUDE[..], &["--project"]].concat();
    machine.init(&CLAUDE);
    machine.init(&project);
    machine.uninstall(&["--project"]);
    machine.uninstall(&[]);
    assert!(!machine.path(".claude.json").exists());

    // What somebody has written into it meanwhile stays.
    machine.init(&CLAUDE);
    machine.init(&project);
    let text = machine.text(".claude.json");
    machine.write(".claude.json", text.replacen('{', "{\n  \"numStartups\": 3,", 1));
    machine.uninstall(&["--project"]);
    machine.uninstall(&[]);
    assert_eq!(machine.json(".claude.json"), json!({"numStartups": 3}));
}

#[test]
fn a_file_with_two_names_is_written_with_a_warning() {
    let machine = Machine::with_settings("{}");
    fs::hard_link(machine.path(SETTINGS), machine.path("dotfiles.json")).unwrap();
    let said = "~/.claude/settings.json: the file has another hard link";
    let shown = machine.run(&["init", "--dry-run"]).expect(0);
    assert!(shown.stderr.contains(said), "{}", shown.stderr);
    let report = machine.run(&["init", "--dry-run", "--json"]).expect(0).json();
    let note = report["clients"][0]["files"][0]["note"].as_str().unwrap_or_default();
    assert!(note.contains("keeps the old content"), "{report}");
    machine.init(&CLAUDE);
    assert_eq!(machine.text("dotfiles.json"), "{}");
    let again = machine.init(&CLAUDE);
    assert!(!again.stderr.contains("hard link"), "{}", again.stderr);
}

#[test]
fn a_file_of_a_project_that_leads_out_of_it_by_now_is_left_alone() {
    let machine = Machine::new();
    let both = ["--project", "--client", "cursor", "--client", "gemini"];
    machine.init(&both);
    let inside = machine.path("project/.cursor/mcp.json");
    let mine = machine.read("project/.cursor/mcp.json");
    machine.write(".cursor/mcp.json", &mine);
    fs::remove_file(&inside).unwrap();
    symlink(machine.path(".cursor/mcp.json"), &inside).unwrap();

    let output = machine.run(&["uninstall", "--yes", "--client", "cursor", "--project"]).expect(1);
    assert!(
        output.stderr.contains(".cursor/mcp.json is a symbolic link out of the project"),
        "{}",
        output.stderr
    );
    let output = machine.run(&["uninstall", "--yes", "--project"]).expect(1);
    assert!(output.stderr.contains("it was not changed"), "{}", output.stderr);
    assert_eq!(machine.read(".cursor/mcp.json"), mine);
    assert!(!machine.path("project/.gemini/settings.json").exists(), "the rest went");

    // It is known as long as that lasts, whatever becomes of what it leads to.
    machine.run(&["uninstall", "--yes"]).expect(1);
    assert!(fs::read_to_string(receipt(&machine)).unwrap().contains("project/.cursor/mcp.json"));
    fs::remove_file(&inside).unwrap();
    fs::write(&inside, &mine).unwrap();
    machine.uninstall(&[]);
    assert!(!inside.exists());
    assert!(!receipt(&machine).exists());
}

/// Nothing of ours can be behind a link that init would not have followed.
#[test]
fn a_link_of_the_repository_that_has_nothing_of_ours_is_no_fault() {
    let machine = Machine::new();
    machine.init(&["--project", "--client", "gemini"]);
    let team = json!({"mcpServers": {"recoup": {"command": "recoup", "args": ["mcp"]}}});
    machine.write("elsewhere.json", team.to_string());
    fs::create_dir_all(machine.path("project/.cursor")).unwrap();
    symlink(machine.path("elsewhere.json"), machine.path("project/.cursor/mcp.json")).unwrap();
    machine.uninstall(&[]);
    assert_eq!(machine.json("elsewhere.json"), team);
}

#[test]
fn what_a_newer_version_has_noted_is_not_touched() {
    let machine = Machine::with_settings("{}");
    machine.init(&CLAUDE);
    let known = fs::read_to_string(receipt(&machine)).unwrap();
    let newer = [
        known.replace("\"claude-code\"", "\"emacs\""),
        known.replace("\"user\"", "\"team\""),
        known.replace("\"hooks\"", "\"commands\""),
        known.replace("\"version\": 1", "\"version\": 2"),
        "{\"version\": 2, \"files\": {\"another\": \"layout\"}}".to_owned(),
    ];
    for newer in newer {
        assert_ne!(newer, known);
        fs::write(receipt(&machine), &newer).unwrap();
        let settings = machine.text(SETTINGS);
        for args in [&["uninstall", "--yes"][..], &["init", "--yes", "--client", "pi"]] {
            let output = machine.run(args).expect(1);
            assert!(
                output.stderr.contains("was written by a newer version of recoup: upgrade"),
                "{}",
                output.stderr
            );
        }
        assert_eq!(fs::read_to_string(receipt(&machine)).unwrap(), newer);
        assert_eq!(machine.text(SETTINGS), settings);
    }
    fs::write(receipt(&machine), "{").unwrap();
    let output = machine.run(&["uninstall", "--yes"]).expect(1);
    assert!(output.stderr.contains("can't be read: move it away"), "{}", output.stderr);
}
