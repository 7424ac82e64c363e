//! `recoup early-exit`: real processes that signal, wait, race and die.

mod commands;
mod crowd;
mod leases;
mod machines;
mod places;
mod process_cleanup;
mod race;
mod strays;

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Home, Output, finish, heeding};

/// `recoup early-exit ARGS`.
fn early_exit(home: &Home, args: &[&str]) -> Output {
    finish(&mut command(home, args))
}

fn command(home: &Home, args: &[&str]) -> Command {
    heeding(home, &[&["early-exit"], args].concat())
}

fn with_stdin(home: &Home, args: &[&str], stdin: &str) -> Output {
    home.run_with_stdin(&[&["early-exit"], args].concat(), stdin.as_bytes())
}

/// Waits until `holds` does, patiently.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
