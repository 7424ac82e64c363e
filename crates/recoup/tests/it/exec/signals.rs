//! Signals reach the command; how it ends is how we end; and what was
//! interrupted is not kept.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{COUNT, exec, runs, until, words};
use crate::support::{Home, RECOUP, heeding};

/// Waits in small steps, so that a shell gets to its traps.
const WAIT: &str = "echo ready; while :; do sleep 0.02; done";

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

/// Sends `signal` to recoup alone once the command says that it is ready.
fn interrupted(home: &Home, script: &str, signal: Signal) -> ExitStatus {
    let mut command = heeding(home, &words(&["--cache-failures", "1h"], script));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    kill_process(pid(&child), signal).unwrap();
    child.wait().unwrap()
}

#[test]
fn a_command_that_heeds_a_signal_ends_as_it_likes() {
    let home = Home::new();
    let signals = [
        ("TERM", Signal::TERM),
        ("INT", Signal::INT),
        ("HUP", Signal::HUP),
        ("QUIT", Signal::QUIT),
    ];
    for (name, signal) in signals {
        for code in [3, 0] {
            let script = format!("trap 'exit {code}' {name}; {COUNT}{WAIT}");
            assert_eq!(interrupted(&home, &script, signal).code(), Some(code), "{name}");
            exec(&home, &["--only-if-cached"], &script).expect(124);
        }
    }
    assert_eq!(runs(&home), 8);
}

#[test]
fn a_command_that_dies_of_a_signal_takes_us_along() {
    let home = Home::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1] {
        let status = interrupted(&home, "echo ready; exec sleep 60", signal);
        assert_eq!(status.signal(), Some(signal.as_raw()));
    }
    for signal in [6, 9, 11, 15] {
        let script = format!("{COUNT}kill -{signal} $$");
        let status = heeding(&home, &words(&["--cache-failures", "1h"], &script)).status().unwrap();
        assert_eq!(status.signal(), Some(signal));
    }
    assert_eq!(runs(&home), 4);
    assert_eq!(home.cache(&["ls", "--json"]).json().as_array().unwrap().len(), 0);
}

#[test]
fn a_signal_that_the_command_ignores_ends_nobody() {
    let home = Home::new();
    let script = "trap '' TERM; echo ready; until [ -e ../go ]; do sleep 0.02; done; exit 7";
    let mut child = heeding(&home, &words(&[], script)).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    kill_process(pid(&child), Signal::TERM).unwrap();
    fs::write(home.path("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn signals_pass_while_our_reader_is_slow() {
    let home = Home::new();
    let script = "trap 'kill $!; exit 5' TERM; yes & echo $! > ../pid; wait";
    let mut child = heeding(&home, &words(&[], script)).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 2]).unwrap();
    until("it has begun", || fs::read_to_string(home.path("pid")).is_ok_and(|pid| !pid.is_empty()));
    kill_process(pid(&child), Signal::TERM).unwrap();
    let shell_is_gone = || {
        let writer = fs::read_to_string(home.path("pid")).unwrap();
        !std::path::Path::new(&format!("/proc/{}", writer.trim())).exists()
    };
    until("the command has heard it", shell_is_gone);
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

/// Both streams into one pipe that nobody reads: neither fills it for the other.
#[test]
fn signals_pass_while_both_streams_share_a_pipe_that_is_full() {
    let home = Home::new();
    let script = "trap 'kill $! $a; exit 5' TERM; yes & a=$!; yes >&2 & echo ready > ../pid; wait";
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = heeding(&home, &words(&[], script));
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    until("it has begun", || home.path("pid").exists());
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(pid(&child), Signal::TERM).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(reader);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

/// It has said everything; whoever ends us now does not want it kept.
#[test]
fn a_signal_while_the_result_is_being_stored_ends_us() {
    let home = Home::new();
    exec(&home, &[], "echo first").expect(0);
    let mut other = home.sql();
    let lock = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let mut command = heeding(&home, &words(&[], "echo said"));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "said\n");
    std::thread::sleep(std::time::Duration::from_millis(500));
    kill_process(pid(&child), Signal::TERM).unwrap();
    drop(lock);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn what_we_were_started_without_stays_away_from_the_command() {
    let home = Home::new();
    let script =
        format!("trap '' HUP; exec {RECOUP} exec -- sh -c 'kill -HUP $$; echo still here'");
    let output = home.prepared("sh", &["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "still here\n");
    assert!(output.status.success());
}

#[test]
fn a_key_that_interrupts_reaches_the_command_once() {
    let home = Home::new();
    let script = "trap 'echo got >> ../got' INT; echo ready; \
                  until [ -e ../go ]; do sleep 0.02; done; exit 0";
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    let command = heeding(&home, &words(&[], script));
    let mut child = pty_process::blocking::Command::from(command).spawn(pts).unwrap();
    let mut ready = [0; 5];
    pty.read_exact(&mut ready).unwrap();
    pty.write_all(b"\x03").unwrap();
    until("it has arrived", || home.path("got").exists());
    fs::write(home.path("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read_to_string(home.path("got")).unwrap(), "got\n");
    exec(&home, &["--only-if-cached"], script).expect(124);
}
