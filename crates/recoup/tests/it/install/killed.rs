//! Killed at any moment: every file is the old one or the new one, and a second time
//! completes it.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

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

fn content<'a>(files: &'a Files, path: &PathBuf) -> Option<&'a Vec<u8>> {
    files.iter().find(|(it, _)| it == path).map(|(_, text)| text)
}

fn kill_after(machine: &Machine, command: &str, time: Duration) {
    let clients: &[&str] = if command == "init" { &CLIENTS } else { &[] };
    let args = [&[command, "--yes"], clients].concat();
    let mut child =
        machine.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn every_file_is_old_or_new_and_a_second_time_completes_it() {
    let machine = prepared();
    let old = files(&machine);
    let start = Instant::now();
    machine.init(&CLIENTS);
    let whole = start.elapsed();
    let new = files(&machine);
    let mut halves = 0;
    for round in 0..24_u32 {
        let machine = prepared();
        kill_after(&machine, "init", whole * round / 20);
        let now = files(&machine);
        for (path, text) in &now {
            let either = [content(&old, path), content(&new, path)];
            assert!(either.contains(&Some(text)), "round {round}: {}", path.display());
        }
        for (path, _) in &old {
            assert!(content(&now, path).is_some(), "round {round}: {} is gone", path.display());
        }
        halves += u32::from(now != old && now != new);
        machine.init(&CLIENTS);
        assert!(files(&machine) == new, "round {round}: completed");
        if round % 2 == 0 {
            kill_after(&machine, "uninstall", whole * round / 20);
        }
        machine.uninstall(&[]);
        assert!(files(&machine) == old, "round {round}: and back");
    }
    println!("{halves} of 24 were caught in the middle");
}

/// Two at once: one after the other, or told to try again.
#[test]
fn two_at_once_do_not_mix() {
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
        assert!(output.status.success() || said.contains("try again"), "{said}");
    }
    machine.init(&CLIENTS);
    machine.uninstall(&[]);
    assert!(files(&machine) == old);
}
