//! Background work: this program again, in a session of its own that nobody waits for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use recoup_core::Result;
use recoup_core::error::IoContext as _;
use rustix::process::WaitOptions;

/// The first file descriptor that is not one of the three streams.
const FIRST_INHERITED: i32 = 3;

/// Starts this program with `args`, here or in that directory. It keeps none of our
/// streams open.
pub(crate) fn start(
    args: impl IntoIterator<Item = OsString>,
    stdin: Stdio,
    dir: Option<&Path>,
    doing: &str,
) -> Result<()> {
    let program = std::env::current_exe().with_context(|| "finding this program".to_owned())?;
    // It may have been replaced or removed since we were started; the system still has it.
    let program = if program.exists() { program } else { PathBuf::from("/proc/self/exe") };
    // A caller that waits for the end of our pipes must not wait for the child.
    close_fds::set_fds_cloexec(FIRST_INHERITED, &[]);
    let mut command = Command::new(program);
    if let Some(dir) = dir {
        command.current_dir(dir);
    }
    command
        .args(args)
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .with_context(|| format!("starting a process that {doing}"))
}

/// Leaves the caller's session: neither its terminal nor its end concerns us.
pub(crate) fn leave_session() {
    // Fails only if we lead a group already, which is harmless.
    let _ = rustix::process::setsid();
}

/// Makes this process the parent of every descendant whose own parent ends, so that we see it
/// end as well. Other systems than Linux leave this to their first process.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Waits until every child has ended, adopted ones included.
pub(crate) fn wait_for_children() {
    while rustix::process::wait(WaitOptions::empty()).is_ok() {}
}
