//! The store in a directory of JSON files, one for each entry: the file-cache format, which
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
mod format;

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::{StoreFolder, visit_entries};
use super::plan::{clear_by_scan, scan_refined};
use super::tallies::BatchSums;
use super::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo, nearest,
};
use crate::base::clock::Clock;
use crate::base::fsx;
use crate::entry::{Body, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use classify::EntryFileKind;
use format::{CLOSING, EntryOwner, ParsedEntry};

pub use cache::FileCache;

/// Extension of an entry's file.
const ENDING: &str = ".json";

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
        path_in(self.folder.scope_dir(&id.scope), &id.key)
    }

    /// The path for a write, which must not lead through links.
    fn writable_path_of(&self, id: &EntryId) -> Result<PathBuf> {
        let dir = self.folder.scope_dir(&id.scope);
        self.folder.refuse_links(&dir)?;
        Ok(path_in(dir, &id.key))
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
        let ParsedEntry { head, value, whose } = parsed;
        if head.header.deletable_at().is_some_and(|at| at <= self.clock.now()) {
            // Best effort: the next read tries again.
            let path = self.writable_path_of(id);
            path.and_then(|path| fsx::try_remove_if_unchanged(&path, file.stamp())).ok();
        }
        let payload = match whose {
            EntryOwner::Ours => StoredBody::Plain(value),
            // Its checksum was just computed from it.
            EntryOwner::Guest => StoredBody::Opened(Body::Whole(value)),
        };
        Ok(Some(Arc::new(EntryRecord { payload, head, full: None })))
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
        if let Some(expiry) = record.head.header.deletable_at() {
            evict::lower_next_expiry(&self.folder, expiry);
        }
        Ok(())
    }

    /// One failure does not stop the other removals.
    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        let (mut removed, mut done) = (0, Ok(()));
        for id in ids {
            let gone = self
                .writable_path_of(id)
                .and_then(|path| fsx::remove_if(&path, || classify::is_entry(&path)));
            match gone {
                Ok(gone) => removed += usize::from(gone),
                Err(error) => done = done.and(Err(error)),
            }
        }
        done.map(|()| removed)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    /// Counts are saved first, then applied to the entries. After a crash in between, all counts
    /// are right and some hits are missing from the entries' heads.
    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        let sums = BatchSums::of(batch);
        let _turn = self.folder.lock()?;
        let mut counts = self.folder.load_counts()?;
        if !counts.add(batch, &sums) {
            return Ok(());
        }
        self.folder.save_counts(&counts)?;
        // The batch is not repeated, so one failure must not stop the others.
        let mut done = Ok(());
        for id in sums.damaged.keys() {
            // Checked again, because the damage was found some time ago: an entry that was restored
            // or stored again stays, whatever the clocks say.
            let dropped = self.writable_path_of(id).and_then(|path| {
                fsx::remove_if(&path, || {
                    let Some(file) = classify::open_entry_file(&path)? else { return Ok(false) };
                    let Some(json) = classify::read_contents(&file, &path)? else {
                        return Ok(false);
                    };
                    Ok(match format::parse(&json, file.modified()) {
                        Ok(Some(ParsedEntry { head, value, whose: EntryOwner::Ours })) => {
                            StoredBody::Plain(value).open(&head.header.body).is_err()
                        }
                        Ok(_) => false,
                        Err(error) => error.kind() == ErrorKind::Corrupt,
                    })
                })
            });
            done = done.and(dropped.map(drop));
        }
        for (id, (hits, last)) in &sums.served {
            let with_hits = |closing: &[u8]| format::with_hits(closing, *hits, *last);
            let path = self.writable_path_of(id);
            done = done.and(path.and_then(|path| fsx::rewrite_tail(&path, CLOSING, with_hits)));
        }
        done
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        Ok(self.folder.load_counts()?.for_scope(scope))
    }

    /// The kind of a broken entry is unknown: it is visited whatever kind is asked for.
    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        let wanted = |head: &EntryHead| filter.kind.is_none_or(|kind| kind == head.header.kind);
        scan_refined(filter, visit, |filter, visit| {
            let scopes = match &filter.scope {
                Some(scope) => vec![scope.clone()],
                None => self.folder.scopes()?,
            };
            for scope in scopes {
                for EntryPath { key, path } in entries_in(&self.folder.scope_dir(&scope))? {
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
        for EntryPath { path, .. } in entries_in(&self.folder.scope_dir(scope))? {
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

/// A file whose name is that of an entry.
#[derive(Debug)]
struct EntryPath {
    key: Key,
    path: PathBuf,
}

/// Path of an entry in the directory of its scope.
fn path_in(mut dir: PathBuf, key: &Key) -> PathBuf {
    dir.reserve(key.as_str().len() + ENDING.len() + 1);
    dir.push(key.as_str());
    dir.as_mut_os_string().push(ENDING);
    dir
}

/// The files that could be entries; none if the directory does not exist.
fn entries_in(dir: &Path) -> Result<Vec<EntryPath>> {
    let mut found = Vec::new();
    visit_files(dir, &mut |file, name| {
        found.extend(key_of(name).map(|key| EntryPath { key, path: file.path() }));
    })?;
    Ok(found)
}

/// The contents of a directory, judged by names and sizes alone.
#[derive(Debug, Default)]
struct FolderSurvey {
    /// Number of possible entries, an upper bound for those of ours.
    entries: u64,
    /// Total size of those.
    bytes: u64,
    /// Temporary files of entries, whether or not their writers are alive.
    temporaries: Vec<PathBuf>,
}

fn survey(dir: &Path) -> Result<FolderSurvey> {
    let mut seen = FolderSurvey::default();
    visit_files(dir, &mut |file, name| {
        if key_of(name).is_some() {
            // A file that is gone meanwhile has no size.
            let len = file.metadata().map_or(0, |metadata| metadata.len());
            seen.bytes = seen.bytes.saturating_add(len);
            seen.entries += 1;
        } else if is_temporary(name) {
            seen.temporaries.push(file.path());
        }
    })?;
    Ok(seen)
}

fn is_temporary(name: &str) -> bool {
    fsx::temporary_target(name).and_then(key_of).is_some()
}

/// The regular files whose names are wanted.
fn paths_named(dir: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    visit_files(dir, &mut |file, name| found.extend(is_wanted(name).then(|| file.path())))?;
    Ok(found)
}

fn key_of(name: &str) -> Option<Key> {
    Key::parse(name.strip_suffix(ENDING)?).ok()
}

/// Visits regular files. Links are not followed.
fn visit_files(dir: &Path, visit: &mut dyn FnMut(&DirEntry, &str)) -> Result<()> {
    visit_entries(dir, &mut |entry, name| {
        if entry.file_type().is_ok_and(|sort| sort.is_file()) {
            visit(entry, name);
        }
    })
}
