//! Cleanup on interruption: kills the process that is being tested, and removes temporary
//! directories.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};

use crate::process::IgnoredSignals;

/// Longer than a killed process takes to disappear.
const TO_REMOVE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(5);

/// Running processes, and the temporary directories that were made.
#[derive(Debug)]
pub(super) struct CleanupRegistry {
    pub(super) processes: Vec<Pid>,
    pub(super) dirs: Vec<PathBuf>,
}

/// Locked from before something is started or made until it is listed, so that an interruption
/// cannot miss it.
pub(super) static CLEANUP: Mutex<CleanupRegistry> =
    Mutex::new(CleanupRegistry { processes: Vec::new(), dirs: Vec::new() });

/// Makes termination signals clean up before they end the process. If that cannot be arranged, they
/// end it at once.
pub(super) fn clean_up_on_signals() {
    let Ok((mut wake, write)) = UnixStream::pair() else { return };
    let (last, ignored) = (Arc::new(AtomicUsize::new(0)), IgnoredSignals::at_start());
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        let Ok(write) = write.try_clone() else { return };
        if ignored.is_delivered(signal) {
            // The flag first: the woken thread must find it.
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = flag::register_usize(signal, Arc::clone(&last), number);
            let _ = pipe::register(signal, write);
        }
    }
    thread::spawn(move || {
        // The pipe stays open in the handlers, so that this waits for a signal.
        let _ = wake.read(&mut [0]);
        // The lock is kept: from here on nothing more is started or made.
        let made = CLEANUP.try_lock_for(TO_REMOVE);
        for process in made.iter().flat_map(|made| &made.processes) {
            let _ = kill_process(*process, Signal::KILL);
        }
        made.iter().flat_map(|made| &made.dirs).for_each(|dir| remove_dir(dir));
        let signal = i32::try_from(last.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
        let _ = emulate_default_handler(signal);
    });
}

/// Removes a directory, with retries: a process that was just killed may have written to it.
fn remove_dir(dir: &Path) {
    let deadline = Deadline::after(TO_REMOVE);
    while fsx::remove_tree(dir).is_err() && !deadline.has_passed() {
        thread::sleep(STEP);
    }
}
