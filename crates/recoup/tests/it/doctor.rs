//! `recoup doctor`, the real program: in good health, with everything that can be broken
//! broken, and with hooks and servers that are not ours.

mod broken;
mod bundle;
mod fix;
mod healthy;
mod hooks;
mod hostile;
mod mcp;
mod messages;
mod offers;
mod queue;
mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::install::EVENTS;
use crate::support::{Home, Output, RECOUP, finish, tree};

/// On a machine that has no client, whatever is on this one.
fn doctor(home: &Home, args: &[&str]) -> Output {
    finish(home.command(&[&["doctor"], args].concat()).env("PATH", "/usr/bin:/bin"))
}

/// What `--json` says.
#[track_caller]
fn report(home: &Home, code: i32) -> Report {
    Report(doctor(home, &["--json"]).expect(code).json())
}

/// The same of a program in a place that lasts: hooks are not led to a build's directory.
#[track_caller]
fn report_installed(home: &Home, code: i32) -> Report {
    let dir = home.path("lasting");
    fs::create_dir_all(&dir).unwrap();
    let link = dir.join("recoup");
    if !link.exists() {
        std::os::unix::fs::symlink(RECOUP, link).unwrap();
    }
    let mut command = home.command(&["doctor", "--json"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", dir.display()));
    Report(finish(&mut command).expect(code).json())
}

#[derive(Debug)]
struct Report(Value);

impl Report {
    /// What was found of a check: code and state, in order.
    fn of(&self, check: &str) -> Vec<(&str, &str)> {
        let found = self.all(check).into_iter();
        found.map(|it| (it["code"].as_str().unwrap(), it["state"].as_str().unwrap())).collect()
    }

    fn all(&self, check: &str) -> Vec<&Value> {
        let findings = self.0["findings"].as_array().unwrap();
        findings.iter().filter(|it| it["check"] == check).collect()
    }

    /// The only finding of a check with that code.
    #[track_caller]
    fn one(&self, check: &str, code: &str) -> &Value {
        let found: Vec<&Value> =
            self.all(check).into_iter().filter(|it| it["code"] == code).collect();
        assert_eq!(found.len(), 1, "{check} {code} in {:#}", self.0);
        found[0]
    }

    #[track_caller]
    fn has(&self, check: &str, code: &str, state: &str) -> &Value {
        let found = self.one(check, code);
        assert_eq!(found["state"], state, "{found:#}");
        found
    }
}

/// One hook in the exec form.
fn hook(program: impl AsRef<Path>, args: &[&str], timeout: u64) -> Value {
    json!({"type": "command", "command": program.as_ref(), "args": args, "timeout": timeout})
}

/// Settings that have that hook at each of these events.
fn settings(events: &[&str], hook: &Value) -> Value {
    let all = events.iter().map(|event| ((*event).to_owned(), json!([{"hooks": [hook]}])));
    json!({"hooks": all.collect::<serde_json::Map<_, _>>()})
}

/// Writes a file below the user's home.
fn write(home: &Home, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let path = home.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, contents).unwrap();
    path
}

/// The user's settings of Claude Code.
fn claude(home: &Home, settings: &Value) {
    write(home, ".claude/settings.json", settings.to_string());
}

/// All of our hooks in Claude Code, as this version has them.
fn with_hooks(home: &Home) {
    claude(home, &settings(&EVENTS, &hook(RECOUP, &["hook"], 10)));
}

/// A program called `recoup` in a directory of its own.
fn script(home: &Home, dir: &str, text: &str) -> PathBuf {
    // By another process: ours forks all the time, and a fork that still has it open for
    // writing would keep it from being run.
    let path = home.path(&format!("{dir}/recoup"));
    let line = "mkdir -p \"$(dirname \"$0\")\" && printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let words = ["-c", line, path.to_str().unwrap(), text];
    finish(&mut home.prepared("sh", &words)).expect(0);
    path
}

/// Every file below `dir` with its mode and what is in it; without what SQLite keeps beside
/// a database for whoever reads it.
fn contents(dir: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let is_sidecar = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with("-shm") || name.ends_with("-wal")
    };
    let all = tree(dir).into_iter().filter(|path| !is_sidecar(path));
    let known = all.map(|path| {
        let found = fs::symlink_metadata(&path).unwrap();
        let bytes = if found.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        (path, (found.mode(), bytes))
    });
    known.collect()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
