//! For everything, or for one project: whose file it is, and who gets to see it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{CLAUDE, Machine, SETTINGS};

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    let output = command.args(args).current_dir(dir).env("HOME", dir).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const LOCAL: &str = "project/.claude/settings.local.json";

#[test]
fn a_projects_hooks_are_one_persons_and_out_of_git() {
    let machine = Machine::new();
    let project = machine.home.project();
    git(&project, &["init", "-q"]);
    let exclude = machine.text("project/.git/info/exclude");
    machine.init(&[&CLAUDE[..], &["--project"]].concat());
    assert!(machine.text(LOCAL).contains("\"SessionStart\""));
    assert!(!machine.path(SETTINGS).exists());
    assert!(!project.join(".mcp.json").exists());
    let known = machine.json(".claude.json");
    let server = &known["projects"][project.to_str().unwrap()]["mcpServers"]["recoup"];
    assert_eq!(server["command"], machine.program());
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "nothing to be published");
    let output = machine.init(&[&CLAUDE[..], &["--project"]].concat());
    assert!(output.stderr.contains("Nothing was changed."), "{}", output.stderr);
    // From anywhere: the receipt knows the project.
    machine.home.run_in(&machine.path("."), &["uninstall", "--yes"]).expect(0);
    assert!(!machine.path("project/.claude").exists());
    assert!(!machine.path(".claude.json").exists());
    assert_eq!(machine.text("project/.git/info/exclude"), exclude);
}

#[test]
fn a_worktree_uses_the_list_of_its_repository() {
    let machine = Machine::new();
    let project = machine.home.project();
    git(&project, &["init", "-q"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&project, &["worktree", "add", "-q", "../tree"]);
    let tree = machine.path("tree");
    let mut command = machine.command(&["init", "--yes", "--project", "--client", "claude-code"]);
    crate::support::finish(command.current_dir(&tree)).expect(0);
    assert!(tree.join(".claude/settings.local.json").exists());
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
}

#[test]
fn files_that_the_team_gets_hold_no_path_of_this_machine() {
    let machine = Machine::new();
    let clients = [
        "codex", "pi", "qwen", "copilot", "droid", "kimi", "cursor", "vscode", "zed", "gemini",
        "opencode", "windsurf",
    ];
    let clients = clients.iter().flat_map(|client| ["--client", client]);
    let args: Vec<&str> = ["--project"].into_iter().chain(clients).collect();
    let output = machine.init(&args);
    assert!(
        output.stderr.contains("Windsurf: it has no settings for a single project"),
        "{}",
        output.stderr
    );
    let home = machine.path("").display().to_string();
    let files = [
        ".codex/hooks.json", ".codex/config.toml", ".pi/extensions/recoup.ts", ".pi/mcp.json",
        ".cursor/mcp.json", ".vscode/mcp.json", ".zed/settings.json", ".gemini/settings.json",
        "opencode.json", ".qwen/settings.json", ".github/hooks/recoup.json", ".github/mcp.json",
        ".factory/settings.json", ".factory/mcp.json", ".kimi-code/mcp.json",
    ];
    for file in files {
        let text = machine.text(&format!("project/{file}"));
        assert!(!text.contains(home.trim_end_matches('/')), "{file}: {text}");
        assert!(text.contains("\"recoup\"") || text.contains("recoup hook"), "{file}: {text}");
    }
    machine.uninstall(&["--user"]);
    assert!(machine.path("project/opencode.json").exists(), "that was for the user");
    machine.uninstall(&["--project"]);
    assert_eq!(fs::read_dir(machine.home.project()).unwrap().count(), 0);
}

#[test]
fn one_level_goes_and_the_other_stays() {
    let machine = Machine::new();
    machine.write(".claude.json", "{\n  \"numStartups\": 3\n}");
    machine.init(&CLAUDE);
    machine.init(&[&CLAUDE[..], &["--project"]].concat());
    machine.uninstall(&["--project"]);
    assert!(!machine.path(LOCAL).exists());
    let known = machine.json(".claude.json");
    assert_eq!(known["mcpServers"]["recoup"]["args"], json!(["mcp", "--with-hooks"]));
    assert_eq!(known.get("projects"), None);
    assert!(machine.path(SETTINGS).exists());
    machine.uninstall(&["--client", "codex"]);
    assert!(machine.path(SETTINGS).exists());
    machine.uninstall(&["--client", "claude-code"]);
    assert!(!machine.path(SETTINGS).exists());
    assert_eq!(machine.text(".claude.json"), "{\n  \"numStartups\": 3\n}");
}

/// Git's patterns are bytes, and so are the names of files.
#[test]
fn patterns_that_are_no_utf8_stay_as_they_are() {
    let machine = Machine::new();
    let project = machine.home.project();
    git(&project, &["init", "-q"]);
    let list = "project/.git/info/exclude";
    let theirs = b"caf\xe9/\n\xff*\r\n".to_vec();
    machine.write(list, &theirs);
    machine.init(&[&CLAUDE[..], &["--project"]].concat());
    let ours = machine.read(list);
    assert!(ours.starts_with(&theirs) && ours.len() > theirs.len(), "{ours:?}");
    let output = machine.init(&[&CLAUDE[..], &["--project"]].concat());
    assert!(output.stderr.contains("Nothing was changed."), "{}", output.stderr);
    // Without our line there is nothing to be done.
    machine.write(list, &theirs);
    machine.uninstall(&[]);
    assert_eq!(machine.read(list), theirs);
    machine.init(&[&CLAUDE[..], &["--project"]].concat());
    machine.uninstall(&[]);
    assert_eq!(machine.read(list), theirs);
}
