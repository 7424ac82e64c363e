//! How files and directories looked, to see whether others were there since.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::base::clock::{Clock as _, SystemClock};

/// For so long after a change the next one may leave the same times behind.
const SETTLES_MS: i64 = 100;

/// Modified, changed (both in nanoseconds), inode, length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp(i64, i64, u64, u64);

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        let nanos =
            |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let (mtime, ctime) =
            (nanos(meta.mtime(), meta.mtime_nsec()), nanos(meta.ctime(), meta.ctime_nsec()));
        Self(mtime, ctime, meta.ino(), meta.len())
    }

    /// None where there is nothing.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|meta| Self::of(&meta))
    }

    /// Whether any change from now on will show.
    pub(super) fn is_settled(self) -> bool {
        self.1 / 1_000_000 + SETTLES_MS < SystemClock.now().as_millis()
    }
}

/// How everything looked when it was last written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamps {
    pub(super) heads: Option<Stamp>,
    bodies: Option<Stamp>,
    /// How many there were: a body that goes right after a write may leave the
    /// times of that write behind.
    count: usize,
    pub(super) index: Option<Stamp>,
}

impl Stamps {
    pub(super) fn of(layout: &Layout) -> Self {
        Self {
            heads: Stamp::at(&layout.heads()),
            bodies: Stamp::at(&layout.bodies()),
            count: fs::read_dir(layout.bodies()).map_or(0, Iterator::count),
            index: Stamp::at(&layout.index()),
        }
    }

    /// The same with an index that looked like that.
    pub(super) fn with_index(self, index: Option<Stamp>) -> Self {
        Self { index, ..self }
    }
}
