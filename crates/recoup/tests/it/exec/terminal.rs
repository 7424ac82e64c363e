//! `--tty`: a terminal for the command, and ours in order afterwards.

use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use rustix::termios::{LocalModes, Termios, tcgetattr};

use super::{COUNT, exec, runs, words};
use crate::support::{Home, heeding};

#[test]
fn a_command_is_given_a_terminal() {
    let home = Home::new();
    let script =
        format!("{COUNT}test -t 1 && test -t 2 && echo yes; echo err >&2; stty size < /dev/tty");
    for _ in 0..2 {
        exec(&home, &["--tty"], &script).said(0, "yes\r\nerr\r\n24 80\r\n", "");
    }
    exec(&home, &[], "test -t 1 || echo no").said(0, "no\n", "");
    assert_eq!(runs(&home), 1);
}

#[test]
fn with_and_without_a_terminal_are_two_commands() {
    let home = Home::new();
    exec(&home, &["--tty"], COUNT).expect(0);
    exec(&home, &[], COUNT).expect(0);
    assert_eq!(runs(&home), 2);
}

#[test]
fn exit_codes_and_signals_are_the_commands_own() {
    let home = Home::new();
    exec(&home, &["--tty"], "exit 3").expect(3);
    let status = home.command(&words(&["--tty"], "kill -9 $$")).status().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
}

#[test]
fn without_something_to_type_there_is_nothing_to_read() {
    let home = Home::new();
    exec(&home, &["--tty"], "cat; echo end").said(0, "end\r\n", "");
}

#[test]
fn much_output_passes_through_it() {
    let home = Home::new();
    let script = "yes 0123456789 | head -n 100000";
    let first = exec(&home, &["--tty"], script).expect(0);
    assert_eq!(first.stdout.len(), 1_200_000);
    assert!(first.stdout == exec(&home, &["--tty", "--only-if-cached"], script).expect(0).stdout);
}

/// recoup in a terminal, as a person has it.
fn in_terminal(home: &Home, args: &[&str]) -> (Pty, Child, Termios) {
    let (pty, pts) = open().unwrap();
    pty.resize(Size::new(33, 77)).unwrap();
    let command = Command::from(heeding(home, args)).stderr(Stdio::null());
    let before = tcgetattr(&pty).unwrap();
    (pty, command.spawn(pts).unwrap(), before)
}

/// Reads until `word` has come.
fn read_until(pty: &mut Pty, word: &str) -> String {
    let mut text = String::new();
    while !text.contains(word) {
        let mut piece = [0; 256];
        let len = pty.read(&mut piece).unwrap();
        text.push_str(&String::from_utf8_lossy(&piece[..len]));
    }
    text
}

#[test]
fn what_is_typed_reaches_the_command_and_ours_is_restored() {
    let home = Home::new();
    let script = "stty size; read line; echo got $line; sleep 0.1";
    let (mut pty, mut child, before) = in_terminal(&home, &words(&["--tty"], script));
    assert!(before.local_modes.contains(LocalModes::ECHO | LocalModes::ICANON));
    read_until(&mut pty, "33 77");
    pty.write_all(b"hello\r").unwrap();
    read_until(&mut pty, "got hello");
    assert!(child.wait().unwrap().success());
    exec(&home, &["--tty", "--only-if-cached"], script).expect(124);
    let after = tcgetattr(&pty).unwrap();
    let modes = |it: &Termios| (it.local_modes, it.output_modes, it.input_modes);
    assert_eq!(modes(&after), modes(&before));
}

#[test]
fn a_key_that_interrupts_is_the_commands_to_heed() {
    let home = Home::new();
    let script = "trap 'echo heard; exit 0' INT; echo ready; while :; do sleep 0.02; done";
    let (mut pty, mut child, _) = in_terminal(&home, &words(&["--tty"], script));
    read_until(&mut pty, "ready");
    pty.write_all(b"\x03").unwrap();
    read_until(&mut pty, "heard");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    exec(&home, &["--tty", "--only-if-cached"], script).expect(124);
}
