//! The guard: a process that outlives us if we are killed, and ends the server that we started.
//!
//! It holds the read end of a pipe. We write the server's process group there; when the pipe
//! closes, the server has its stdin closed by the system already, and gets TERM, then KILL, with all
//! processes of its group. The kernel's parent-death signal would
//! reach the direct child only, which is often `npx` or a shell.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::error::IoContext as _;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// Time that a server has after its stdin was closed, until it gets TERM.
pub(crate) const TERM_AFTER: Duration = Duration::from_secs(2);
/// Time until it gets KILL.
pub(crate) const KILL_AFTER: Duration = Duration::from_secs(5);
/// Interval of checks for its end.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Connection to the guard, which does its work when this is dropped, unless it is dismissed.
#[derive(Debug)]
pub(crate) struct ServerGuard {
    pipe: ChildStdin,
    child: Child,
}

impl ServerGuard {
    /// Starts the guard, and does not wait for it.
    pub(crate) fn start() -> Result<Self> {
        let starting = || "starting a process that watches over the server".to_owned();
        // In unit tests, this program is the tests themselves.
        let program = if cfg!(test) { Ok("true".into()) } else { std::env::current_exe() };
        let program = program.with_context(starting)?;
        let mut command = Command::new(program);
        command.args(["mcp", "proxy-guard"]).current_dir("/");
        // In its own group, to survive signals to ours.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(starting)?;
        let pipe = child.stdin.take().expect("it was asked for");
        Ok(Self { pipe, child })
    }

    /// Tells it which process group it guards.
    pub(crate) fn watch(&mut self, group: Pid) {
        // Best effort: it is needed only when we are gone.
        let _ = writeln!(self.pipe, "{}", group.as_raw_nonzero());
    }

    /// Ends the guard without action, and without waiting for one that has hardly started.
    pub(crate) fn dismiss(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        drop(self.pipe);
    }
}

/// Runs the guard: reads until the pipe closes, and ends the group.
pub(crate) fn run_guard(pipe: impl Read) {
    let mut group = None;
    for line in BufReader::new(pipe).lines().map_while(std::io::Result::ok) {
        group = line.parse().ok().filter(|raw| *raw > 1).and_then(Pid::from_raw);
    }
    if let Some(group) = group {
        end_group(group);
    }
}

fn end_group(group: Pid) {
    let (term, kill) = (Deadline::after(TERM_AFTER), Deadline::after(KILL_AFTER));
    let mut asked = false;
    while test_kill_process_group(group).is_ok() {
        if kill.has_passed() {
            let _ = kill_process_group(group, Signal::KILL);
            return;
        }
        if term.has_passed() && !asked {
            asked = true;
            ask_to_end(group, Signal::TERM);
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

/// Sends a signal to the group, and CONT, without which a stopped process would not react.
pub(crate) fn ask_to_end(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
    let _ = kill_process_group(group, Signal::CONT);
}
