//! `cargo xtask bench`: the benchmark of the `recoup` package, built and run
//! with the locked dependencies. It prints its own table and its exit code is
//! ours.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::failure::Failure;
use crate::workspace;

pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let status = workspace::cargo(["bench", "--locked", "-p", "recoup", "--bench", "ratios", "--"])
        .args(arguments)
        .status()
        .map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))?;
    // No code means that a signal ended it: a failure like any other.
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
