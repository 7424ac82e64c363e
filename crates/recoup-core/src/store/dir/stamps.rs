//! Stamps of files and directories, to detect changes by others.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::layout::ScopeLayout;
use crate::base::clock::{Clock as _, SystemClock};

/// Two changes within this time may leave the same timestamps.
const SETTLES_MS: i64 = 100;

/// Modified, changed (both in nanoseconds), inode, length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StatStamp(i64, i64, u64, u64);

impl StatStamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        let nanos =
            |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let (mtime, ctime) =
            (nanos(meta.mtime(), meta.mtime_nsec()), nanos(meta.ctime(), meta.ctime_nsec()));
        Self(mtime, ctime, meta.ino(), meta.len())
    }

    /// `None` if the file does not exist.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|meta| Self::of(&meta))
    }

    /// True if any change from now on will be noticed.
    pub(super) fn is_settled(self) -> bool {
        self.1 / 1_000_000 + SETTLES_MS < SystemClock.now().as_millis()
    }
}

/// Stamps of a scope after its last write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ScopeStamps {
    pub(super) heads: Option<StatStamp>,
    bodies: Option<StatStamp>,
    /// Number of bodies: one that is removed right after a write may leave the timestamps of that
    /// write.
    count: usize,
    pub(super) index: Option<StatStamp>,
}

impl ScopeStamps {
    pub(super) fn of(layout: &ScopeLayout) -> Self {
        Self {
            heads: StatStamp::at(&layout.heads()),
            bodies: StatStamp::at(&layout.bodies()),
            count: fs::read_dir(layout.bodies()).map_or(0, Iterator::count),
            index: StatStamp::at(&layout.index()),
        }
    }

    /// These stamps with another stamp of the index.
    pub(super) fn with_index(self, index: Option<StatStamp>) -> Self {
        Self { index, ..self }
    }
}
