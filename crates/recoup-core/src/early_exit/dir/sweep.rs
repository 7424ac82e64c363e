//! Removes expired sessions of ours, a few at a time, while others are used. After a failure the
//! next sweep tries again.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::DirSessions;
use super::change::LockedSession;
use super::layout::modified_at;
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::fsx::{self, EphemeralLock};
use crate::base::name::SafeName;
use crate::error::Result;

/// Interval between two sweeps.
const PAUSE: Duration = Duration::from_hours(1);
/// Maximum number of sessions checked, and removed, in one sweep.
const LOOKS: usize = 1_000;
const REMOVALS: usize = 100;
/// File whose modification time is that of the last sweep.
const MARK: &str = "+swept";
/// Length of an id.
const ID: usize = 26;

impl DirSessions {
    /// Best effort: errors do not concern the caller.
    pub(super) fn sweep(&self) {
        if is_older(&self.layout.root().join(MARK), PAUSE) {
            let _ = self.sweep_now();
        }
    }

    fn sweep_now(&self) -> Result<()> {
        fsx::write_unsynced(&self.layout.root().join(MARK), b"")?;
        let mut sessions = self.layout.sessions()?;
        // From a random position, so that each session gets its turn.
        let start = fastrand::usize(..sessions.len().max(1));
        sessions.rotate_left(start);
        let dead = sessions.iter().take(LOOKS);
        let dead = dead.filter(|session| self.has_expired(session).unwrap_or(false));
        for session in dead.take(REMOVALS) {
            let _ = self.remove_dead(session);
        }
        self.clear_tmp()
    }

    /// Removes an expired session, unless it is in use or was used since.
    fn remove_dead(&self, session: &SafeName) -> Result<()> {
        let path = self.layout.lock_file(session);
        let Some(lock) = EphemeralLock::try_acquire(&path)? else { return Ok(()) };
        let held = LockedSession::new(&self.layout, session.clone(), lock);
        if self.has_expired(session)?
            && let Some(gone) = held.discard_if_own()?
        {
            fsx::remove_tree(&gone)?;
        }
        Ok(())
    }

    /// Removes temporary files of dead processes.
    fn clear_tmp(&self) -> Result<()> {
        let Ok(found) = fs::read_dir(self.layout.tmp()) else { return Ok(()) };
        let ours = found
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(is_temporary_name));
        for path in ours.map(|entry| entry.path()).take(LOOKS) {
            if is_older(&path, PAUSE) {
                fsx::remove_tree(&path)?;
            }
        }
        Ok(())
    }
}

/// True for names that we generate: an id, or a file being written.
fn is_temporary_name(name: &str) -> bool {
    let id = || name.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    (name.len() == ID && id()) || fsx::is_hidden_temporary(name)
}

/// By the system clock, like file times; true for a missing file.
fn is_older(path: &Path, than: Duration) -> bool {
    let last = modified_at(path).ok().flatten().unwrap_or_default();
    u128::from(SystemClock.now().millis_since(last)) >= than.as_millis()
}
