//! Waits for a directory to change: by inotify if possible, otherwise by polling.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::early_exit::SessionWatch;

/// Poll interval without inotify.
const STEP: Duration = Duration::from_millis(20);
/// Poll interval with inotify, which may miss changes by other machines on a shared disk.
const LONGEST: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct DirWatch {
    dirs: Vec<PathBuf>,
    events: Option<OwnedFd>,
    told: bool,
}

impl DirWatch {
    pub(super) fn new(dirs: Vec<PathBuf>) -> Self {
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        Self { dirs, events, told: false }
    }
}

impl SessionWatch for DirWatch {
    /// Watches are added again each time, because directories come and go.
    fn arm(&mut self) {
        let Some(events) = &self.events else { return };
        let what = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE;
        let flags = what | WatchFlags::ONLYDIR;
        let watched = |dir: &PathBuf| inotify::add_watch(events, dir, flags).is_ok();
        self.told = self.dirs.iter().filter(|dir| watched(dir)).count() > 0;
    }

    fn wait(&mut self, at_most: Duration) {
        match self.events.as_ref().filter(|_| self.told) {
            None => thread::sleep(at_most.min(STEP)),
            Some(events) => {
                let time = at_most.min(LONGEST);
                let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
                // Whatever the result, the caller checks again.
                let _ = poll(&mut [PollFd::new(events, PollFlags::IN)], Some(&time));
                let mut told = [0; 4096];
                while rustix::io::read(events, &mut told).is_ok_and(|read| read > 0) {}
            }
        }
    }
}
