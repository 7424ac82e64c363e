//! The store in a directory of JSON files, one for each entry: the format of contract 3, which
//! other programs read and write too, with our head as one more field.
//!
//! ```text
//! DIR/KEY.json             an entry of the scope `global`
//! DIR/tenant/NAME/KEY.json one of the scope `tenant:NAME`, and so on
//! DIR/KEY.json.tmp-recoup-… a file that is being written
//! DIR/.recoup/             our lock, event counts, and the time of the next expiry
//! ```
//! A file's content decides (`classify.rs`) whether it is ours, another program's entry, or
//! unrelated, such as a `package.json`. On a case-insensitive file system, keys that differ only in
//! case are one.

mod cache;
mod classify;
mod evict;
mod fold;
mod format;
mod list;
mod next_expiry;
mod shared_fields;
mod tail;

use std::path::PathBuf;
use std::sync::Arc;

use self::classify::EntryFileKind;
use self::format::{EntryOwner, ParsedEntry};
use self::list::EntryPath;
use super::folder::StoreFolder;
use super::plan::{clear_by_scan, scan_refined};
use super::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo, nearest,
};
use crate::base::clock::Clock;
use crate::base::fsx::{self, FileVersionStamp};
use crate::entry::{Body, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};

pub use cache::FileCache;

/// Records as JSON files in a directory, text only.
#[derive(Debug)]
pub struct FileStore {
    folder: StoreFolder,
    clock: Arc<dyn Clock>,
}

impl FileStore {
    /// The store in `dir`. Nothing is opened or created before the first use. Entries that have
    /// expired by `clock` are removed when they are read.
    pub fn at(dir: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { folder: StoreFolder::new(dir.into()), clock }
    }

    fn path_of(&self, id: &EntryId) -> PathBuf {
        list::path_in(self.folder.scope_dir(&id.scope), &id.key)
    }

    fn is_dead(&self, head: &EntryHead) -> bool {
        head.header.deletable_at().is_some_and(|at| at <= self.clock.now())
    }

    /// The path for a write, which must not lead through links.
    fn writable_path_of(&self, id: &EntryId) -> Result<PathBuf> {
        let dir = self.folder.scope_dir(&id.scope);
        self.folder.refuse_links(&dir)?;
        Ok(list::path_in(dir, &id.key))
    }

    fn remove_one(&self, id: &EntryId) -> Result<bool> {
        let path = self.writable_path_of(id)?;
        fsx::remove_if(&path, || classify::is_entry(&path))
    }

    /// Best effort: the next read tries again.
    fn remove_expired(&self, id: &EntryId, stamp: FileVersionStamp) {
        let dropped =
            self.writable_path_of(id).and_then(|path| fsx::try_remove_if_unchanged(&path, stamp));
        dropped.ok();
    }

    /// The scopes that match a filter.
    fn scopes(&self, filter: &ScanFilter) -> Result<Vec<Scope>> {
        filter.scope.as_ref().map_or_else(|| self.folder.scopes(), |scope| Ok(vec![scope.clone()]))
    }
}

impl Store for FileStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        let path = self.path_of(id);
        let Some(file) = classify::open_entry_file(&path)? else { return Ok(None) };
        let Some(json) = classify::read_contents(&file, &path)? else { return Ok(None) };
        let parsed = format::parse(&json, file.modified());
        let Some(parsed) = parsed.map_err(|error| error.context(path.display().to_string()))?
        else {
            return Ok(None);
        };
        if self.is_dead(&parsed.head) {
            self.remove_expired(id, file.stamp());
        }
        Ok(Some(Arc::new(record_of(parsed))))
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        let path = self.path_of(id);
        let Some(file) = classify::open_entry_file(&path)? else { return Ok(None) };
        let Some(json) = classify::read_contents(&file, &path)? else { return Ok(None) };
        let full = format::parse_full_result(&json)
            .map_err(|error| error.context(path.display().to_string()))?;
        Ok(full.map(StoredBody::Plain))
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        let json = format::render_entry(record)?;
        if json.len() as u64 > classify::MAX_LEN {
            let message = format!("the result takes {} bytes, too many for one file", json.len());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let path = self.writable_path_of(id)?;
        fsx::ensure_dir(fsx::parent(&path))?;
        fsx::replace_if(&path, &json, || classify::is_entry(&path).map(drop))?;
        if let Some(death) = record.head.header.deletable_at() {
            next_expiry::lower_to(&self.folder, death);
        }
        Ok(())
    }

    /// One failure does not stop the other removals.
    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        let (mut removed, mut done) = (0, Ok(()));
        for id in ids {
            match self.remove_one(id) {
                Ok(gone) => removed += usize::from(gone),
                Err(error) => done = done.and(Err(error)),
            }
        }
        done.map(|()| removed)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        fold::fold(&self.folder, batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        Ok(self.folder.load_counts()?.for_scope(scope))
    }

    /// The kind of a broken entry is unknown: it is visited whatever kind is asked for.
    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        let wanted = |head: &EntryHead| filter.kind.is_none_or(|kind| kind == head.header.kind);
        scan_refined(filter, visit, |filter, visit| {
            for scope in self.scopes(filter)? {
                for EntryPath { key, path } in list::entries_in(&self.folder.scope_dir(&scope))? {
                    let id = EntryId::new(scope.clone(), key);
                    let flow = match classify::inspect(&path)?.map(|seen| seen.nature) {
                        Some(EntryFileKind::Ours(head) | EntryFileKind::Guest(head))
                            if wanted(&head) =>
                        {
                            visit(&id, Ok(&head))
                        }
                        Some(EntryFileKind::Broken(error)) => visit(&id, Err(error)),
                        _ => continue,
                    };
                    if flow.is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        evict::carry_out(&self.folder, plan)
    }

    /// Includes entries of other programs, as a scan does.
    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        nearest::nearest_by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        let mut usage = ScopeUsage::default();
        for EntryPath { path, .. } in list::entries_in(&self.folder.scope_dir(scope))? {
            if let Some(seen) = classify::inspect(&path)? {
                usage.entries += 1;
                usage.bytes = usage.bytes.saturating_add(seen.bytes());
            }
        }
        Ok(usage)
    }

    fn info(&self) -> StoreInfo {
        let url = format!("file:{}", self.folder.root().display());
        // Other readers of the format know one expiry only, and remove expired entries.
        StoreInfo { url, durable: true, keeps_stale: false }
    }
}

fn record_of(ParsedEntry { head, value, whose }: ParsedEntry) -> EntryRecord {
    let payload = match whose {
        EntryOwner::Ours => StoredBody::Plain(value),
        // Its checksum was just computed from it.
        EntryOwner::Guest => StoredBody::Opened(Body::Whole(value)),
    };
    EntryRecord { payload, head, full: None }
}
