//! What readers have to say: a hit, a miss and why. A read appends one line;
//! the next write hands all lines to the store, each exactly once.
//!
//! ```text
//! DIR/open.log        lines are appended here
//! DIR/NAME.batch      closed; on its way into the store
//! DIR/fold.lock       held by the one process that folds
//! ```
//! A batch that was handed over is deleted. If we die in between, the store is
//! told again and passes over it, because it knows the batch's name.

mod line;
mod segment;

use std::path::{Path, PathBuf};

use crate::base::clock::SystemClock;
use crate::base::fsx::{self, FileLock};
use crate::base::ids;
use crate::base::name::Name;
use crate::entry::{Batch, Event};
use crate::error::{IoContext as _, Result};

const OPEN: &str = "open.log";
const CLOSED: &str = "batch";

/// A directory of events that a store has not been told yet.
#[derive(Debug, Clone)]
pub struct Ledger {
    dir: PathBuf,
}

impl Ledger {
    /// The ledger in `dir`, which is created when there is something to note.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Appends an event.
    pub fn note(&self, event: &Event) -> Result<()> {
        segment::append(&self.open_log(), line::write(event).as_bytes())
    }

    /// Hands everything that was noted to `tell`, batch by batch; says how many
    /// events that were. When another process is at it, it is left to that one.
    pub fn fold(&self, mut tell: impl FnMut(&Batch) -> Result<()>) -> Result<usize> {
        if !self.dir.is_dir() {
            return Ok(0);
        }
        let Some(_lock) = FileLock::try_acquire(&self.dir.join("fold.lock"))? else {
            return Ok(0);
        };
        let name = ids::fresh(&SystemClock);
        segment::close(&self.open_log(), &self.dir.join(format!("{name}.{CLOSED}")))?;
        let mut events = 0;
        for (name, path) in self.closed()? {
            let batch = Batch { name, events: read(&path)? };
            tell(&batch)?;
            fsx::remove(&path)?;
            events += batch.events.len();
        }
        Ok(events)
    }

    /// Whether something was noted lately: one look at the disk. What a process
    /// left behind when it died waits until then, or for a [`Ledger::fold`].
    pub fn is_due(&self) -> bool {
        self.open_log().exists()
    }

    fn open_log(&self) -> PathBuf {
        self.dir.join(OPEN)
    }

    /// Also those that a process left behind when it died; the oldest first.
    /// What has no name of ours is somebody else's.
    fn closed(&self) -> Result<Vec<(Name, PathBuf)>> {
        let listing = || format!("listing {}", self.dir.display());
        let mut batches = Vec::new();
        for entry in std::fs::read_dir(&self.dir).doing(listing)? {
            let path = entry.doing(listing)?.path();
            if path.extension().is_some_and(|extension| extension == CLOSED) && path.is_file() {
                batches.extend(name_of(&path).map(|name| (name, path)));
            }
        }
        batches.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
        Ok(batches)
    }
}

fn name_of(path: &Path) -> Option<Name> {
    Name::parse("batch", path.file_stem()?.to_str()?).ok()
}

/// A line that can't be read is passed over: it was cut off by a full disk, or
/// somebody else wrote it. One without its end may look whole, and is not.
fn read(path: &Path) -> Result<Vec<Event>> {
    // Two who append at once may go a little over the limit, each by a line.
    let text = fsx::read_start(path, segment::MAX_LEN)?;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter_map(|line| str::from_utf8(line).ok()?.strip_suffix('\n'));
    Ok(whole.filter_map(line::read).collect())
}
