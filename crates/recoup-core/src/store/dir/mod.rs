//! `dir:DIR`: the directory of the semantic-cache protocol, for tools that read that layout.
//!
//! ```text
//! index.json               the entries, for other tools, and those that they added
//! results/K.json           a body, byte for byte
//! full/SHA256.json         a full result, once for all entries that share it
//! .gitignore               excludes all of it
//! .recoup/heads/K.json     our head: the header as sealed, times, hits
//! .recoup/made/SHA256.json marks a full result as ours
//! .recoup/catalogue        what eviction needs to know of all entries
//! ```
//! Each scope has such a directory. That of `global` also has the lock, the event counts
//! (`folder.rs`) and `.recoup/deaths.json`, the first expiry in each scope.
//!
//! **Head and body are authoritative.** A read opens these two and takes no lock; the index is
//! consulted only for entries of other tools. `layout.rs` describes how the two are replaced so that
//! a reader always finds a matching pair, and how a crash in between is resolved. Every write
//! rewrites the index, so that it takes longer the more entries there are: beyond some thousand,
//! SQLite is the better choice.
//!
//! Any file may be changed or removed by others at any time: see `open_scope.rs`. Other tools take no
//! lock: their concurrent changes to the index are merged (`index.rs`). Files that we did
//! not make are not touched, and no link below the directory is followed.

mod catalogue;
mod index;
mod layout;
mod listed_entry;
mod maintenance;
mod open_scope;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::folder::{StoreFolder, payload_text};
use super::plan::{clear_by_scan, scan_refined};
use super::{
    EvictionPlan, EvictionReport, FaultLog, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe,
    Store, StoreInfo, nearest,
};
use crate::entry::{EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use index::IndexCache;
use layout::{MAX_LEN, ScopeLayout};
use open_scope::OpenScope;

/// Entries in plain files, in the layout of the semantic-cache protocol.
#[derive(Debug)]
pub struct DirectoryStore {
    folder: StoreFolder,
    faults: Arc<dyn FaultLog>,
    parsed: Arc<IndexCache>,
}

impl DirectoryStore {
    /// The store in `dir`. Nothing is opened or created before the first use. `faults` hears of
    /// indexes that had to be set aside.
    pub fn at(dir: impl Into<PathBuf>, faults: Arc<dyn FaultLog>) -> Self {
        Self { folder: StoreFolder::new(dir.into()), faults, parsed: Arc::default() }
    }

    /// Makes git ignore the directory, unless it has a `.gitignore`. For callers that write other
    /// files into it before there is an entry.
    pub fn hide_from_git(&self) -> Result<()> {
        self.layout(&Scope::global())?.hide_from_git()
    }

    /// The layout of a scope, if no link leads out of the directory.
    fn layout(&self, scope: &Scope) -> Result<ScopeLayout> {
        self.layout_without_links(scope, ScopeLayout::written_directories)
    }

    fn layout_without_links<const N: usize>(
        &self,
        scope: &Scope,
        places: fn(&ScopeLayout) -> [PathBuf; N],
    ) -> Result<ScopeLayout> {
        let layout = ScopeLayout::new(self.folder.scope_dir(scope), Arc::clone(&self.parsed));
        places(&layout).iter().try_for_each(|dir| self.folder.refuse_links(dir))?;
        Ok(layout)
    }

    fn log_fault(&self, error: &Error) {
        self.faults.fault(&self.info().url, error);
    }
}

impl Store for DirectoryStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        read::get(&self.layout_without_links(&id.scope, ScopeLayout::read_directories)?, &id.key)
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        read::full(&self.layout(&id.scope)?, &id.key)
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        let header = &record.head.header;
        let body = payload_text(&record.payload, &header.body)?;
        let full = match (&record.full, &header.full) {
            (Some(full), Some(info)) => Some(payload_text(full, info)?),
            _ => None,
        };
        for contents in std::iter::once(&body).chain(&full) {
            // It could not be read again.
            let len = contents.len() as u64;
            if len > MAX_LEN {
                let message =
                    format!("the result has {len} bytes; this store keeps at most {MAX_LEN}");
                return Err(Error::new(ErrorKind::Invalid, message));
            }
        }
        let _lock = self.folder.lock()?;
        let mut opened = OpenScope::open(self, &id.scope)?;
        opened.put(&id.key, &record.head, &body, full.as_deref())?;
        opened.save()
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        let mut by_scope: BTreeMap<&Scope, Vec<&Key>> = BTreeMap::new();
        for id in ids {
            by_scope.entry(&id.scope).or_default().push(&id.key);
        }
        let mut used = Vec::new();
        for (scope, keys) in by_scope {
            if self.layout(scope)?.is_used()? {
                used.push((scope, keys));
            }
        }
        if used.is_empty() {
            return Ok(0);
        }
        let _lock = self.folder.lock()?;
        let mut removed = 0;
        for (scope, keys) in used {
            let mut opened = OpenScope::open(self, scope)?;
            for key in keys {
                removed += usize::from(opened.remove(key)?);
            }
            opened.save()?;
        }
        Ok(removed)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        maintenance::fold(self, batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        Ok(self.folder.load_counts()?.for_scope(scope))
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        scan_refined(filter, visit, |filter, visit| {
            let scopes = match &filter.scope {
                Some(scope) => vec![scope.clone()],
                None => self.folder.scopes()?,
            };
            for scope in scopes {
                if read::scan(&self.layout(&scope)?, &scope, filter, visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        maintenance::evict(self, plan)
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        nearest::nearest_by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        read::usage(&self.layout(scope)?)
    }

    fn info(&self) -> StoreInfo {
        let url = format!("dir:{}", self.folder.root().display());
        StoreInfo { url, durable: true, keeps_stale: true }
    }
}
