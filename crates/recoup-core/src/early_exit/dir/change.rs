//! Changes of a session, one process at a time, and the removal of expired ones. Everything that
//! readers see appears by a rename, so that they need no lock.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::layout::{
    self, AGENT_COPY, MARK, SessionLayout, SessionOwner, TIME_COPY, WINNER, modified_at,
    not_a_session_error, session_owner,
};
use super::{DirSessions, ElectionOutcome};
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::fsx::{self, EphemeralLock, StagedFile};
use crate::base::name::SafeName;
use crate::base::name::fresh_id;
use crate::early_exit::ElectionBid;
use crate::error::{Error, ErrorKind, Result};

/// Interval between two sweeps.
const SWEEP_PAUSE: Duration = Duration::from_hours(1);
/// Maximum number of sessions checked, and removed, in one sweep.
const LOOKS: usize = 1_000;
const REMOVALS: usize = 100;
/// File whose modification time is that of the last sweep.
const SWEEP_MARK: &str = "+swept";
/// Length of an id.
const ID_LEN: usize = 26;

/// A session under its lock.
pub(super) struct LockedSession<'a> {
    layout: &'a SessionLayout,
    session: SafeName,
    _lock: EphemeralLock,
}

impl<'a> LockedSession<'a> {
    pub(super) fn new(layout: &'a SessionLayout, session: SafeName, lock: EphemeralLock) -> Self {
        Self { layout, session, _lock: lock }
    }

    /// Moves the whole session aside and returns the path to remove; `None` if there was none. A
    /// directory that may be anything else is an error.
    pub(super) fn discard(&self) -> Result<Option<PathBuf>> {
        if !self.layout.exists(&self.session)? {
            return Ok(None);
        }
        let dir = self.layout.session(&self.session);
        if session_owner(&dir)? == SessionOwner::Unclear {
            return Err(not_a_session_error(&dir, "it contains no session files"));
        }
        self.set_aside(&dir).map(Some)
    }

    /// Like [`Self::discard`], but only if the session is ours and holds nothing else.
    pub(super) fn discard_if_own(&self) -> Result<Option<PathBuf>> {
        let dir = self.layout.session(&self.session);
        if self.layout.exists(&self.session)? && session_owner(&dir)? == SessionOwner::Ours {
            return self.set_aside(&dir).map(Some);
        }
        Ok(None)
    }

    fn set_aside(&self, path: &Path) -> Result<PathBuf> {
        let aside = self.temporary_path()?;
        fsx::rename_noreplace(path, &aside)?;
        Ok(aside)
    }

    /// A new path in the directory for temporary files.
    fn temporary_path(&self) -> Result<PathBuf> {
        let tmp = self.layout.tmp();
        make_dir(&tmp)?;
        Ok(tmp.join(fresh_id(&SystemClock)))
    }

    /// Writes a file atomically.
    fn write_file(&self, path: &Path, contents: &[u8]) -> Result<()> {
        let tmp = self.layout.tmp();
        make_dir(&tmp)?;
        make_dir(fsx::parent(path))?;
        StagedFile::new(&tmp, contents)?.move_into_place(path).map(drop)
    }
}

/// An existing session under its lock.
pub(super) struct SessionChange<'a> {
    sessions: &'a DirSessions,
    held: LockedSession<'a>,
}

impl DirSessions {
    /// Locks the session. An expired one is started anew.
    pub(super) fn begin_change(&self, session: &SafeName) -> Result<SessionChange<'_>> {
        fsx::ensure_dir(self.layout.root())?;
        let held = self.layout.lock(session)?;
        if self.has_expired(session)?
            && let Some(gone) = held.discard_if_own()?
        {
            fsx::remove_tree(&gone)?;
        }
        let dir = self.layout.session(session);
        if !self.layout.exists(session)? {
            // It has the mark from the start.
            let prepared = held.temporary_path()?;
            held.write_file(&prepared.join(MARK), b"made by recoup early-exit\n")?;
            if !fsx::rename_noreplace(&prepared, &dir)? {
                // Another tool was faster.
                fsx::remove_tree(&prepared)?;
            }
        }
        if session_owner(&dir)? == SessionOwner::Theirs && self.has_expired(session)? {
            // If it were used, it would revive with all its old contents.
            let message = format!(
                "{} is an expired session of another tool; remove it (recoup early-exit cleanup \
                 {session}), or choose another name",
                dir.display()
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Ok(SessionChange { sessions: self, held })
    }
}

impl SessionChange<'_> {
    pub(super) fn register(&self, agent: &SafeName) -> Result<()> {
        let path = self.layout().agent_file(&self.held.session, agent);
        self.held.write_file(&path, now_line(self.sessions).as_bytes())
    }

    pub(super) fn write_result(&self, agent: &SafeName, result: &[u8]) -> Result<()> {
        self.held.write_file(&self.layout().result_file(&self.held.session, agent), result)
    }

    /// Everything is in place before `WINNER` appears.
    pub(super) fn elect(&self, bid: ElectionBid<'_>) -> Result<ElectionOutcome> {
        if let Some((winner, _)) = self.sessions.current_winner(&self.held.session)? {
            return Ok(ElectionOutcome::Lost(winner.agent));
        }
        let dir = self.layout().session(&self.held.session);
        // A winner whose lease has expired. Readers have ignored it since then.
        let marker = dir.join(WINNER);
        if fsx::is_real_dir(&marker)? {
            fsx::remove_tree(&self.held.set_aside(&marker)?)?;
        }
        if let Some(result) = bid.result {
            self.write_result(bid.agent, result)?;
        }
        self.held.write_file(&dir.join(AGENT_COPY), format!("{}\n", bid.agent).as_bytes())?;
        self.held.write_file(&dir.join(TIME_COPY), now_line(self.sessions).as_bytes())?;
        // This directory becomes `WINNER`.
        let now = self.sessions.clock.now();
        let until = bid.lease.map(|lease| now.plus_millis(lease));
        let (name, record) = layout::render_record(bid.agent, now, until);
        let prepared = self.held.temporary_path()?;
        self.held.write_file(&prepared.join(name), &record)?;
        if fsx::rename_noreplace(&prepared, &marker)? {
            return Ok(ElectionOutcome::Won);
        }
        // Another tool, which does not use our lock, was faster.
        fsx::remove_tree(&prepared)?;
        let winner = self.layout().winner(&self.held.session)?;
        Ok(ElectionOutcome::Lost(winner.map_or_else(|| bid.agent.clone(), |winner| winner.agent)))
    }

    fn layout(&self) -> &SessionLayout {
        self.held.layout
    }
}

/// Creates a directory, unless it exists.
fn make_dir(dir: &Path) -> Result<()> {
    if fsx::is_real_dir(dir)? { Ok(()) } else { fsx::ensure_dir(dir) }
}

/// The time in seconds since 1970, as a line.
fn now_line(sessions: &DirSessions) -> String {
    format!("{}\n", sessions.clock.now().as_seconds())
}

impl DirSessions {
    /// Removes expired sessions of ours, a few at a time, while others are used. Best effort: errors
    /// do not concern the caller, and after a failure the next sweep tries again.
    pub(super) fn sweep(&self) {
        let mark = self.layout.root().join(SWEEP_MARK);
        if !is_older(&mark, SWEEP_PAUSE) || fsx::write_unsynced(&mark, b"").is_err() {
            return;
        }
        let Ok(mut sessions) = self.layout.sessions() else { return };
        // From a random position, so that each session gets its turn.
        let start = fastrand::usize(..sessions.len().max(1));
        sessions.rotate_left(start);
        let dead = sessions.iter().take(LOOKS);
        let dead = dead.filter(|session| self.has_expired(session).unwrap_or(false));
        for session in dead.take(REMOVALS) {
            // Unless it is in use, or was used since.
            let path = self.layout.lock_file(session);
            let Ok(Some(lock)) = EphemeralLock::try_acquire(&path) else { continue };
            let held = LockedSession::new(&self.layout, session.clone(), lock);
            if self.has_expired(session).unwrap_or(false)
                && let Ok(Some(gone)) = held.discard_if_own()
            {
                let _ = fsx::remove_tree(&gone);
            }
        }
        // Temporary files of dead processes: an id, or a file being written.
        let Ok(found) = fs::read_dir(self.layout.tmp()) else { return };
        let is_id = |name: &str| {
            name.len() == ID_LEN
                && name.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
        };
        let is_ours = |name: &str| is_id(name) || fsx::is_hidden_temporary(name);
        let ours = found.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_ours));
        for path in ours.map(|entry| entry.path()).take(LOOKS) {
            if is_older(&path, SWEEP_PAUSE) && fsx::remove_tree(&path).is_err() {
                return;
            }
        }
    }
}

/// By the system clock, like file times; true for a missing file.
fn is_older(path: &Path, than: Duration) -> bool {
    let last = modified_at(path).ok().flatten().unwrap_or_default();
    u128::from(SystemClock.now().millis_since(last)) >= than.as_millis()
}
