//! The `file:` store beyond what every store has to do: what its files look
//! like, who else may have some in the same directory, and what happens to those.

mod damage;
mod foreign_files;
mod format;
mod housekeeping;
mod other_programs;
mod places;
mod sharing;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recoup_core::ErrorKind;
use recoup_core::FileCache;
use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::base::name::SafeName;
use recoup_core::entry::{
    EntryEvent, EntryEventKind, EntryRecord, EventBatch, EventDetail, RecordedSources,
};
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{FileStore, ScanFilter, ScanFlow, Store as _};
use tempfile::TempDir;

use crate::support::{START, draft};

/// What is left of an entry of ours.
const BROKEN: &str = r#"{"value":"v","expires_at":0,"recoup":{"header":{}}}"#;

/// A directory, and a store in it by a clock that stands still.
struct Scene {
    dir: TempDir,
    clock: ManualClock,
    store: FileStore,
}

impl Scene {
    fn new() -> Self {
        let (dir, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(START));
        let store = FileStore::at(dir.path(), Arc::new(clock.clone()));
        Self { dir, clock, store }
    }

    fn another(&self) -> FileStore {
        FileStore::at(self.dir.path(), Arc::new(self.clock.clone()))
    }

    fn file_cache(&self) -> FileCache {
        FileCache::with_clock(self.dir.path(), Arc::new(self.clock.clone())).unwrap()
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.path().join(format!("{key}.json"))
    }

    fn write(&self, key: &str, contents: &str) {
        fs::write(self.path(key), contents).unwrap();
    }

    fn text(&self, key: &str) -> String {
        fs::read_to_string(self.path(key)).unwrap()
    }

    /// What a scan shows: the keys, and the kind of error of those that can't be read.
    fn scanned(&self) -> Vec<(String, Option<ErrorKind>)> {
        let mut all = Vec::new();
        let visit = &mut |id: &EntryId, head: recoup_core::Result<&_>| {
            all.push((id.key.to_string(), head.err().map(|error| error.kind())));
            ScanFlow::Continue(())
        };
        self.store.scan(&ScanFilter::default(), visit).unwrap();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }

    fn tell(&self, name: &str, id: &EntryId, what: EntryEventKind, at: Timestamp) {
        let event = EntryEvent {
            at,
            id: id.clone(),
            kind: Kind::Result,
            what,
            count: 1,
            detail: EventDetail::default(),
        };
        let name = SafeName::parse("batch", name).unwrap();
        self.store.fold_batch(&EventBatch { name, events: vec![event] }).unwrap();
    }
}

fn mortal(body: &str, ttl: u64) -> EntryRecord {
    let mut draft = draft(body.to_owned());
    draft.ttl = Some(ttl);
    draft.seal(RecordedSources::default(), START).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}
