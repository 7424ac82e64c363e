//! The guard: a process that outlives us if we are killed, and ends what we started.
//!
//! It starts before the first command, and learns of each process group through a pipe. If the pipe
//! closes before the race is over, it ends the groups, and all processes with the mark of the race.
//! The kernel's parent-death signal would reach direct children only.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::process_tree::{self, ProcessIdentity};

/// Interval of checks for ended processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Time limit from fork to exec: until then a process has no mark.
const EXEC_TIMEOUT: Duration = Duration::from_millis(200);
/// Time limit for the start of the guard.
const START_TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// Connection to the guard, which ends by itself when this is dropped.
#[derive(Debug)]
pub(super) struct GuardHandle {
    words: ChildStdin,
    _child: Child,
}

impl GuardHandle {
    /// Starts the guard and waits until it is ready.
    pub(super) fn start(race: &str, grace: Option<Duration>) -> Result<Self> {
        let starting = || "starting the process that guards the commands".to_owned();
        let program = std::env::current_exe().with_context(starting)?;
        let mut command = Command::new(program);
        command.args(["early-exit", "guard", race]);
        command.args(grace.map(|grace| grace.as_millis().to_string()));
        // In its own group, to survive ours, and without the mark of an enclosing race.
        command.process_group(0).env_remove(process_tree::MARK);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(starting)?;
        let words = child.stdin.take().expect("it was asked for");
        let mut ready = child.stdout.take().expect("it was asked for");
        let mut fds = [PollFd::from_borrowed_fd(ready.as_fd(), PollFlags::IN)];
        let answered = poll(&mut fds, Some(&START_TIMEOUT)).is_ok_and(|count| count > 0);
        if !answered || ready.read(&mut [0]).with_context(starting)? == 0 {
            return Err(Error::new(ErrorKind::Io, starting()));
        }
        Ok(Self { words, _child: child })
    }

    /// Adds a process group. Best effort: the guard is needed only when we are gone.
    pub(super) fn watch(&mut self, group: Pid) {
        self.send(&format!("+{}", group.as_raw_nonzero()));
    }

    pub(super) fn forget(&mut self, group: Pid) {
        self.send(&format!("-{}", group.as_raw_nonzero()));
    }

    /// Excludes the processes of the command at this place.
    pub(super) fn spare(&mut self, place: usize) {
        self.send(&format!("={place}"));
    }

    /// Ends the guard without action.
    pub(super) fn dismiss(mut self) {
        self.send(".");
    }

    fn send(&mut self, words: &str) {
        let _ = self.words.write_all(format!("{words}\n").as_bytes());
    }
}

/// State of the guard, built from the lines that it reads.
#[derive(Debug, Default)]
struct GuardState {
    groups: HashSet<Pid>,
    spared: HashSet<usize>,
    over: bool,
}

/// Runs the guard: reports that it is ready, reads until the pipe closes, and ends what is left.
/// Without a grace period nothing is killed.
pub(crate) fn run_guard(race: &str, grace: Option<Duration>, ready: BorrowedFd<'_>) {
    if rustix::io::write(ready, b"\n").is_err() {
        return;
    }
    let mut told = GuardState::default();
    let lines = BufReader::new(std::io::stdin()).lines();
    for line in lines.map_while(std::io::Result::ok) {
        let Some((word, number)) = line.split_at_checked(1) else { continue };
        let group = || number.parse().ok().filter(|raw| *raw > 1).and_then(Pid::from_raw);
        match word {
            "+" => told.groups.extend(group()),
            "-" => told.groups.retain(|known| Some(*known) != group()),
            "=" => told.spared.extend(number.parse::<usize>()),
            _ => told.over = true,
        }
    }
    if !told.over {
        end_processes(race, told, grace);
    }
}

fn end_processes(race: &str, told: GuardState, grace: Option<Duration>) {
    let GuardState { mut groups, spared, .. } = told;
    groups.retain(|group| kill_process_group(*group, Signal::TERM).is_ok());
    for group in &groups {
        let _ = kill_process_group(*group, Signal::CONT);
    }
    let (becoming, deadline) = (Deadline::after(EXEC_TIMEOUT), grace.map(Deadline::after));
    let mut asked: HashSet<ProcessIdentity> = HashSet::new();
    loop {
        // Checked before the scan, so that the last scan comes after the limit.
        let all_are_there = becoming.has_passed();
        let marked = process_tree::marked_processes(race)
            .into_iter()
            .filter(|(_, place)| !spared.contains(place));
        let marked: Vec<ProcessIdentity> = marked.map(|(process, _)| process).collect();
        let late = deadline.is_some_and(Deadline::has_passed);
        process_tree::end_all(&marked, late, &mut asked);
        groups.retain(|group| test_kill_process_group(*group).is_ok());
        if late {
            for group in groups.drain() {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        let nobody = marked.is_empty() && groups.is_empty();
        if all_are_there && (nobody || late || deadline.is_none()) {
            return;
        }
        thread::sleep(CHECK_INTERVAL);
    }
}
