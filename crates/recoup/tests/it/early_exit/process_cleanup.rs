//! Nobody is left running: not those who lost, not when we are interrupted, and
//! not when we are killed.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::race::race;
use super::{command, early_exit, until};
use crate::support::Home;

/// A command with a child of its own, both of which write down who they are.
const FAMILY: &str = "sh -c 'echo $$ >> pids; while :; do sleep 0.05; done' & \
                      echo $$ >> pids; while :; do sleep 0.05; done";
/// The same, deaf to what asks it to end.
const STUBBORN: &str = "trap '' TERM INT HUP; sh -c 'echo $$ >> pids; while :; do sleep 0.05; done' & \
                        echo $$ >> pids; while :; do sleep 0.05; done";
/// Succeeds once the two of one family are there.
const AFTER_TWO: &str = "while [ $(wc -l < pids) -lt 2 ]; do sleep 0.02; done; echo won";

pub(super) fn pids(home: &Home) -> Vec<i32> {
    let text = fs::read_to_string(home.project().join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Runs, and is not merely waiting for somebody to notice its end.
pub(super) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

pub(super) fn all_are_gone(home: &Home) -> bool {
    pids(home).into_iter().all(|pid| !is_alive(pid))
}

/// A race that has begun: all of the family are there.
fn begun(home: &Home, args: &[&str], script: &str, processes: usize) -> Child {
    home.write("pids", "");
    let scripts = [script, script];
    let mut command = command(home, &race("s", args, &scripts));
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("all have begun", || pids(home).len() == processes);
    assert!(pids(home).into_iter().all(is_alive));
    child
}

pub(super) fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn those_who_lose_are_ended_with_all_their_children() {
    let home = Home::new();
    home.write("pids", "");
    let begun = Instant::now();
    let args = race("s", &["--grace", "20s"], &[FAMILY, AFTER_TWO]);
    assert_eq!(early_exit(&home, &args).expect(0).text(), "won\n");
    assert_eq!(pids(&home).len(), 2);
    assert!(all_are_gone(&home), "they are gone when we are");
    assert!(begun.elapsed() < Duration::from_secs(15), "TERM was enough");
}

#[test]
fn those_who_do_not_heed_are_killed_after_the_grace() {
    let home = Home::new();
    home.write("pids", "");
    let args = race("s", &["--grace", "300ms"], &[STUBBORN, AFTER_TWO]);
    let begun = Instant::now();
    assert_eq!(early_exit(&home, &args).expect(0).text(), "won\n");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert!(all_are_gone(&home));
}

#[test]
fn an_interrupted_race_leaves_nobody_behind_and_ends_by_the_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let home = Home::new();
        let mut child = begun(&home, &["--grace", "300ms"], STUBBORN, 4);
        send(&child, signal);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert!(all_are_gone(&home));
    }
}

#[test]
fn a_killed_race_leaves_nobody_behind_either() {
    for script in [FAMILY, STUBBORN] {
        let home = Home::new();
        let mut child = begun(&home, &["--grace", "300ms"], script, 4);
        send(&child, Signal::KILL);
        child.wait().unwrap();
        until("the guard has ended them", || all_are_gone(&home));
    }
}

#[test]
fn a_failed_command_takes_what_it_left_behind_along() {
    let home = Home::new();
    home.write("pids", "");
    let left = "sh -c 'echo $$ >> pids; while :; do sleep 0.05; done' & sleep 0.3; exit 1";
    early_exit(&home, &race("s", &["--grace", "300ms"], &[left])).expect(1);
    assert_eq!(pids(&home).len(), 1);
    assert!(all_are_gone(&home));
}
