//! Catalogue of our entries, one file per scope: what eviction and statistics need, so that a write
//! opens no heads but its own.
//!
//! The file exists only while it is correct: a writer removes it before any change, and writes it
//! again at the end. It also holds the stamps of the directories and the index, to detect changes
//! by others.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::layout::{HeadFile, ScopeLayout, read_rebuildable};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::digest::Sha256Digest;
use crate::base::fsx;
use crate::entry::EntryHead;
use crate::error::Result;
use crate::key::{Key, Kind, Scope};
use crate::store::ScopeUsage;
use crate::store::folder::StoreFolder;

/// In place of the expiry of an entry that does not expire.
const NEVER: &str = "-";
/// Upper bound for the length of its first line.
const FIRST_LINE: u64 = 1_024;
/// Two changes within this time may leave the same timestamps.
const SETTLES_MS: i64 = 100;

/// Catalogue data of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogueEntry {
    pub(super) kind: Kind,
    /// Size of body and header.
    bytes: u64,
    /// Digest of the body. In hex, because thousands are read and written at a time and hardly one
    /// is used.
    sha256: String,
    pub(super) full: Option<SharedFullResult>,
    dies: Option<Timestamp>,
    pub(super) used: Timestamp,
}

/// A full result, which several entries may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SharedFullResult {
    pub(super) sha256: Sha256Digest,
    len: u64,
}

impl CatalogueEntry {
    pub(super) fn of(stored: &HeadFile, head: &EntryHead) -> Self {
        let header = &head.header;
        Self {
            kind: header.kind,
            bytes: header.body.raw_len.saturating_add(stored.header_len()),
            sha256: header.body.sha256.to_hex(),
            full: header
                .full
                .map(|full| SharedFullResult { sha256: full.sha256, len: full.raw_len }),
            dies: header.deletable_at(),
            used: head.last_used,
        }
    }

    /// `KEY KIND BYTES SHA256 USED DIES`, and `FULL LENGTH` for an entry with a full result. Keys
    /// are names, which have no spaces.
    fn write(&self, key: &Key, text: &mut String) {
        let Self { kind, bytes, sha256, full, dies, used } = self;
        let (bytes, used) = (bytes.to_string(), used.as_millis().to_string());
        let dies = dies.map_or_else(|| NEVER.to_owned(), |at| at.as_millis().to_string());
        let words = [key.as_str(), kind.as_str(), &bytes, sha256, &used, &dies];
        text.extend(words.iter().flat_map(|word| [word, " "]));
        if let Some(SharedFullResult { sha256, len }) = full {
            text.extend([&sha256.to_hex(), " ", &len.to_string()]);
        }
        text.push('\n');
    }

    fn parse(line: &str) -> Option<(Key, Self)> {
        let mut words = line.split_ascii_whitespace();
        let mut next = || words.next();
        let moment = |word: &str| word.parse().ok().map(Timestamp::from_millis);
        let key = Key::parse(next()?).ok()?;
        let (kind, bytes) = (Kind::from_name(next()?)?, next()?.parse().ok()?);
        let (sha256, used) = (next()?.to_owned(), moment(next()?)?);
        let dies = match next()? {
            NEVER => None,
            word => Some(moment(word)?),
        };
        let full = match next() {
            None => None,
            Some(word) => Some(SharedFullResult {
                sha256: Sha256Digest::from_hex(word)?,
                len: next()?.parse().ok()?,
            }),
        };
        Some((key, Self { kind, bytes, sha256, full, dies, used }))
    }

    pub(super) fn has_body(&self, body: Sha256Digest) -> bool {
        self.sha256 == body.to_hex()
    }

    pub(super) fn is_dead(&self, now: Timestamp) -> bool {
        self.dies.is_some_and(|at| at <= now)
    }
}

/// All entries of ours in one scope.
pub(super) type CatalogueEntries = BTreeMap<Key, CatalogueEntry>;

/// The first expiry among the entries.
pub(super) fn first_expiry(facts: &CatalogueEntries) -> Option<Timestamp> {
    facts.values().filter_map(|fact| fact.dies).min()
}

/// Total size of entries. A full result counts once for each kind that has it, because limits apply
/// per kind.
#[derive(Debug, Default)]
pub(super) struct UsageSum {
    pub(super) usage: ScopeUsage,
    fulls: HashMap<(Kind, SharedFullResult), u64>,
}

impl UsageSum {
    pub(super) fn of<'a>(facts: impl Iterator<Item = &'a CatalogueEntry>) -> Self {
        let mut sum = Self::default();
        for fact in facts {
            sum.usage.entries += 1;
            sum.usage.bytes = sum.usage.bytes.saturating_add(fact.bytes);
            if let Some(full) = fact.full {
                let sharers = sum.fulls.entry((fact.kind, full)).or_default();
                *sharers += 1;
                if *sharers == 1 {
                    sum.usage.bytes = sum.usage.bytes.saturating_add(full.len);
                }
            }
        }
        sum
    }

    pub(super) fn subtract(&mut self, fact: &CatalogueEntry) {
        self.usage.entries = self.usage.entries.saturating_sub(1);
        self.usage.bytes = self.usage.bytes.saturating_sub(fact.bytes);
        if let Some(full) = fact.full
            && let Some(sharers) = self.fulls.get_mut(&(fact.kind, full))
        {
            *sharers = sharers.saturating_sub(1);
            if *sharers == 0 {
                self.usage.bytes = self.usage.bytes.saturating_sub(full.len);
            }
        }
    }
}

/// The catalogue as it was written.
#[derive(Debug)]
pub(super) struct ScopeCatalogue {
    pub(super) stamps: ScopeStamps,
    pub(super) facts: CatalogueEntries,
}

impl ScopeCatalogue {
    /// `None` if it is missing or unreadable: then the heads are read.
    pub(super) fn read(layout: &ScopeLayout) -> Option<Self> {
        let found = read_rebuildable(&layout.catalogue())?;
        Self::parse(str::from_utf8(&found).ok()?)
    }

    /// The catalogue, if nothing was changed since it was written.
    pub(super) fn read_current(layout: &ScopeLayout) -> Option<Self> {
        Self::read(layout).filter(|found| found.stamps == ScopeStamps::of(layout))
    }

    /// True if the index is the one that we wrote. Reads only the first line of the catalogue.
    pub(super) fn is_index_current(layout: &ScopeLayout) -> bool {
        let known = || {
            let start = fsx::read_start(&layout.catalogue(), FIRST_LINE).ok()?;
            let line = start.split(|byte| *byte == b'\n').next()?;
            let (stamps, _): (ScopeStamps, usize) = serde_json::from_slice(line).ok()?;
            stamps.index
        };
        // Opening a pipe would block.
        layout.catalogue().is_file() && known() == StatStamp::at(&layout.index())
    }

    /// The stamps and the number of entries as JSON, then a line for each entry: the whole file is
    /// read and written each time, and lines take a fraction of the time of JSON. The number shows
    /// whether the file is complete.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (stamps, count): (ScopeStamps, usize) = serde_json::from_str(lines.next()?).ok()?;
        let facts = lines.map(CatalogueEntry::parse).collect::<Option<CatalogueEntries>>()?;
        (facts.len() == count).then_some(Self { stamps, facts })
    }

    /// Writes the catalogue for an index with this stamp.
    pub(super) fn write(
        layout: &ScopeLayout,
        facts: &CatalogueEntries,
        index: Option<StatStamp>,
    ) -> Result<()> {
        let first = (ScopeStamps { index, ..ScopeStamps::of(layout) }, facts.len());
        let mut text = serde_json::to_string(&first).expect("numbers always serialize");
        text.push('\n');
        for (key, fact) in facts {
            fact.write(key, &mut text);
        }
        layout.write(&layout.catalogue(), text.as_bytes()).map(drop)
    }
}

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
}

/// First expiry by scope; `None` for a scope in which nothing expires.
#[derive(Debug, Default)]
pub(super) struct ExpiryIndex(BTreeMap<String, Option<Timestamp>>);

impl ExpiryIndex {
    /// Empty if the file cannot be read.
    pub(super) fn read(folder: &StoreFolder) -> Self {
        let json = read_rebuildable(&expiry_index_path(folder));
        Self(json.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default())
    }

    /// True if an entry of the scope may have expired; also for an unknown scope.
    pub(super) fn may_have_expired(&self, scope: &Scope, now: Timestamp) -> bool {
        self.0.get(scope.as_str()).is_none_or(|first| first.is_some_and(|first| first <= now))
    }
}

/// Records the first expiry of a scope. The caller must hold the lock. Best effort: without the
/// file, all scopes are checked.
pub(super) fn record_first_expiry(folder: &StoreFolder, scope: &Scope, first: Option<Timestamp>) {
    let mut expiries = ExpiryIndex::read(folder);
    if expiries.0.insert(scope.to_string(), first) == Some(first) {
        return;
    }
    let json = serde_json::to_vec(&expiries.0).expect("text and numbers always serialize");
    if fsx::write_unsynced(&expiry_index_path(folder), &json).is_err() {
        let _ = fsx::remove(&expiry_index_path(folder));
    }
}

fn expiry_index_path(folder: &StoreFolder) -> PathBuf {
    folder.private_dir().join("deaths.json")
}
