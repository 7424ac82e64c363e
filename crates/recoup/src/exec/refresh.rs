//! Refreshes a stale entry in the background, by running the same command line again.

use std::ffi::OsString;

use recoup_core::Result;

use super::stdin::CommandStdin;
use crate::process::detached;

/// Hidden flag that turns a process into the refresher.
const FLAG: &str = "--detached";

/// Starts the refresher, with a copy of our stdin.
pub(super) fn start(stdin: &CommandStdin) -> Result<()> {
    let ours: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (subcommand, rest) = ours.split_at(1.min(ours.len()));
    let args = [subcommand, &[FLAG.into()], rest].concat();
    detached::start(args, stdin.detached()?, None, "refreshes the entry")
}
