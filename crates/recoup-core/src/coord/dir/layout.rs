//! Paths of the session files, and reading them. Other tools may have written them: links are not
//! followed, and names are validated before use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::change::Held;
use super::shape::is_ours;
use crate::base::clock::{Deadline, Timestamp};
use crate::base::fsx::{self, Found, PassingLock};
use crate::base::name::Name;
use crate::coord::UNKNOWN;
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
struct Written {
    agent: String,
    signaled_at: Timestamp,
    lease_until: Option<Timestamp>,
}

/// The winner, the time of its election, and the end of its lease.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) agent: Name,
    pub(super) at: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

/// Paths in one directory of sessions.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn session(&self, session: &Name) -> PathBuf {
        self.root.join(session.as_str())
    }

    pub(super) fn lock_file(&self, session: &Name) -> PathBuf {
        self.root.join("+locks").join(session.as_str())
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join("+tmp")
    }

    pub(super) fn agent_file(&self, session: &Name, agent: &Name) -> PathBuf {
        self.session(session).join(AGENTS).join(agent.as_str())
    }

    pub(super) fn result_file(&self, session: &Name, agent: &Name) -> PathBuf {
        self.session(session).join(RESULTS).join(format!("{agent}{JSON}"))
    }

    /// The directories in which session files appear, outermost first.
    pub(super) fn watched(&self, session: &Name) -> Vec<PathBuf> {
        let dir = self.session(session);
        vec![self.root.clone(), dir.join(RESULTS), dir]
    }

    /// Waits for the lock of a session.
    pub(super) fn lock(&self, session: &Name) -> Result<Held<'_>> {
        // The root itself may be a link: it was configured.
        let (path, deadline) = (self.lock_file(session), Deadline::after(WAIT));
        fsx::is_real_dir(fsx::parent(&path))?;
        loop {
            if let Some(lock) = PassingLock::try_acquire(&path)? {
                return Ok(Held::new(self, session.clone(), lock));
            }
            if deadline.passed() {
                let message = format!("others keep changing the session {session}");
                return Err(Error::new(ErrorKind::Locked, message));
            }
            thread::sleep(Duration::from_micros(fastrand::u64(200..2_000)));
        }
    }

    pub(super) fn is_there(&self, session: &Name) -> Result<bool> {
        fsx::is_real_dir(&self.session(session))
    }

    /// The recorded winner, even if its lease has expired.
    pub(super) fn winner(&self, session: &Name) -> Result<Option<Record>> {
        let dir = self.session(session);
        let marker = dir.join(WINNER);
        if !fsx::is_real_dir(&dir)? || !fsx::is_real_dir(&marker)? {
            return Ok(None);
        }
        if let Some(bytes) = read(&marker.join(RECORD))? {
            return parsed(&bytes).map(Some).ok_or_else(|| {
                let message = format!("{} is damaged", marker.join(RECORD).display());
                Error::new(ErrorKind::Corrupt, message)
            });
        }
        // If the directory is gone, there is no winner. If it is still there, another tool made it,
        // and the name follows a moment later.
        if !fsx::is_real_dir(&marker)? {
            return Ok(None);
        }
        let copy = read(&dir.join(AGENT_COPY))?.unwrap_or_default();
        let name = Name::parse("agent", String::from_utf8_lossy(&copy).trim());
        let agent = name.or_else(|_| Name::parse("agent", UNKNOWN))?;
        let time = read(&dir.join(TIME_COPY))?.unwrap_or_default();
        let at = String::from_utf8_lossy(&time).trim().parse().ok().map(Timestamp::from_seconds);
        Ok(Some(Record { agent, at, until: None }))
    }

    pub(super) fn has_result(&self, session: &Name, agent: &Name) -> Result<bool> {
        Ok(matches!(self.look_at_result(session, agent)?, Found::Regular(_)))
    }

    pub(super) fn result(&self, session: &Name, agent: &Name) -> Result<Option<Vec<u8>>> {
        match self.look_at_result(session, agent)? {
            Found::Regular(file) => {
                file.read().map(Some).doing(|| format!("reading the result of {agent}"))
            }
            Found::Nothing | Found::Other | Found::Denied => Ok(None),
        }
    }

    fn look_at_result(&self, session: &Name, agent: &Name) -> Result<Found> {
        let path = self.result_file(session, agent);
        if !fsx::is_real_dir(fsx::parent(&path))? {
            return Ok(Found::Nothing);
        }
        fsx::look_at(&path)
    }

    /// The latest modification of any of its directories, whose times change with every file
    /// created, replaced or removed.
    pub(super) fn last_activity(&self, session: &Name) -> Result<Option<Timestamp>> {
        let dir = self.session(session);
        let mut last = None;
        for path in [dir.join(AGENTS), dir.join(RESULTS), dir.join(WINNER), dir] {
            last = last.max(changed(&path)?);
        }
        Ok(last)
    }

    pub(super) fn agents(&self, session: &Name) -> Result<Vec<Name>> {
        names_in(&self.session(session).join(AGENTS), "")
    }

    pub(super) fn results(&self, session: &Name) -> Result<Vec<Name>> {
        names_in(&self.session(session).join(RESULTS), JSON)
    }

    /// The sessions that we created.
    pub(super) fn sessions(&self) -> Result<Vec<Name>> {
        entries(&self.root, "", |entry| is_ours(&entry.path()))
    }
}

/// File name and content of a winner's record.
pub(super) fn record(agent: &Name, now: Timestamp, until: Option<Timestamp>) -> (&str, Vec<u8>) {
    let written = Written { agent: agent.to_string(), signaled_at: now, lease_until: until };
    (RECORD, serde_json::to_vec(&written).expect("a name and times always serialize"))
}

fn parsed(bytes: &[u8]) -> Option<Record> {
    let Written { agent, signaled_at, lease_until } = serde_json::from_slice(bytes).ok()?;
    let agent = Name::parse("agent", &agent).ok()?;
    Some(Record { agent, at: Some(signaled_at), until: lease_until })
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fsx::look_at(path)? {
        Found::Regular(file) => {
            file.read().map(Some).doing(|| format!("reading {}", path.display()))
        }
        Found::Nothing | Found::Other | Found::Denied => Ok(None),
    }
}

/// Modification time of a file or directory; `None` if it does not exist.
pub(super) fn changed(path: &Path) -> Result<Option<Timestamp>> {
    let found = match fs::symlink_metadata(path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        found => found.and_then(|found| found.modified()),
    };
    let since =
        found.doing(|| format!("looking at {}", path.display()))?.duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Ok(Some(Timestamp::from_millis(millis)))
}

fn names_in(dir: &Path, suffix: &str) -> Result<Vec<Name>> {
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    if fsx::is_real_dir(dir)? { entries(dir, suffix, is_file) } else { Ok(Vec::new()) }
}

/// The valid names in a directory for which `counts` holds, sorted.
fn entries(dir: &Path, suffix: &str, counts: fn(&fs::DirEntry) -> bool) -> Result<Vec<Name>> {
    let listing = || format!("listing {}", dir.display());
    let found = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.doing(listing)?,
    };
    let mut names = Vec::new();
    for entry in found {
        let entry = entry.doing(listing)?;
        let name = entry.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(suffix));
        let name = stem.and_then(|stem| Name::parse("name", stem).ok());
        names.extend(name.filter(|_| counts(&entry)));
    }
    names.sort();
    Ok(names)
}
