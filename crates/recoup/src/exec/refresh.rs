//! Refreshes a stale entry behind the caller's back: the same command line
//! again, in a session of its own that nobody waits for.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use recoup_core::Result;
use recoup_core::error::IoContext as _;

use super::stdin::Stdin;

/// The first file descriptor that is not one of the three streams.
const FIRST_INHERITED: i32 = 3;

/// The hidden flag that makes a process the refresher.
const FLAG: &str = "--detached";

/// Starts the refresher. It keeps none of our streams open, and has a copy of
/// what we read.
pub(super) fn start(stdin: &Stdin) -> Result<()> {
    let program = std::env::current_exe().doing(|| "finding this program".to_owned())?;
    // It may have been replaced or removed since we were started; the system still has it.
    let program = if program.exists() { program } else { PathBuf::from("/proc/self/exe") };
    // Whoever waits for the end of what we were started with must not wait for it.
    close_fds::set_fds_cloexec(FIRST_INHERITED, &[]);
    let ours: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (subcommand, rest) = ours.split_at(1.min(ours.len()));
    Command::new(program)
        .args(subcommand)
        .arg(FLAG)
        .args(rest)
        .stdin(stdin.detached()?)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .doing(|| "starting a process that refreshes the entry".to_owned())
}

/// Leaves the caller's session: neither its terminal nor its end concerns us.
pub(crate) fn detach() {
    // It fails only for one who leads a group already, and then nothing is lost.
    let _ = rustix::process::setsid();
}
