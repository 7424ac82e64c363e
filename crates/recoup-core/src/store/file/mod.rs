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

mod answer;
mod cache;
mod evict;
mod fold;
mod format;
mod list;
mod look;
mod note;
mod tail;

use std::path::PathBuf;
use std::sync::Arc;

use self::format::{Parsed, Whose};
use self::list::Named;
use self::look::Nature;
use super::folder::Folder;
use super::plan::{clear_by_scan, scan_refined};
use super::{Evicted, EvictionPlan, Filter, Info, Probe, Store, Usage, Visit, nearest};
use crate::base::clock::Clock;
use crate::base::fsx::{self, Stamp};
use crate::entry::{Batch, Body, Head, Payload, Record, Tally};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Kind, Scope};

pub use cache::FileCache;

/// Records as JSON files in a directory, text only.
#[derive(Debug)]
pub struct Files {
    folder: Folder,
    clock: Arc<dyn Clock>,
}

impl Files {
    /// The store in `dir`. Nothing is opened or created before the first use. Entries that have
    /// expired by `clock` are removed when they are read.
    pub fn at(dir: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { folder: Folder::new(dir.into()), clock }
    }

    fn path_of(&self, id: &Id) -> PathBuf {
        list::path_in(self.folder.of(&id.scope), &id.key)
    }

    fn is_dead(&self, head: &Head) -> bool {
        head.header.dead_at().is_some_and(|at| at <= self.clock.now())
    }

    /// The path for a write, which must not lead through links.
    fn own_path_of(&self, id: &Id) -> Result<PathBuf> {
        let dir = self.folder.of(&id.scope);
        self.folder.refuse_links(&dir)?;
        Ok(list::path_in(dir, &id.key))
    }

    fn remove_one(&self, id: &Id) -> Result<bool> {
        let path = self.own_path_of(id)?;
        fsx::remove_if(&path, || look::is_entry(&path))
    }

    /// Best effort: the next read tries again.
    fn drop_dead(&self, id: &Id, stamp: Stamp) {
        let dropped = self.own_path_of(id).and_then(|path| fsx::try_remove_same(&path, stamp));
        dropped.ok();
    }

    /// The scopes that match a filter.
    fn scopes(&self, filter: &Filter) -> Result<Vec<Scope>> {
        filter.scope.as_ref().map_or_else(|| self.folder.scopes(), |scope| Ok(vec![scope.clone()]))
    }
}

impl Store for Files {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        let path = self.path_of(id);
        let Some(file) = look::regular(&path)? else { return Ok(None) };
        let Some(json) = look::contents(&file, &path)? else { return Ok(None) };
        let parsed = format::parse(&json, file.modified());
        let Some(parsed) = parsed.map_err(|error| error.context(path.display().to_string()))?
        else {
            return Ok(None);
        };
        if self.is_dead(&parsed.head) {
            self.drop_dead(id, file.stamp());
        }
        Ok(Some(Arc::new(record_of(parsed))))
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        let path = self.path_of(id);
        let Some(file) = look::regular(&path)? else { return Ok(None) };
        let Some(json) = look::contents(&file, &path)? else { return Ok(None) };
        let full =
            format::full(&json).map_err(|error| error.context(path.display().to_string()))?;
        Ok(full.map(Payload::Plain))
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        let json = format::entry(record)?;
        if json.len() as u64 > look::MAX_LEN {
            let message = format!("the result takes {} bytes, too many for one file", json.len());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let path = self.own_path_of(id)?;
        fsx::ensure_dir(fsx::parent(&path))?;
        fsx::replace_if(&path, &json, || look::is_entry(&path).map(drop))?;
        if let Some(death) = record.head.header.dead_at() {
            note::lower(&self.folder, death);
        }
        Ok(())
    }

    /// One failure does not stop the other removals.
    fn remove(&self, ids: &[Id]) -> Result<usize> {
        let (mut removed, mut done) = (0, Ok(()));
        for id in ids {
            match self.remove_one(id) {
                Ok(gone) => removed += usize::from(gone),
                Err(error) => done = done.and(Err(error)),
            }
        }
        done.map(|()| removed)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        fold::fold(&self.folder, batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        Ok(self.folder.counts()?.of(scope))
    }

    /// The kind of a broken entry is unknown: it is visited whatever kind is asked for.
    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        let wanted = |head: &Head| filter.kind.is_none_or(|kind| kind == head.header.kind);
        scan_refined(filter, visit, |filter, visit| {
            for scope in self.scopes(filter)? {
                for Named { key, path } in list::entries_in(&self.folder.of(&scope))? {
                    let id = Id::new(scope.clone(), key);
                    let flow = match look::at(&path)?.map(|seen| seen.nature) {
                        Some(Nature::Ours(head) | Nature::Guest(head)) if wanted(&head) => {
                            visit(&id, Ok(&head))
                        }
                        Some(Nature::Broken(error)) => visit(&id, Err(error)),
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

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        evict::carry_out(&self.folder, plan)
    }

    /// Includes entries of other programs, as a scan does.
    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        nearest::by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        let mut usage = Usage::default();
        for Named { path, .. } in list::entries_in(&self.folder.of(scope))? {
            if let Some(seen) = look::at(&path)? {
                usage.entries += 1;
                usage.bytes = usage.bytes.saturating_add(seen.bytes());
            }
        }
        Ok(usage)
    }

    fn info(&self) -> Info {
        let url = format!("file:{}", self.folder.root().display());
        // Other readers of the format know one expiry only, and remove expired entries.
        Info { url, durable: true, keeps_stale: false }
    }
}

fn record_of(Parsed { head, value, whose }: Parsed) -> Record {
    let payload = match whose {
        Whose::Ours => Payload::Plain(value),
        // Its checksum was just computed from it.
        Whose::Guest => Payload::Opened(Body::Whole(value)),
    };
    Record { payload, head, full: None }
}
