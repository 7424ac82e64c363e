//! The processes of a race: all descendants of its commands, also those that have left their group.
//!
//! Orphans become our children (we adopt them), so that all of them stay below us. The command of
//! an orphan is known by its environment: each command is started with a mark there, which its
//! children inherit.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Environment variable of the mark: race id and place.
pub(super) const MARK: &str = "RECOUP_RACE";

pub(super) fn mark_value(race: &str, place: usize) -> String {
    format!("{race}/{place}")
}

/// A process id and its start time, because ids are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ProcessIdentity {
    pid: Pid,
    begun: u64,
}

impl ProcessIdentity {
    /// Sends a signal to exactly this process.
    #[cfg(target_os = "linux")]
    fn signal(self, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let is_same = || read_stat(self.pid).is_some_and(|stat| stat.process == self);
        match pidfd_open(self.pid, PidfdFlags::empty()) {
            Ok(handle) if is_same() => {
                let _ = pidfd_send_signal(handle, signal);
            }
            // A kernel without pidfds.
            Err(rustix::io::Errno::NOSYS) if is_same() => {
                let _ = kill_process(self.pid, signal);
            }
            Ok(_) | Err(_) => {}
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn signal(self, signal: Signal) {
        if read_stat(self.pid).is_some_and(|stat| stat.process == self) {
            let _ = kill_process(self.pid, signal);
        }
    }
}

/// Kills the processes, or asks each to end that was not asked before: with TERM, and CONT, without
/// which a stopped process would not react.
pub(super) fn end_all(
    processes: &[ProcessIdentity],
    kill: bool,
    asked: &mut HashSet<ProcessIdentity>,
) {
    for process in processes {
        if kill {
            process.signal(Signal::KILL);
        } else if asked.insert(*process) {
            process.signal(Signal::TERM);
            process.signal(Signal::CONT);
        }
    }
}

/// Fields of `/proc/PID/stat` of a process that has not ended.
#[derive(Debug, Clone, Copy)]
struct ProcessStat {
    process: ProcessIdentity,
    parent: i32,
    group: i32,
}

/// Processes that belong to commands, as far as seen.
#[derive(Debug)]
pub(super) struct RaceProcesses {
    race: String,
    known: HashMap<ProcessIdentity, usize>,
}

impl RaceProcesses {
    pub(super) fn of(race: &str) -> Self {
        Self { race: race.to_owned(), known: HashMap::new() }
    }

    /// Running processes outside of the commands' groups, which are reached as groups; without
    /// those of the command at place `but`. `leaders` maps the commands to their places.
    pub(super) fn strays(
        &mut self,
        leaders: &HashMap<i32, usize>,
        but: Option<usize>,
    ) -> Vec<ProcessIdentity> {
        let all: HashMap<i32, ProcessStat> = running_processes()
            .map(|stat| (stat.process.pid.as_raw_nonzero().get(), stat))
            .collect();
        let me = getpid().as_raw_nonzero().get();
        let mut strays = Vec::new();
        for stat in all.values() {
            let Some(place) = self.place_of(*stat, &all, leaders, me) else { continue };
            self.known.insert(stat.process, place);
            if but != Some(place) && !leaders.contains_key(&stat.group) {
                strays.push(stat.process);
            }
        }
        self.known.retain(|known, _| {
            all.get(&known.pid.as_raw_nonzero().get()).is_some_and(|stat| stat.process == *known)
        });
        strays
    }

    /// Place of the command that a process descends from.
    fn place_of(
        &self,
        mut stat: ProcessStat,
        all: &HashMap<i32, ProcessStat>,
        leaders: &HashMap<i32, usize>,
        me: i32,
    ) -> Option<usize> {
        // Bounded: the chain of parents may have changed while it was read.
        for _ in 0..all.len() {
            if let Some(place) = self.known.get(&stat.process) {
                return Some(*place);
            }
            if let Some(place) = leaders.get(&stat.process.pid.as_raw_nonzero().get()) {
                return Some(*place);
            }
            if stat.parent == me {
                return marked_place(&self.race, stat.process.pid);
            }
            stat = *all.get(&stat.parent)?;
        }
        None
    }
}

/// All processes with the mark of a race, and their places.
pub(super) fn marked_processes(race: &str) -> Vec<(ProcessIdentity, usize)> {
    let place = |stat: ProcessStat| Some((stat.process, marked_place(race, stat.process.pid)?));
    running_processes().filter_map(place).collect()
}

fn running_processes() -> impl Iterator<Item = ProcessStat> {
    let found = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = found.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Pid::from_raw).filter_map(read_stat)
}

fn read_stat(pid: Pid) -> Option<ProcessStat> {
    let text = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name before it may contain anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let begun = fields.get(19)?.parse().ok()?;
    let (parent, group) = (fields.get(1)?.parse().ok()?, fields.get(2)?.parse().ok()?);
    Some(ProcessStat { process: ProcessIdentity { pid, begun }, parent, group })
}

/// Place of a process by the mark in its environment. Unreadable environments belong to other
/// users, and not to the race.
fn marked_place(race: &str, pid: Pid) -> Option<usize> {
    let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
    let mut texts =
        environment.split(|byte| *byte == 0).filter_map(|text| str::from_utf8(text).ok());
    let mark = texts.find_map(|text| text.strip_prefix(MARK)?.strip_prefix('='))?;
    mark.strip_prefix(race)?.strip_prefix('/')?.parse().ok()
}
