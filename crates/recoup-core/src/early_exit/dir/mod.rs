//! Sessions in a directory, for the agents of one machine.
//!
//! ```text
//! DIR/S/.recoup-session      mark of a session that we created
//! DIR/S/WINNER/winner.json   winner, time of its election, end of its lease
//! DIR/S/winner_agent         a copy of the name, for other tools
//! DIR/S/signal_time          a copy of the time, in seconds since 1970, likewise
//! DIR/S/agents/A             a registered agent, with the time
//! DIR/S/results/A.json       its result
//! DIR/+locks/S               lock for changes of a session
//! DIR/+tmp/                  files being written or removed
//! ```
//! `WINNER` is prepared aside and renamed into place, so that it is never without the name; data
//! that is read together is in one file. Readers take no lock. Session names cannot contain a `+`.
//! No link below the directory is followed, and a directory that holds anything else is not a
//! session: it is neither written to nor removed. Only sessions with our mark are listed, and
//! removed when they expire.

mod change;
mod layout;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    ElectionBid, ElectionOutcome, SESSION_RETENTION, SessionStatus, SessionStore, SessionWatch,
    SessionWinner, WinnerAnswer,
};
use crate::base::clock::Clock;
use crate::base::fsx;
use crate::base::name::SafeName;
use crate::error::Result;

use layout::{SessionLayout, SessionOwner, WinnerRecord, has_marker, session_owner};

/// Poll interval without inotify.
const POLL_STEP: Duration = Duration::from_millis(20);
/// Poll interval with inotify, which may miss changes by other machines on a shared disk.
const LONGEST_POLL: Duration = Duration::from_millis(250);

/// Sessions in one directory.
#[derive(Debug)]
pub struct DirSessions {
    layout: SessionLayout,
    clock: Arc<dyn Clock>,
    kept: Duration,
}

impl DirSessions {
    /// The sessions in `dir`, which is created when it is first needed.
    pub fn at(dir: &Path, clock: Arc<dyn Clock>) -> Self {
        Self::with_retention(dir, clock, SESSION_RETENTION)
    }

    /// The sessions in `dir`, which expire this long after their last activity.
    pub fn with_retention(dir: &Path, clock: Arc<dyn Clock>, kept: Duration) -> Self {
        Self { layout: SessionLayout::at(dir), clock, kept }
    }

    /// The current winner, and true if its result is there.
    fn current_winner(&self, session: &SafeName) -> Result<Option<(WinnerRecord, bool)>> {
        let Some(record) = self.layout.winner(session)? else { return Ok(None) };
        if self.has_expired(session)? {
            return Ok(None);
        }
        let has_result = self.layout.has_result(session, &record.agent)?;
        let in_time = record.until.is_none_or(|until| self.clock.now() < until);
        Ok((has_result || in_time).then_some((record, has_result)))
    }

    fn has_expired(&self, session: &SafeName) -> Result<bool> {
        let last = self.layout.last_activity(session)?;
        let kept = u64::try_from(self.kept.as_millis()).unwrap_or(u64::MAX);
        Ok(last.is_some_and(|last| self.clock.now().millis_since(last) >= kept))
    }

    /// True if the session, of ours or of another tool, exists and has not expired.
    fn exists(&self, session: &SafeName) -> Result<bool> {
        if !self.layout.exists(session)? || self.has_expired(session)? {
            return Ok(false);
        }
        let dir = self.layout.session(session);
        Ok(has_marker(&dir) || session_owner(&dir).is_ok_and(|whose| whose == SessionOwner::Theirs))
    }
}

impl SessionStore for DirSessions {
    fn winner(&self, session: &SafeName) -> Result<Option<SessionWinner>> {
        let standing = self.current_winner(session)?;
        Ok(standing.map(|(record, has_result)| SessionWinner { agent: record.agent, has_result }))
    }

    fn answer(&self, session: &SafeName) -> Result<Option<WinnerAnswer>> {
        let Some((record, has_result)) = self.current_winner(session)? else { return Ok(None) };
        let WinnerRecord { agent, at, .. } = record;
        let result = if has_result { self.layout.result(session, &agent)? } else { None };
        Ok(Some(WinnerAnswer { agent, at, result }))
    }

    fn elect(&self, session: &SafeName, bid: ElectionBid<'_>) -> Result<ElectionOutcome> {
        // Most late callers are answered without the lock.
        if let Some((winner, _)) = self.current_winner(session)? {
            return Ok(ElectionOutcome::Lost(winner.agent));
        }
        let elected = self.begin_change(session)?.elect(bid)?;
        self.sweep();
        Ok(elected)
    }

    fn register(&self, session: &SafeName, agent: &SafeName) -> Result<()> {
        self.begin_change(session)?.register(agent)?;
        self.sweep();
        Ok(())
    }

    fn write_result(&self, session: &SafeName, agent: &SafeName, result: &[u8]) -> Result<()> {
        self.begin_change(session)?.write_result(agent, result)
    }

    fn status(&self, session: &SafeName) -> Result<Option<SessionStatus>> {
        if !self.exists(session)? {
            return Ok(None);
        }
        Ok(Some(SessionStatus {
            winner: self.current_winner(session)?.map(|(winner, _)| winner.agent),
            agents: self.layout.agents(session)?,
            results: self.layout.results(session)?,
        }))
    }

    fn list(&self) -> Result<Vec<SafeName>> {
        let mut sessions = Vec::new();
        for session in self.layout.sessions()? {
            // Skips directories that are not sessions, or gone meanwhile.
            if self.exists(&session).unwrap_or(false) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    fn remove(&self, session: &SafeName) -> Result<bool> {
        if !self.layout.exists(session)? {
            return Ok(false);
        }
        let gone = self.layout.lock(session)?.discard()?;
        gone.as_deref().map_or(Ok(()), fsx::remove_tree)?;
        Ok(gone.is_some())
    }

    fn watch<'a>(&'a self, session: &'a SafeName) -> Box<dyn SessionWatch + 'a> {
        Box::new(DirWatch::new(self.layout.watched_dirs(session)))
    }
}

/// Waits for a directory to change: by inotify if possible, otherwise by polling.
#[derive(Debug)]
struct DirWatch {
    dirs: Vec<PathBuf>,
    events: Option<OwnedFd>,
    told: bool,
}

impl DirWatch {
    fn new(dirs: Vec<PathBuf>) -> Self {
        Self { dirs, events: open_events(), told: false }
    }
}

#[cfg(target_os = "linux")]
fn open_events() -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, init};
    init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
}

/// Returns `None`: other systems have no inotify.
#[cfg(not(target_os = "linux"))]
fn open_events() -> Option<OwnedFd> {
    None
}

#[cfg(target_os = "linux")]
fn add_watch(events: &OwnedFd, dir: &Path) -> bool {
    use rustix::fs::inotify::{WatchFlags, add_watch};
    let what = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE;
    add_watch(events, dir, what | WatchFlags::ONLYDIR).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn add_watch(_: &OwnedFd, _: &Path) -> bool {
    false
}

impl SessionWatch for DirWatch {
    /// Watches are added again each time, because directories come and go.
    fn arm(&mut self) {
        let Some(events) = &self.events else { return };
        self.told = self.dirs.iter().filter(|dir| add_watch(events, dir)).count() > 0;
    }

    fn wait(&mut self, at_most: Duration) {
        match self.events.as_ref().filter(|_| self.told) {
            None => thread::sleep(at_most.min(POLL_STEP)),
            Some(events) => {
                let time = at_most.min(LONGEST_POLL);
                let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
                // Whatever the result, the caller checks again.
                let _ = poll(&mut [PollFd::new(events, PollFlags::IN)], Some(&time));
                let mut told = [0; 4096];
                while rustix::io::read(events, &mut told).is_ok_and(|read| read > 0) {}
            }
        }
    }
}
