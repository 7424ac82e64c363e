//! Killed at any moment: every file is the old one or the new one, and a second time
//! completes it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::Machine;

const CLIENTS: [&str; 8] =
    ["--client", "claude-code", "--client", "codex", "--client", "pi", "--client", "zed"];

fn prepared() -> Machine {
    let machine = Machine::with_settings(format!("{{\n  \"a\": \"{}\"\n}}\n", "x".repeat(200_000)));
    machine.write(".claude.json", "{\"numStartups\": 1}");
    machine.write(".codex/config.toml", "model = \"x\"\n");
    machine.write(".config/zed/settings.json", "// mine\n{\n}\n");
    machine
}

type Files = Vec<(PathBuf, Vec<u8>)>;

/// The files, from the home on, without what a killed process left half-written beside them.
fn files(machine: &Machine) -> Files {
    let home = machine.path(".");
    let all = machine.files().into_iter();
    let all = all.map(|(path, text)| (path.strip_prefix(&home).unwrap().to_owned(), text));
    let own_path = machine.program();
    all.filter(|(path, _)| !path.file_name().unwrap().to_string_lossy().starts_with(".recoup-"))
        .map(|(path, text)| {
            (path, String::from_utf8(text).unwrap().replace(&own_path, "PROGRAM").into_bytes())
        })
        .collect()
}

fn content<'a>(files: &'a Files, path: &Path) -> Option<&'a Vec<u8>> {
    files.iter().find(|(it, _)| it == path).map(|(_, text)| text)
}

/// Starts it, and kills it as soon as that file is another one, or gone, or there.
fn kill_at(machine: &Machine, command: &str, path: &Path) {
    let clients: &[&str] = if command == "init" { &CLIENTS } else { &[] };
    let args = [&[command, "--yes"], clients].concat();
    let inode = || fs::symlink_metadata(machine.path(".").join(path)).ok().map(|it| it.ino());
    let before = inode();
    let mut child =
        machine.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while inode() == before && child.try_wait().unwrap().is_none() {}
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn every_file_is_old_or_new_and_a_second_time_completes_it() {
    let machine = prepared();
    let old = files(&machine);
    machine.init(&CLIENTS);
    let new = files(&machine);
    let is_change = |(path, text): &&(PathBuf, Vec<u8>)| content(&old, path) != Some(text);
    let changed: Vec<&PathBuf> = new.iter().filter(is_change).map(|(path, _)| path).collect();
    assert!(changed.len() > 6, "{changed:?}");
    let either = |machine: &Machine, when: &Path| {
        let now = files(machine);
        for (path, text) in &now {
            let known = [content(&old, path), content(&new, path)].contains(&Some(text));
            assert!(known, "at {}: {}", when.display(), path.display());
        }
        let gone = old.iter().find(|(path, _)| content(&now, path).is_none());
        assert!(gone.is_none(), "at {}: {gone:?} is gone", when.display());
        now != old && now != new
    };
    let mut halves = 0;
    let own = [Path::new("recoup"), Path::new("recoup/installed.json")];
    for when in changed.iter().map(|path| path.as_path()).chain(own) {
        let machine = prepared();
        kill_at(&machine, "init", when);
        halves += u32::from(either(&machine, when));
        machine.init(&CLIENTS);
        assert!(files(&machine) == new, "at {}: completed", when.display());
        kill_at(&machine, "uninstall", when);
        halves += u32::from(either(&machine, when));
        machine.uninstall(&[]);
        assert!(files(&machine) == old, "at {}: and back", when.display());
    }
    assert!(halves > 4, "only {halves} were caught in the middle");
}

/// Whoever was killed while he wrote has left a copy of settings beside them.
#[test]
fn what_the_killed_left_behind_is_swept() {
    let machine = prepared();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let left = [".recoup-AbC123", ".claude/.recoup-AbC123", ".codex/.recoup-AbC124"];
    let leave = || {
        for name in left {
            machine.write(name, "{}");
            let file = fs::File::options().write(true).open(machine.path(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        // Somebody is at work.
        machine.write(".claude/.recoup-AbC125", "{}");
    };
    for args in [[&["init", "--yes"], &CLIENTS[..]].concat(), vec!["uninstall", "--yes"]] {
        leave();
        machine.run(&args).expect(0);
        for name in left {
            assert!(!machine.path(name).exists(), "{args:?}: {name}");
        }
        assert!(machine.path(".claude/.recoup-AbC125").exists());
    }
}

/// Several at once: one after the other.
#[test]
fn several_at_once_do_not_mix() {
    let machine = prepared();
    let old = files(&machine);
    let start = || {
        let args = [&["init", "--yes"], &CLIENTS[..]].concat();
        machine.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
    }
    machine.init(&CLIENTS);
    machine.uninstall(&[]);
    assert!(files(&machine) == old);
}
