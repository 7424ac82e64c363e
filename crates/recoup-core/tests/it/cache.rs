//! The cache over a store: what is fresh, what is a miss and why, and what a
//! permit takes.

mod cache_modes;
mod explain;
mod faults;
mod freshness;
mod git_head;
mod ignored_files;
mod ledger_events;
mod limits;
mod order;
mod outputs;
mod patterns;
mod project_files;
mod since_tokens;
mod sources;
mod start_times;
mod state_sources;
mod touched_sources;
mod undated_sources;
mod withheld_values;
mod worktrees;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::{Clock as _, ManualClock, SystemClock};
use recoup_core::cache::{
    Cache, CacheOptions, CacheParts, FillOutcome, LookupRequest, MissReason, Outcome, PathContext,
    PeekOutcome, Permit, Ttl,
};
use recoup_core::entry::Entry;
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{InMemoryStore, Store, ThreadClaims};
use tempfile::TempDir;

use crate::support::{START, draft, id};

/// A cache with a clock of its own, and a project to stand in.
struct Scene {
    dir: TempDir,
    store: Arc<dyn Store>,
    clock: ManualClock,
    cache: Cache,
}

impl Scene {
    fn new() -> Self {
        Self::with(Arc::new(InMemoryStore::with_capacity(64 << 20)), CacheOptions::default())
    }

    fn with(store: Arc<dyn Store>, options: CacheOptions) -> Self {
        let clock = ManualClock::at(START);
        let cache = cache_of(&store, options, &clock);
        Self { dir: tempfile::tempdir().unwrap(), store, clock, cache }
    }

    /// With a clock that stands so far after now that no file looks too young
    /// to trust its times; or just at now, so that every file does.
    fn for_files(trusting: bool) -> Self {
        let scene = Self::new();
        let ahead = if trusting { 3_600_000 } else { 0 };
        let clock = ManualClock::at(SystemClock.now().plus_millis(ahead));
        let cache = cache_of(&scene.store, CacheOptions::default(), &clock);
        Self { clock, cache, ..scene }
    }

    fn view(&self) -> PathContext {
        PathContext { root: self.dir.path().to_owned(), cwd: self.dir.path().to_owned() }
    }

    fn pass(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, contents: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), contents).unwrap();
    }

    fn permit(&self, id: &EntryId, sources: &[&str]) -> Permit {
        self.try_permit(id, sources).unwrap()
    }

    fn try_permit(&self, id: &EntryId, sources: &[&str]) -> recoup_core::Result<Permit> {
        let sources: Vec<String> = sources.iter().map(|&path| path.to_owned()).collect();
        self.cache.permit(id, &self.view(), &sources)
    }

    /// Stores `body` under `key`, made from these files.
    fn fill(&self, key: &str, body: &str, ttl: Ttl, sources: &[&str]) {
        let filled = self.permit(&id(key), sources).fill(draft(body.to_owned()), ttl).unwrap();
        assert!(matches!(filled, FillOutcome::Stored(_)), "{filled:?}");
    }

    fn peek(&self, key: &str) -> PeekOutcome {
        self.cache.peek(&LookupRequest::new(Kind::Result, &id(key), &self.view()))
    }

    fn lookup(&self, key: &str) -> Outcome {
        self.cache.lookup(&LookupRequest::new(Kind::Result, &id(key), &self.view())).unwrap()
    }

    fn hits(&self, key: &str) -> bool {
        matches!(self.peek(key), PeekOutcome::Hit(_))
    }

    /// Why it is a miss.
    fn miss(&self, key: &str) -> MissReason {
        match self.peek(key) {
            PeekOutcome::Miss(reason) => reason,
            other => panic!("no miss: {other:?}"),
        }
    }
}

/// A cache that counts nothing.
fn cache_of(store: &Arc<dyn Store>, options: CacheOptions, clock: &ManualClock) -> Cache {
    let clock = Arc::new(clock.clone());
    let claims = Arc::new(ThreadClaims::default());
    Cache::from_parts(CacheParts { store: store.clone(), clock, ledger: None, claims, options })
}

fn text(entry: &Entry) -> String {
    String::from_utf8(entry.body().to_bytes().unwrap().to_vec()).unwrap()
}

fn second() -> Ttl {
    Ttl::seconds(1)
}

/// Moves a file's time of modification, as `touch -d` and `cp -p` do.
fn set_mtime(path: &Path, to: std::time::SystemTime) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(to)).unwrap();
}

fn mtime(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}
