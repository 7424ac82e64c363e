//! The hit log: one JSON object for each hit, for people and their tools. Names
//! and numbers, never bodies.
//!
//! ```text
//! DIR/hits.jsonl      lines are appended here
//! DIR/hits.1.jsonl    the one before, and so on; the last goes when another comes
//! DIR/hits.lock       held by the one process that moves them on
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::base::clock::{Deadline, Timestamp};
use crate::base::fsx::{self, FileLock};
use crate::entry::{Cost, Identity};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Kind};

/// How large a file gets, and how many there are.
const MAX_LEN: u64 = 10 << 20;
const FILES: usize = 5;
/// How often an appender may find that the file was moved under its hands.
const TRIES: usize = 10;
/// How long to wait for those who are just appending.
const WAIT: Duration = Duration::from_secs(1);

/// Where hits are written down.
#[derive(Debug, Clone)]
pub struct HitLog {
    dir: PathBuf,
    max_len: u64,
}

/// One hit, as it is written down.
#[derive(Debug, Clone)]
pub struct Hit<'a> {
    /// When.
    pub at: Timestamp,
    /// Of which kind.
    pub kind: Kind,
    /// Which entry.
    pub id: &'a Id,
    /// How old it was, in milliseconds.
    pub age: u64,
    /// Who asked, as far as is known.
    pub current: Option<&'a Identity>,
    /// Who made it.
    pub stored: &'a Identity,
    /// What was saved.
    pub saved: Cost,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    kind: Kind,
    scope: &'a str,
    key: &'a str,
    age_ms: u64,
    current: Option<&'a Identity>,
    stored: &'a Identity,
    saved: Cost,
}

impl HitLog {
    /// The log in `dir`, which is made when there is something to write down.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), max_len: MAX_LEN }
    }

    /// The same with files of about that length.
    #[must_use]
    pub fn with_max_len(self, max_len: u64) -> Self {
        Self { max_len, ..self }
    }

    /// Where the latest are.
    pub fn path(&self) -> PathBuf {
        self.dir.join("hits.jsonl")
    }

    fn older(&self, number: usize) -> PathBuf {
        self.dir.join(format!("hits.{number}.jsonl"))
    }

    /// Appends whole lines.
    pub(super) fn append(&self, lines: &[u8]) -> Result<()> {
        let path = self.path();
        if len(&path) >= self.max_len {
            self.move_on()?;
        }
        for _ in 0..TRIES {
            if fsx::append_shared(&path, lines, u64::MAX)? {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Locked, format!("{} is moved all the time", path.display())))
    }

    /// Looks again once it is alone: another may just have done it. While that one
    /// is at it, the file may become a little longer.
    fn move_on(&self) -> Result<()> {
        let Some(_lock) = FileLock::try_acquire(&self.dir.join("hits.lock"))? else {
            return Ok(());
        };
        if len(&self.path()) < self.max_len {
            return Ok(());
        }
        for number in (1..FILES - 1).rev() {
            if self.older(number).exists() {
                fsx::rename(&self.older(number), &self.older(number + 1))?;
            }
        }
        fsx::rename_and_settle(&self.path(), &self.older(1), Deadline::after(WAIT))
    }
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// The line, with its end.
pub(super) fn line(hit: &Hit<'_>) -> Vec<u8> {
    let Hit { at, kind, id, age, current, stored, saved } = hit;
    let line = Line {
        at: at.to_string(),
        kind: *kind,
        scope: id.scope.as_str(),
        key: id.key.as_str(),
        age_ms: *age,
        current: *current,
        stored,
        saved: *saved,
    };
    let mut json = serde_json::to_vec(&line).expect("text and numbers always serialize");
    json.push(b'\n');
    json
}
