//! `cargo xtask bench`: the benchmark of the `recoup` package, on the program as it
//! is distributed. It prints its own table and its exit code is ours.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::dist;
use crate::failure::Failure;
use crate::process;
use crate::tools::Tools;

pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let mut command = dist::cargo("bench");
    command.args(["-p", "recoup", "--bench", "ratios", "--"]);
    Tools::bring_for_bench()?.extend(&mut command)?;
    let status = command
        .args(arguments)
        .status()
        .map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))?;
    Ok(process::exit_code(status))
}
