//! Who is interrupted leaves nothing behind: no program that was started here, and no
//! temporary directory.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use recoup_core::base::fsx;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};

use crate::process::signals::Ignored;

/// What there is at the moment.
#[derive(Debug)]
struct Made {
    groups: Vec<Pid>,
    dirs: Vec<PathBuf>,
}

static MADE: Mutex<Made> = Mutex::new(Made { groups: Vec::new(), dirs: Vec::new() });

fn made() -> MutexGuard<'static, Made> {
    // Pushed and taken out as a whole; no panic leaves half of it.
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process group was started.
pub(super) fn started(group: Pid) {
    made().groups.push(group);
}

/// It is over: whatever is left of it is ended.
pub(super) fn end(group: Pid) {
    made().groups.retain(|other| *other != group);
    let _ = kill_process_group(group, Signal::KILL);
}

/// A directory was made.
pub(super) fn began(dir: &Path) {
    made().dirs.push(dir.to_owned());
}

/// It is gone.
pub(super) fn removed(dir: &Path) {
    made().dirs.retain(|other| other != dir);
}

/// From now on a signal that asks us to end does so once all is put away. Where that can't
/// be arranged, it ends us as it always does.
pub(super) fn when_interrupted() {
    let Ok((mut wake, write)) = UnixStream::pair() else { return };
    let (last, ignored) = (Arc::new(AtomicUsize::new(0)), Ignored::at_start());
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        let Ok(write) = write.try_clone() else { return };
        if ignored.lets_through(signal) {
            // First the flag: whoever is woken must find it.
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = flag::register_usize(signal, Arc::clone(&last), number);
            let _ = pipe::register(signal, write);
        }
    }
    thread::spawn(move || {
        // The pipe stays open in the handlers, so that this waits for a signal.
        let _ = wake.read(&mut [0]);
        let made = made();
        for group in &made.groups {
            let _ = kill_process_group(*group, Signal::KILL);
        }
        for dir in &made.dirs {
            let _ = fsx::remove_tree(dir);
        }
        let signal = i32::try_from(last.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
        let _ = emulate_default_handler(signal);
    });
}
