//! Cleanup on interruption: kills programs that were started here, and removes temporary
//! directories.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};

use crate::process::IgnoredSignals;

/// Longer than a killed process takes to disappear.
const TO_REMOVE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(5);

/// Process groups and directories that exist at the moment.
#[derive(Debug)]
struct CleanupRegistry {
    groups: Vec<Pid>,
    dirs: Vec<PathBuf>,
}

static CLEANUP: Mutex<CleanupRegistry> =
    Mutex::new(CleanupRegistry { groups: Vec::new(), dirs: Vec::new() });

/// Starts a process group and registers it under one lock, so that an interruption cannot miss it.
pub(super) fn spawn_registered<E>(start: impl FnOnce() -> Result<Child, E>) -> Result<Child, E> {
    let mut made = CLEANUP.lock();
    let child = start()?;
    made.groups.extend(process_group_of(&child));
    Ok(child)
}

/// The process group that a child leads: its ID is the child's PID.
pub(super) fn process_group_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Unregisters a process group, and kills what is left of it.
pub(super) fn kill_group(group: Pid) {
    CLEANUP.lock().groups.retain(|other| *other != group);
    let _ = kill_process_group(group, Signal::KILL);
}

/// Creates, fills and registers a directory under one lock: an interruption waits for that, and
/// then removes the directory.
pub(super) fn create_registered_dir<T, E>(
    begin: impl FnOnce() -> Result<T, E>,
    dir: impl Fn(&T) -> &Path,
    fill: impl FnOnce(&T) -> Result<(), E>,
) -> Result<T, E> {
    let mut made = CLEANUP.lock();
    let it = begin()?;
    fill(&it)?;
    made.dirs.push(dir(&it).to_owned());
    Ok(it)
}

/// Removes a registered directory.
pub(super) fn remove_registered_dir(dir: &Path) {
    let mut made = CLEANUP.lock();
    remove_dir_with_retry(dir);
    made.dirs.retain(|other| other != dir);
}

/// Removes a directory, with retries: a process that was just killed may have written to it.
fn remove_dir_with_retry(dir: &Path) {
    let deadline = Deadline::after(TO_REMOVE);
    while fsx::remove_tree(dir).is_err() && !deadline.has_passed() {
        thread::sleep(STEP);
    }
}

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
        // From here on nothing more is started or made.
        let made = CLEANUP.try_lock_for(TO_REMOVE);
        for group in made.iter().flat_map(|made| &made.groups) {
            let _ = kill_process_group(*group, Signal::KILL);
        }
        made.iter().flat_map(|made| &made.dirs).for_each(|dir| remove_dir_with_retry(dir));
        let signal = i32::try_from(last.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
        let _ = emulate_default_handler(signal);
    });
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn what_is_started_is_known_before_anybody_puts_things_away() {
        let mut look = None;
        let child = spawn_registered(|| {
            look = Some(thread::spawn(|| CLEANUP.try_lock_for(LONG).unwrap().groups.clone()));
            thread::sleep(STEP * 10);
            Command::new("/bin/sleep").arg("60").process_group(0).spawn()
        });
        let mut child = child.unwrap();
        let group = process_group_of(&child).unwrap();
        assert!(look.unwrap().join().unwrap().contains(&group));
        kill_group(group);
        assert!(!CLEANUP.lock().groups.contains(&group));
        assert!(child.wait().unwrap().code().is_none(), "it was killed");
    }

    #[test]
    fn what_is_made_is_known_and_whole_before_anybody_puts_things_away() {
        let mut look = None;
        let dir = create_registered_dir(tempfile::tempdir, tempfile::TempDir::path, |dir| {
            look = Some(thread::spawn(|| CLEANUP.try_lock_for(LONG).unwrap().dirs.clone()));
            thread::sleep(STEP * 10);
            fsx::write_unsynced(&dir.path().join("x"), b"").map_err(std::io::Error::other)
        });
        let dir = dir.unwrap();
        assert!(look.unwrap().join().unwrap().contains(&dir.path().to_owned()));
        assert!(dir.path().join("x").exists());
        remove_registered_dir(dir.path());
        assert!(!dir.path().exists() && !CLEANUP.lock().dirs.contains(&dir.path().to_owned()));
    }
}
