//! Paths of the session files, reading them, and the check that a directory is a session and nothing
//! else. Other tools may have written the files: links are not followed, and names are validated
//! before use. Sessions are removed whole, so other directories must never pass for one.
//!
//! A session of ours has a mark from the start. One without it, as other tools make them, may be
//! read and used; it is removed only if a user names it, and then only if it cannot be anything
//! else.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::change::LockedSession;
use crate::base::clock::{Deadline, Timestamp};
use crate::base::fsx::{self, EphemeralLock, FileLookup};
use crate::base::name::SafeName;
use crate::early_exit::UNKNOWN_AGENT;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Mark in every session that we created, from the start.
pub(super) const MARK: &str = ".recoup-session";
/// Directory that exists once there is a winner.
pub(super) const WINNER: &str = "WINNER";
/// File in that directory, if we wrote it.
pub(super) const RECORD: &str = "winner.json";
pub(super) const AGENT_COPY: &str = "winner_agent";
pub(super) const TIME_COPY: &str = "signal_time";
pub(super) const AGENTS: &str = "agents";
pub(super) const RESULTS: &str = "results";
pub(super) const JSON: &str = ".json";
/// How long a change waits for others of the same session.
const WAIT: Duration = Duration::from_secs(10);

/// JSON form of the winner's record.
#[derive(Debug, Serialize, Deserialize)]
struct WinnerFile {
    agent: String,
    signaled_at: Timestamp,
    lease_until: Option<Timestamp>,
}

/// The winner, the time of its election, and the end of its lease.
#[derive(Debug)]
pub(super) struct WinnerRecord {
    pub(super) agent: SafeName,
    pub(super) at: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

/// Paths in one directory of sessions.
#[derive(Debug, Clone)]
pub(super) struct SessionLayout {
    root: PathBuf,
}

impl SessionLayout {
    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn session(&self, session: &SafeName) -> PathBuf {
        self.root.join(session.as_str())
    }

    pub(super) fn lock_file(&self, session: &SafeName) -> PathBuf {
        self.root.join("+locks").join(session.as_str())
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join("+tmp")
    }

    pub(super) fn agent_file(&self, session: &SafeName, agent: &SafeName) -> PathBuf {
        self.session(session).join(AGENTS).join(agent.as_str())
    }

    pub(super) fn result_file(&self, session: &SafeName, agent: &SafeName) -> PathBuf {
        self.session(session).join(RESULTS).join(format!("{agent}{JSON}"))
    }

    /// The directories in which session files appear, outermost first.
    pub(super) fn watched_dirs(&self, session: &SafeName) -> Vec<PathBuf> {
        let dir = self.session(session);
        vec![self.root.clone(), dir.join(RESULTS), dir]
    }

    /// Waits for the lock of a session.
    pub(super) fn lock(&self, session: &SafeName) -> Result<LockedSession<'_>> {
        // The root itself may be a link: it was configured.
        let (path, deadline) = (self.lock_file(session), Deadline::after(WAIT));
        fsx::is_real_dir(fsx::parent(&path))?;
        loop {
            if let Some(lock) = EphemeralLock::try_acquire(&path)? {
                return Ok(LockedSession::new(self, session.clone(), lock));
            }
            if deadline.has_passed() {
                let message =
                    format!("timed out: other processes keep changing the session {session}");
                return Err(Error::new(ErrorKind::Locked, message));
            }
            thread::sleep(Duration::from_micros(fastrand::u64(200..2_000)));
        }
    }

    pub(super) fn exists(&self, session: &SafeName) -> Result<bool> {
        fsx::is_real_dir(&self.session(session))
    }

    /// The recorded winner, even if its lease has expired.
    pub(super) fn winner(&self, session: &SafeName) -> Result<Option<WinnerRecord>> {
        let dir = self.session(session);
        let marker = dir.join(WINNER);
        if !fsx::is_real_dir(&dir)? || !fsx::is_real_dir(&marker)? {
            return Ok(None);
        }
        if let Some(bytes) = read_file(&marker.join(RECORD))? {
            let record = serde_json::from_slice(&bytes).ok().and_then(|file| {
                let WinnerFile { agent, signaled_at, lease_until } = file;
                let agent = SafeName::parse("agent", &agent).ok()?;
                Some(WinnerRecord { agent, at: Some(signaled_at), until: lease_until })
            });
            return record.map(Some).ok_or_else(|| {
                let message = format!("{} is damaged", marker.join(RECORD).display());
                Error::new(ErrorKind::Corrupt, message)
            });
        }
        // If the directory is gone, there is no winner. If it is still there, another tool made it,
        // and the name follows a moment later.
        if !fsx::is_real_dir(&marker)? {
            return Ok(None);
        }
        let copy = read_file(&dir.join(AGENT_COPY))?.unwrap_or_default();
        let name = SafeName::parse("agent", String::from_utf8_lossy(&copy).trim());
        let agent = name.or_else(|_| SafeName::parse("agent", UNKNOWN_AGENT))?;
        let time = read_file(&dir.join(TIME_COPY))?.unwrap_or_default();
        let at = String::from_utf8_lossy(&time).trim().parse().ok().map(Timestamp::from_seconds);
        Ok(Some(WinnerRecord { agent, at, until: None }))
    }

    pub(super) fn has_result(&self, session: &SafeName, agent: &SafeName) -> Result<bool> {
        Ok(matches!(self.look_at_result(session, agent)?, FileLookup::Regular(_)))
    }

    pub(super) fn result(&self, session: &SafeName, agent: &SafeName) -> Result<Option<Vec<u8>>> {
        match self.look_at_result(session, agent)? {
            FileLookup::Regular(file) => {
                file.read().map(Some).with_context(|| format!("cannot read the result of {agent}"))
            }
            FileLookup::Nothing | FileLookup::Other | FileLookup::Denied => Ok(None),
        }
    }

    fn look_at_result(&self, session: &SafeName, agent: &SafeName) -> Result<FileLookup> {
        let path = self.result_file(session, agent);
        if !fsx::is_real_dir(fsx::parent(&path))? {
            return Ok(FileLookup::Nothing);
        }
        fsx::open_regular(&path)
    }

    /// The latest modification of any of its directories, whose times change with every file
    /// created, replaced or removed.
    pub(super) fn last_activity(&self, session: &SafeName) -> Result<Option<Timestamp>> {
        let dir = self.session(session);
        let mut last = None;
        for path in [dir.join(AGENTS), dir.join(RESULTS), dir.join(WINNER), dir] {
            last = last.max(modified_at(&path)?);
        }
        Ok(last)
    }

    pub(super) fn agents(&self, session: &SafeName) -> Result<Vec<SafeName>> {
        names_in(&self.session(session).join(AGENTS), "")
    }

    pub(super) fn results(&self, session: &SafeName) -> Result<Vec<SafeName>> {
        names_in(&self.session(session).join(RESULTS), JSON)
    }

    /// The sessions that we created.
    pub(super) fn sessions(&self) -> Result<Vec<SafeName>> {
        list_names(&self.root, "", |entry| has_marker(&entry.path()))
    }
}

/// File name and content of a winner's record.
pub(super) fn render_record(
    agent: &SafeName,
    now: Timestamp,
    until: Option<Timestamp>,
) -> (&str, Vec<u8>) {
    let written = WinnerFile { agent: agent.to_string(), signaled_at: now, lease_until: until };
    (RECORD, serde_json::to_vec(&written).expect("a name and times always serialize"))
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match fsx::open_regular(path)? {
        FileLookup::Regular(file) => {
            file.read().map(Some).with_context(|| format!("cannot read {}", path.display()))
        }
        FileLookup::Nothing | FileLookup::Other | FileLookup::Denied => Ok(None),
    }
}

/// Modification time of a file or directory; `None` if it does not exist.
pub(super) fn modified_at(path: &Path) -> Result<Option<Timestamp>> {
    let found = match fs::symlink_metadata(path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        found => found.and_then(|found| found.modified()),
    };
    let since = found
        .with_context(|| format!("cannot access {}", path.display()))?
        .duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Ok(Some(Timestamp::from_millis(millis)))
}

fn names_in(dir: &Path, suffix: &str) -> Result<Vec<SafeName>> {
    let is_file = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    if fsx::is_real_dir(dir)? { list_names(dir, suffix, is_file) } else { Ok(Vec::new()) }
}

/// The valid names in a directory for which `counts` holds, sorted.
fn list_names(dir: &Path, suffix: &str, counts: fn(&DirEntry) -> bool) -> Result<Vec<SafeName>> {
    let listing = || format!("cannot list {}", dir.display());
    let found = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.with_context(listing)?,
    };
    let mut names = Vec::new();
    for entry in found {
        let entry = entry.with_context(listing)?;
        let name = entry.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(suffix));
        let name = stem.and_then(|stem| SafeName::parse("name", stem).ok());
        names.extend(name.filter(|_| counts(&entry)));
    }
    names.sort();
    Ok(names)
}

/// Owner of a session directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// Ours: has the mark.
    Ours,
    /// Another tool's: has files that only a session has.
    Theirs,
    /// Unknown: empty, or without characteristic files.
    Unclear,
}

/// The owner of a session. A directory with other files in it, or with a link in place of a
/// sub-directory, is an error.
pub(super) fn session_owner(dir: &Path) -> Result<SessionOwner> {
    for part in [WINNER, AGENTS, RESULTS] {
        fsx::is_real_dir(&dir.join(part))?;
    }
    let ours = has_marker(dir);
    let looking = || format!("cannot access {}", dir.display());
    if let Some(name) = find_foreign(dir, ours).with_context(looking)? {
        return Err(not_a_session_error(dir, &format!("it contains {name:?}")));
    }
    if ours {
        return Ok(SessionOwner::Ours);
    }
    // An empty directory does not count.
    let some = |part: &str| {
        find_entry(&dir.join(part), |_| Ok(true)).map(|found| found.is_some()).with_context(looking)
    };
    let is_theirs = dir.join(WINNER).is_dir() || some(AGENTS)? || some(RESULTS)?;
    Ok(if is_theirs { SessionOwner::Theirs } else { SessionOwner::Unclear })
}

/// True if the mark exists, which only the creator of a session writes.
pub(super) fn has_marker(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(MARK)).is_ok_and(|found| found.is_file())
}

/// The error for a directory that must be left alone, with advice.
pub(super) fn not_a_session_error(dir: &Path, why: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!(
            "{} is not an early-exit session: {why}; remove it, or choose another session name or \
             directory (early_exit.dir)",
            dir.display()
        ),
    )
}

/// The first entry that does not belong to a session. In one of ours a link may have replaced a
/// file.
fn find_foreign(dir: &Path, ours: bool) -> io::Result<Option<String>> {
    let is_file = |entry: &DirEntry| {
        entry.file_type().map(|kind| kind.is_file() || (ours && kind.is_symlink()))
    };
    let within = |entry: &DirEntry, fits: fn(&str) -> bool| {
        let misplaced = |inner: &DirEntry| {
            Ok(!(inner.file_name().to_str().is_some_and(fits) && is_file(inner)?))
        };
        find_entry(&entry.path(), misplaced).map(|found| found.is_some())
    };
    find_entry(dir, |entry| match entry.file_name().to_str() {
        Some(AGENT_COPY | TIME_COPY | MARK) => Ok(!is_file(entry)?),
        Some(WINNER) => within(entry, |name| name == RECORD),
        Some(AGENTS) => within(entry, is_name),
        Some(RESULTS) => within(entry, |name| name.strip_suffix(JSON).is_some_and(is_name)),
        _ => Ok(true),
    })
}

fn is_name(text: &str) -> bool {
    SafeName::parse("agent", text).is_ok()
}

/// The name of the first entry for which `is_foreign` holds. Links are not followed, and a missing
/// directory has no entries.
fn find_entry(
    dir: &Path,
    is_foreign: impl Fn(&DirEntry) -> io::Result<bool>,
) -> io::Result<Option<String>> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if is_foreign(&entry)? {
            return Ok(Some(entry.file_name().to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}
