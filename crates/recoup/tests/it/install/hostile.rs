//! What a repository may hold to get more than it should.

use std::fs;
use std::os::unix::fs::symlink;

use super::{CLAUDE, Machine, SETTINGS};
use crate::support::{RECOUP, finish};

/// Whoever agrees to a change in the project has not agreed to one somewhere else.
#[test]
fn links_out_of_the_project_are_not_written_through() {
    let cases = [
        ("claude-code", ".claude/settings.local.json", "../../victim/conf.json"),
        ("cursor", ".cursor/mcp.json", "../../victim/new.json"),
        ("codex", ".codex", "../victim"),
        ("cursor", ".cursor", "../not/there/yet"),
        ("cursor", ".cursor/mcp.json", "mcp.json"),
    ];
    for (client, file, target) in cases {
        let machine = Machine::new();
        machine.write("victim/conf.json", "{}\n");
        let link = machine.home.project().join(file);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        let before = machine.files();
        let output = machine.run(&["init", "--yes", "--project", "--client", client]).expect(1);
        assert!(output.stderr.contains(file), "{}", output.stderr);
        assert!(output.stderr.contains("is a symbolic link "), "{}", output.stderr);
        assert!(machine.files() == before, "{file}");
    }
}

/// What stands behind a link is above what it leads to, not above the link.
#[test]
fn nor_are_links_that_go_up_behind_another() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("victim/inner")).unwrap();
    let dir = machine.path("project/.cursor");
    fs::create_dir(&dir).unwrap();
    symlink("../../victim/inner", dir.join("sub")).unwrap();
    symlink("sub/../new.json", dir.join("mcp.json")).unwrap();
    let output = machine.run(&["init", "--yes", "--project", "--client", "cursor"]).expect(1);
    assert!(output.stderr.contains("is a symbolic link out of the project"), "{}", output.stderr);
    assert!(!machine.path("victim/new.json").exists());
}

#[test]
fn links_inside_the_project_are_followed() {
    let machine = Machine::new();
    machine.write("project/shared/mcp.json", "{}\n");
    fs::create_dir(machine.path("project/.cursor")).unwrap();
    symlink("../shared/mcp.json", machine.path("project/.cursor/mcp.json")).unwrap();
    machine.init(&["--project", "--client", "cursor"]);
    assert!(machine.text("project/shared/mcp.json").contains("recoup"));
}

#[test]
fn gits_list_has_to_be_a_file() {
    let machine = Machine::new();
    machine.write("victim", "# mine\n");
    machine.write("project/.git/HEAD", "ref: refs/heads/main\n");
    machine.write("project/.git/config", "");
    for dir in ["objects", "refs", "info"] {
        fs::create_dir_all(machine.path("project/.git").join(dir)).unwrap();
    }
    symlink("../../../victim", machine.path("project/.git/info/exclude")).unwrap();
    let output = machine.run(&["init", "--yes", "--project", "--client", "claude-code"]).expect(1);
    assert!(output.stderr.contains(".git/info/exclude is a symbolic link"), "{}", output.stderr);
    assert_eq!(machine.text("victim"), "# mine\n");
}

#[test]
fn a_name_in_the_repository_does_not_become_the_users_hook() {
    let machine = Machine::new();
    let inside = machine.home.project().join("bin");
    fs::create_dir(&inside).unwrap();
    symlink(RECOUP, inside.join("recoup")).unwrap();
    symlink(&inside, machine.path("alias")).unwrap();
    for first in [inside, machine.path("alias")] {
        let mut command = machine.command(&[&["init", "--yes"], &CLAUDE[..]].concat());
        let path = format!("{}:{}", first.display(), machine.path("bin").display());
        finish(command.env("PATH", path)).expect(0);
        let hooks = &machine.json(SETTINGS)["hooks"];
        assert_eq!(hooks["Stop"][0]["hooks"][0]["command"], machine.program());
    }
}
