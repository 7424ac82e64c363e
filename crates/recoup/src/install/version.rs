//! Detection of a client's installed version, which decides what its settings may contain.

use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::Deadline;

use super::places::{InstallPaths, is_program};
use crate::clients::{AgentClient, ClientVersion};

/// Longer than a Node.js client takes on a busy machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Limit of the output.
const MAX_OUTPUT_BYTES: u64 = 1 << 10;

/// Runs the installed Claude Code for its version; none if it is not found, or prints none.
pub(crate) fn ask_claude_code(places: &InstallPaths) -> Option<ClientVersion> {
    let search = places.search_outside_project();
    // Usual installation directories, which are not always on the PATH.
    let usual = [
        places.dirs.of(AgentClient::ClaudeCode).join("local"),
        places.dirs.home.join(".local/bin"),
    ];
    let mut programs = search.iter().chain(&usual).map(|dir| dir.join("claude"));
    let program = programs.find(|path| is_program(path) && !places.is_in_project(path))?;
    ClientVersion::parse(&printed_version(&program, &search, places)?)
}

/// Returns the output of `PROGRAM --version`, run with its own configuration directory: clients
/// write settings even then.
fn printed_version(program: &Path, search: &[PathBuf], places: &InstallPaths) -> Option<String> {
    let dir = tempfile::Builder::new().prefix("recoup-version-").tempdir().ok()?;
    // A file, not a pipe: no child can hold its end open.
    let mut said = tempfile::tempfile_in(dir.path()).ok()?;
    let mut child = Command::new(program)
        .arg("--version")
        .env_clear()
        .env("PATH", std::env::join_paths(search).ok()?)
        // Version managers find the program from there.
        .env("HOME", &places.dirs.home)
        .env("CLAUDE_CONFIG_DIR", dir.path())
        .env("DISABLE_AUTOUPDATER", "1")
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(said.try_clone().ok()?)
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Deadline::after(VERSION_TIMEOUT);
    let status = loop {
        match child.try_wait() {
            Ok(None) if !deadline.has_passed() => thread::sleep(POLL_INTERVAL),
            Ok(Some(status)) => break status,
            Ok(None) | Err(_) => {
                let _ = child.kill();
                break child.wait().ok()?;
            }
        }
    };
    let mut text = String::new();
    said.rewind().ok()?;
    said.take(MAX_OUTPUT_BYTES).read_to_string(&mut text).ok()?;
    status.success().then_some(text)
}
