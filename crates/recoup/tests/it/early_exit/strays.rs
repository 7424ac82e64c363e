//! Those who are hard to end, and readers who are hard to please.

use std::fs;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::process_cleanup::{all_are_gone, is_alive, pids, send};
use super::race::race;
use super::{command, early_exit, until, with_stdin};
use crate::support::Home;

/// Writes down who it is, and goes on.
const STRAY: &str = "sh -c 'echo $$ >> pids; while :; do sleep 0.05; done'";
/// The same, deaf to what asks it to end.
const DEAF: &str = "sh -c 'trap \"\" TERM HUP; echo $$ >> pids; while :; do sleep 0.05; done'";
const AFTER_ONE: &str = "while [ ! -s pids ]; do sleep 0.02; done; echo won";

#[test]
fn those_who_left_their_group_are_ended_with_who_lost() {
    for stray in [STRAY, DEAF] {
        for loser in [
            format!("setsid {stray}"),
            format!("timeout 300 {stray}"),
            format!("setsid {stray} & wait"),
            // Its parents are gone before anybody looks.
            format!("(setsid {stray} &); while [ ! -s pids ]; do sleep 0.02; done; exit 1"),
            "setsid sh -c '(setsid ./stray &)'; sleep 60".to_owned(),
        ] {
            let home = Home::new();
            let script = home.write("stray", format!("#!/bin/sh\nexec {stray}\n"));
            fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            let args = race("s", &["--grace", "500ms"], &[&loser, AFTER_ONE]);
            let output = early_exit(&home, &args).expect(0);
            assert_eq!((output.text().as_str(), pids(&home).len()), ("won\n", 1), "{loser}");
            assert!(all_are_gone(&home), "{loser}");
        }
    }
}

#[test]
fn what_the_winner_leaves_behind_lives_on() {
    let home = Home::new();
    let winner = format!("setsid {STRAY} >&- 2>&- & {AFTER_ONE}");
    assert_eq!(
        early_exit(&home, &race("s", &[], &[&winner, "sleep 60"])).expect(0).text(),
        "won\n"
    );
    let left = pids(&home)[0];
    thread::sleep(Duration::from_millis(500));
    assert!(is_alive(left), "neither we nor the guard end it");
    let left = rustix::process::Pid::from_raw(left).unwrap();
    rustix::process::kill_process_group(left, Signal::KILL).unwrap();
}

#[test]
fn a_killed_race_leaves_no_strays_behind_either() {
    for stray in [STRAY, DEAF] {
        let home = Home::new();
        let script = format!("setsid {stray} & wait");
        let mut race = started(command(&home, &race("s", &["--grace", "300ms"], &[&script])));
        until("it has begun", || pids(&home).len() == 1);
        send(&race, Signal::KILL);
        race.wait().unwrap();
        until("the guard has ended them", || all_are_gone(&home));
    }
}

#[test]
fn whenever_a_race_is_killed_with_its_group_nobody_is_left() {
    for millis in 0..25 {
        let home = Home::new();
        let script = "echo $$ >> pids; while :; do sleep 0.05; done";
        let mut begun = command(&home, &race("s", &["--grace", "300ms"], &[script, script]));
        begun.process_group(0);
        let mut race = started(begun);
        thread::sleep(Duration::from_millis(millis));
        let group = rustix::process::Pid::from_raw(i32::try_from(race.id()).unwrap()).unwrap();
        rustix::process::kill_process_group(group, Signal::KILL).unwrap();
        race.wait().unwrap();
        // Who was about to begin has done so by then.
        thread::sleep(Duration::from_millis(300));
        until("all have ended", || all_are_gone(&home));
    }
}

#[test]
fn a_stopped_loser_ends_without_delay() {
    let home = Home::new();
    home.write("pids", "");
    let loser = "echo $$ >> pids; kill -STOP $$; sleep 60";
    let begun = Instant::now();
    let winner = "while [ ! -s pids ]; do sleep 0.02; done; sleep 0.2; echo won";
    let args = race("s", &["--grace", "30s"], &[loser, winner]);
    assert_eq!(early_exit(&home, &args).expect(0).text(), "won\n");
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(all_are_gone(&home));
}

#[test]
fn the_answer_does_not_wait_for_those_who_take_their_time() {
    let home = Home::new();
    let loser = "trap '' TERM; echo $$ >> pids; while :; do sleep 0.05; done";
    let mut race = started(command(&home, &race("s", &["--grace", "20s"], &[loser, AFTER_ONE])));
    let begun = Instant::now();
    let mut answer = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(race.stdout.take().unwrap()),
        &mut answer,
    )
    .unwrap();
    assert_eq!(answer, "won\n");
    assert!(begun.elapsed() < Duration::from_secs(15));
    send(&race, Signal::TERM);
    send_until_gone(&mut race);
    assert!(all_are_gone(&home), "who asks twice is in a hurry");
}

/// A second signal may come before the first was seen.
fn send_until_gone(race: &mut Child) {
    until("it ends", || {
        let over = race.try_wait().unwrap().is_some();
        if !over {
            thread::sleep(Duration::from_millis(100));
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(i32::try_from(race.id()).unwrap()).unwrap(),
                Signal::TERM,
            );
        }
        over
    });
}

#[test]
fn with_all_the_time_in_the_world_nobody_is_killed() {
    let home = Home::new();
    let loser = "trap 'sleep 6; echo ended > ended; exit 1' TERM; echo $$ >> pids; \
                 while :; do sleep 0.05; done";
    let args = race("s", &["--grace", "forever"], &[loser, AFTER_ONE]);
    assert_eq!(early_exit(&home, &args).expect(0).text(), "won\n");
    assert_eq!(fs::read_to_string(home.project().join("ended")).unwrap(), "ended\n");
}

#[test]
fn a_reader_that_does_not_read_keeps_nobody_from_ending_it() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for elsewhere in [false, true] {
            let home = Home::new();
            if elsewhere {
                let large = "y\n".repeat(500_000);
                with_stdin(&home, &["signal", "s", "a", "--result", "-"], &large).expect(0);
            }
            let script = "yes | head -c 1000000; touch done";
            let mut race = started(command(&home, &race("s", &[], &[script])));
            until("there is something to read", || has_something(&race));
            thread::sleep(Duration::from_millis(300));
            assert!(race.try_wait().unwrap().is_none(), "it waits for its reader");
            send(&race, signal);
            let begun = Instant::now();
            let status = race.wait().unwrap();
            assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
    }
}

fn has_something(race: &Child) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(race.stdout.as_ref().unwrap(), PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
}

fn started(mut command: std::process::Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}
