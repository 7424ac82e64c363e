//! The `dir:` store beyond the contract of all stores: what other tools find in
//! its directory, what they may do there, and what is left after a crash.

mod crashes;
mod crowds;
mod foreign_entries;
mod foreign_files;
mod healing;
mod index;
mod other_writers;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use recoup_core::base::clock::ManualClock;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::name::SafeName;
use recoup_core::cache::{
    Cache, CacheOptions, CacheParts, LookupRequest, MissReason, PathContext, PeekOutcome,
};
use recoup_core::entry::{
    Body, EntryEvent, EntryEventKind, EntryRecord, EventBatch, EventDetail, RecordedSources,
};
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{DirectoryStore, ScanFilter, Store, ThreadClaims};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Faults, START, body_of, draft, id, record, scanned};

/// A directory, and a store in it.
struct Scene {
    dir: TempDir,
    store: DirectoryStore,
    faults: Arc<Faults>,
}

fn directory(dir: impl Into<PathBuf>) -> DirectoryStore {
    DirectoryStore::at(dir, Faults::new())
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let faults = Faults::new();
        let store = DirectoryStore::at(dir.path().join("cache"), Arc::clone(&faults) as _);
        Self { dir, store, faults }
    }

    /// Entries `a`, `b`, … with their keys as bodies.
    fn with(keys: &[&str]) -> Self {
        let scene = Self::new();
        for key in keys {
            scene.put(key, key);
        }
        scene
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// At another time than our last write, also where clocks are coarse.
    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
        let dir = fs::File::open(self.path(name).parent().unwrap()).unwrap();
        dir.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn put(&self, key: &str, body: &str) {
        self.store.put(&id(key), &record(body.to_owned())).unwrap();
    }

    fn body(&self, key: &str) -> Option<String> {
        body_of(&self.store, &id(key)).map(|body| String::from_utf8(body).unwrap())
    }

    fn index(&self) -> Value {
        serde_json::from_str(&self.text("index.json")).unwrap()
    }

    /// The keys that the index lists.
    fn listed(&self) -> Vec<String> {
        self.index()["entries"].as_object().unwrap().keys().cloned().collect()
    }

    fn shown(&self) -> Vec<String> {
        scanned(&self.store, &ScanFilter::default()).iter().map(|id| id.key.to_string()).collect()
    }

    fn fold(&self, name: &str, events: &[(&str, EntryEventKind, u64)]) {
        let event = |(key, what, count): &(&str, EntryEventKind, u64)| EntryEvent {
            at: START.plus_millis(5_000),
            id: id(key),
            kind: Kind::Result,
            what: *what,
            count: *count,
            detail: EventDetail::default(),
        };
        let name = SafeName::parse("batch", name).unwrap();
        self.store
            .fold_batch(&EventBatch { name, events: events.iter().map(event).collect() })
            .unwrap();
    }

    /// How a look-up ends, seen from `root`.
    fn peek(&self, key: &str, root: &Path) -> PeekOutcome {
        let cache = Cache::from_parts(CacheParts {
            claims: Arc::new(ThreadClaims::default()),
            store: Arc::new(directory(self.root())),
            clock: Arc::new(ManualClock::at(START)),
            ledger: None,
            options: CacheOptions::default(),
        });
        let view = PathContext { root: root.to_owned(), cwd: root.to_owned() };
        cache.peek(&LookupRequest::new(Kind::Result, &id(key), &view))
    }

    fn miss(&self, key: &str, root: &Path) -> MissReason {
        match self.peek(key, root) {
            PeekOutcome::Miss(reason) => reason,
            other => panic!("no miss: {other:?}"),
        }
    }

    /// Does as another tool does: body first, then the whole index, no lock.
    fn other_tool_sets(&self, key: &str, body: &str, entry: Value) {
        self.write(&format!("results/{key}.json"), body);
        let mut index = match fs::read_to_string(self.path("index.json")) {
            Ok(text) => serde_json::from_str(&text).unwrap(),
            Err(_) => json!({
                "schema_version": "1.0.0", "created_at": "2026-01-22T00:00:00Z", "entries": {},
                "stats": {"hits": 0, "misses": 0, "invalidations": 0},
            }),
        };
        index["entries"][key] = entry;
        self.write("index.json", &serde_json::to_string_pretty(&index).unwrap());
    }
}

/// How another tool lists a body that it has just set.
fn theirs(body: &str) -> Value {
    let now = START.as_seconds() - 10;
    json!({
        "created_at": now, "cached_mtime": now, "source_paths": [],
        "integrity_hash": Sha256Digest::of(body.as_bytes()).to_hex(), "full_result_path": null,
        "hit_count": 0, "last_hit": null,
    })
}

fn with_full(full: &str) -> EntryRecord {
    let mut draft = draft("short");
    draft.full = Some(Body::from(full.to_owned()));
    draft.seal(RecordedSources::default(), START).unwrap()
}

fn full_name(full: &str) -> String {
    format!("full/{}.json", Sha256Digest::of(full.as_bytes()))
}

fn damaged(store: &dyn Store, id: &EntryId) -> bool {
    store.get(id).unwrap().unwrap().open().is_err()
}
