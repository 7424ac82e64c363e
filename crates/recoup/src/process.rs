//! This process and others of this program: detached ones in sessions of their own that nobody waits
//! for, streams that are polled, and signals that were ignored when we were started.

use std::ffi::OsString;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use recoup_core::Result;
use recoup_core::error::IoContext as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::WaitOptions;

/// The first file descriptor that is not one of the three streams.
const FIRST_INHERITED: i32 = 3;

/// Number of processes above this one that are looked at.
const MAX_ANCESTORS: usize = 8;

/// Path of this program.
pub(crate) fn own_program() -> Result<PathBuf> {
    std::env::current_exe().with_context(|| "locating the recoup executable".to_owned())
}

/// Arguments of the process that started this one and of those above it: a shell may stand between a
/// client and its hook. `None` where the system does not tell.
pub(crate) fn ancestor_arguments() -> Option<Vec<String>> {
    let mut pid = rustix::process::getppid()?.as_raw_nonzero().get();
    let mut words = Vec::new();
    for _ in 0..MAX_ANCESTORS {
        let (parent, arguments) = process_arguments(pid)?;
        words.extend(arguments);
        if parent <= 1 {
            break;
        }
        pid = parent;
    }
    Some(words)
}

/// Id of a process's parent, and its arguments: from `/proc`, or else from `ps`, in one text.
fn process_arguments(pid: i32) -> Option<(i32, Vec<String>)> {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else {
        let mut ps = Command::new("ps");
        let said = ps.args(["-ww", "-o", "ppid=,args=", "-p", &pid.to_string()]).output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let mut words = said.split_whitespace();
        return Some((words.next()?.parse().ok()?, words.map(str::to_owned).collect()));
    };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    Some((parent, words.collect()))
}

/// Starts this program with `args`, here or in that directory. It keeps none of our
/// streams open.
pub(crate) fn start_detached(
    args: impl IntoIterator<Item = OsString>,
    stdin: Stdio,
    dir: Option<&Path>,
    doing: &str,
) -> Result<()> {
    let program = own_program()?;
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

/// Bytes that fit into a pipe or a terminal that is ready for writing.
pub(crate) const SAFE_WRITE_BYTES: usize = 4096;

/// True if `sink` can be written without blocking. Check right before each write: another stream or
/// process may have filled the same pipe.
pub(crate) fn has_room(sink: BorrowedFd<'_>) -> bool {
    match poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], Some(&Timespec::default())) {
        Ok(ready) => ready > 0,
        // Interrupted: writing now might block for ever.
        Err(Errno::INTR) => false,
        // The write itself reports what is wrong.
        Err(_) => true,
    }
}

/// The event of an end that is closed only for writing, which not every system tells.
#[cfg(target_os = "linux")]
const HALF_CLOSED: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const HALF_CLOSED: PollFlags = PollFlags::HUP;

/// True if the other end is closed; there may still be data to read.
pub(crate) fn is_hung_up(source: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(source, HALF_CLOSED)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|_| {
        polled[0].revents().intersects(PollFlags::HUP | HALF_CLOSED | PollFlags::ERR)
    })
}

/// Signals that we, and the processes that we start, ignore: `nohup`, or `&` in a script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IgnoredSignals(u64);

impl IgnoredSignals {
    /// Reads the signals ignored at start; none if the system does not tell.
    pub(crate) fn at_start() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0))
    }

    /// True if a signal is not ignored.
    pub(crate) fn is_delivered(self, signal: i32) -> bool {
        self.0 & (1 << (signal - 1)) == 0
    }
}
