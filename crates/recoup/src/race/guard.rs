//! A process that outlives us if we are killed: it ends what we started.
//!
//! It is told of each process group through a pipe. When that closes while there are
//! groups left, nobody was there to end them. Only a whole group can be ended so:
//! what the kernel does for a parent's death reaches its children alone.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::error::IoContext as _;
use rustix::process::{Pid, Signal, kill_process_group, setsid, test_kill_process_group};

/// Between two looks at whether all have ended.
const STEP: Duration = Duration::from_millis(20);

/// The way to the guard. It ends by itself when this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    words: ChildStdin,
    _child: Child,
}

impl Guard {
    pub(super) fn start(grace: Duration) -> Result<Self> {
        let starting = || "starting a process that watches over the commands".to_owned();
        let program = std::env::current_exe().doing(starting)?;
        let mut child = Command::new(program)
            .args(["early-exit", "guard"])
            .arg(grace.as_millis().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .doing(starting)?;
        let words = child.stdin.take().expect("it was asked for");
        Ok(Self { words, _child: child })
    }

    /// Nothing is lost if the guard is gone: it is for when we are.
    pub(super) fn watch(&mut self, group: Pid) {
        let _ = writeln!(self.words, "+{}", group.as_raw_nonzero());
    }

    pub(super) fn forget(&mut self, group: Pid) {
        let _ = writeln!(self.words, "-{}", group.as_raw_nonzero());
    }
}

/// Is the guard: reads until nobody writes any more, and ends what is left.
pub(crate) fn watch_over(grace: Duration) {
    // Not with the terminal, or the group, that ends us.
    let _ = setsid();
    let mut groups = HashSet::new();
    for line in BufReader::new(std::io::stdin()).lines().map_while(std::io::Result::ok) {
        let Some((word, number)) = line.split_at_checked(1) else { continue };
        let Some(group) = number.parse().ok().filter(|raw| *raw > 1).and_then(Pid::from_raw) else {
            continue;
        };
        let _ = match word {
            "+" => groups.insert(group),
            _ => groups.remove(&group),
        };
    }
    groups.retain(|group| kill_process_group(*group, Signal::TERM).is_ok());
    let deadline = Deadline::after(grace);
    loop {
        groups.retain(|group| test_kill_process_group(*group).is_ok());
        if groups.is_empty() {
            return;
        }
        if deadline.passed() {
            for group in groups {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return;
        }
        thread::sleep(STEP);
    }
}
