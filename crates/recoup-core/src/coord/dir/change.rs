//! Changes of a session, one process at a time. Everything that readers see appears by a rename, so
//! that they need no lock.

use std::path::{Path, PathBuf};

use super::layout::{self, AGENT_COPY, Layout, MARK, TIME_COPY, WINNER};
use super::shape::{Whose, no_session, session_in};
use super::{DirSessions, Elected};
use crate::base::clock::SystemClock;
use crate::base::fsx::{self, PassingLock, Staged};
use crate::base::ids;
use crate::base::name::Name;
use crate::coord::Bid;
use crate::error::{Error, ErrorKind, Result};

/// A session under its lock.
pub(super) struct Held<'a> {
    layout: &'a Layout,
    session: Name,
    _lock: PassingLock,
}

impl<'a> Held<'a> {
    pub(super) fn new(layout: &'a Layout, session: Name, lock: PassingLock) -> Self {
        Self { layout, session, _lock: lock }
    }

    /// Moves the whole session aside and returns the path to remove; `None` if there was none. A
    /// directory that may be anything else is an error.
    pub(super) fn discard(&self) -> Result<Option<PathBuf>> {
        if !self.layout.is_there(&self.session)? {
            return Ok(None);
        }
        let dir = self.layout.session(&self.session);
        if session_in(&dir)? == Whose::Unclear {
            return Err(no_session(&dir, "nothing in it says so"));
        }
        self.set_aside(&dir).map(Some)
    }

    /// Like [`Self::discard`], but only if the session is ours and holds nothing else.
    pub(super) fn discard_ours(&self) -> Result<Option<PathBuf>> {
        let dir = self.layout.session(&self.session);
        if self.layout.is_there(&self.session)? && session_in(&dir)? == Whose::Ours {
            return self.set_aside(&dir).map(Some);
        }
        Ok(None)
    }

    /// Creates the session if it is missing. It has the mark from the start.
    fn begin(&self) -> Result<()> {
        let dir = self.layout.session(&self.session);
        if self.layout.is_there(&self.session)? {
            return Ok(());
        }
        let prepared = self.fresh()?;
        self.put(&prepared.join(MARK), b"made by recoup early-exit\n")?;
        if !fsx::rename_new(&prepared, &dir)? {
            // Another tool was faster.
            fsx::remove_tree(&prepared)?;
        }
        Ok(())
    }

    fn set_aside(&self, path: &Path) -> Result<PathBuf> {
        let aside = self.fresh()?;
        fsx::rename_new(path, &aside)?;
        Ok(aside)
    }

    /// A new path in the directory for temporary files.
    fn fresh(&self) -> Result<PathBuf> {
        let tmp = self.layout.tmp();
        make_dir(&tmp)?;
        Ok(tmp.join(ids::fresh(&SystemClock)))
    }

    /// Writes a file atomically.
    fn put(&self, path: &Path, contents: &[u8]) -> Result<()> {
        let tmp = self.layout.tmp();
        make_dir(&tmp)?;
        make_dir(fsx::parent(path))?;
        Staged::new(&tmp, contents)?.put_at(path).map(drop)
    }
}

/// An existing session under its lock.
pub(super) struct Change<'a> {
    sessions: &'a DirSessions,
    held: Held<'a>,
}

impl DirSessions {
    /// Locks the session. An expired one is started anew.
    pub(super) fn change(&self, session: &Name) -> Result<Change<'_>> {
        fsx::ensure_dir(self.layout.root())?;
        let held = self.layout.lock(session)?;
        if self.has_expired(session)?
            && let Some(gone) = held.discard_ours()?
        {
            fsx::remove_tree(&gone)?;
        }
        held.begin()?;
        let dir = self.layout.session(session);
        if session_in(&dir)? == Whose::Theirs && self.has_expired(session)? {
            // If it were used, it would revive with all its old contents.
            let message = format!(
                "{} is a session of another tool in which nothing happened for long; remove it \
                 (recoup early-exit cleanup {session}), or choose another name",
                dir.display()
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Ok(Change { sessions: self, held })
    }
}

impl Change<'_> {
    pub(super) fn register(&self, agent: &Name) -> Result<()> {
        let path = self.layout().agent_file(&self.held.session, agent);
        self.held.put(&path, seconds(self.sessions).as_bytes())
    }

    pub(super) fn write_result(&self, agent: &Name, result: &[u8]) -> Result<()> {
        self.held.put(&self.layout().result_file(&self.held.session, agent), result)
    }

    /// Everything is in place before `WINNER` appears.
    pub(super) fn elect(&self, bid: Bid<'_>) -> Result<Elected> {
        if let Some((winner, _)) = self.sessions.standing(&self.held.session)? {
            return Ok(Elected::Lost(winner.agent));
        }
        self.dethrone()?;
        if let Some(result) = bid.result {
            self.write_result(bid.agent, result)?;
        }
        let dir = self.layout().session(&self.held.session);
        self.held.put(&dir.join(AGENT_COPY), format!("{}\n", bid.agent).as_bytes())?;
        self.held.put(&dir.join(TIME_COPY), seconds(self.sessions).as_bytes())?;
        let prepared = self.prepared(bid)?;
        if fsx::rename_new(&prepared, &dir.join(WINNER))? {
            return Ok(Elected::Won);
        }
        // Another tool, which does not use our lock, was faster.
        fsx::remove_tree(&prepared)?;
        let winner = self.layout().winner(&self.held.session)?;
        Ok(Elected::Lost(winner.map_or_else(|| bid.agent.clone(), |winner| winner.agent)))
    }

    /// Removes a winner whose lease has expired. Readers have ignored it since then.
    fn dethrone(&self) -> Result<()> {
        let marker = self.layout().session(&self.held.session).join(WINNER);
        if !fsx::is_real_dir(&marker)? {
            return Ok(());
        }
        fsx::remove_tree(&self.held.set_aside(&marker)?)
    }

    /// Prepares the directory that becomes `WINNER`.
    fn prepared(&self, bid: Bid<'_>) -> Result<PathBuf> {
        let now = self.sessions.clock.now();
        let (name, record) =
            layout::record(bid.agent, now, bid.lease.map(|lease| now.plus_millis(lease)));
        let prepared = self.held.fresh()?;
        self.held.put(&prepared.join(name), &record)?;
        Ok(prepared)
    }

    fn layout(&self) -> &Layout {
        self.held.layout
    }
}

/// Creates a directory, unless it exists.
fn make_dir(dir: &Path) -> Result<()> {
    if fsx::is_real_dir(dir)? { Ok(()) } else { fsx::ensure_dir(dir) }
}

/// The time in seconds since 1970, as a line.
fn seconds(sessions: &DirSessions) -> String {
    format!("{}\n", sessions.clock.now().as_seconds())
}
