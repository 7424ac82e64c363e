//! `cargo xtask bench`: the benchmark of the `recoup` package, built and run
//! with the locked dependencies. It prints its own table and its exit code is
//! ours.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::failure::Failure;
use crate::process;
use crate::tools::Tools;
use crate::workspace;

pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let mut command =
        workspace::cargo(["bench", "--locked", "-p", "recoup", "--bench", "ratios", "--"]);
    Tools::bring_for_bench()?.extend(&mut command)?;
    let status = command
        .args(arguments)
        .status()
        .map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))?;
    Ok(process::exit_code(status))
}
