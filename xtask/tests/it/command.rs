//! `cargo xtask` as it is typed: help, wrong usage, exit codes.

use std::process::{Command, Output};

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("xtask starts")
}

#[test]
fn help_goes_to_stdout() {
    let output = xtask(&["help"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("Usage: cargo xtask TASK"));
    assert!(output.stderr.is_empty());
}

#[test]
fn wrong_usage_goes_to_stderr_with_exit_code_2() {
    for arguments in [&["tset"][..], &["test", "--fast"], &["bench", "fast"], &[]] {
        let output = xtask(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: cargo xtask TASK"));
    }
}
