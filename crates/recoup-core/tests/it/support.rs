//! What many tests need: records, names, a log that remembers faults, and a
//! store that can be made to fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use recoup_core::base::clock::{SystemClock, Timestamp};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::name::SafeName;
use recoup_core::base::name::fresh_id;
use recoup_core::base::project::ProjectId;
use recoup_core::entry::{
    Body, Draft, EntryEvent, EntryEventKind, EntryHead, EntryRecord, EventBatch, EventDetail,
    EventTally, FileStat, PatternKind, ProducerIdentity, ProductionCost, RecordedSources,
    SnapshotPlace, SourceFile, SourcePattern, StoredBody, TimedSources,
};
use recoup_core::key::{EntryId, Key, KeyPart, Kind, Scope};
use recoup_core::secrets::SecretValues;
use recoup_core::store::{
    EvictionPlan, EvictionReport, FaultLog, InMemoryStore, RecordVisitor, ScanFilter, ScanFlow,
    ScopeUsage, SimilarityProbe, Store, StoreInfo,
};
use recoup_core::{Error, ErrorKind, Result};

/// When most tests begin, not on a whole second. Far in the future, so that what
/// a server's own clock says of it is: not yet.
pub(crate) const START: Timestamp = Timestamp::from_millis(4_100_000_000_123);

pub(crate) fn later(millis: u64) -> Timestamp {
    START.plus_millis(millis)
}

pub(crate) fn id(key: &str) -> EntryId {
    id_in(&Scope::global(), key)
}

pub(crate) fn id_in(scope: &Scope, key: &str) -> EntryId {
    EntryId::new(scope.clone(), Key::parse(key).unwrap())
}

/// One scope of each sort.
pub(crate) fn scopes() -> [Scope; 4] {
    let name = SafeName::parse("name", "same").unwrap();
    let project = ProjectId::parse(&"5a".repeat(16)).unwrap();
    [Scope::global(), Scope::project(&project), Scope::tenant(&name), Scope::session(&name)]
}

pub(crate) fn draft(body: impl Into<Body>) -> Draft {
    Draft::new(Kind::Result, body)
}

pub(crate) fn record(body: impl Into<Body>) -> EntryRecord {
    record_at(START, body)
}

pub(crate) fn record_at(now: Timestamp, body: impl Into<Body>) -> EntryRecord {
    draft(body).seal(RecordedSources::default(), now).unwrap()
}

/// Every field of a header has something in it.
pub(crate) fn rich_draft(body: impl Into<Body>) -> Draft {
    Draft {
        kind: Kind::AgentRun,
        body: body.into(),
        full: None,
        ttl: Some(86_400_001),
        grace: 3_600_001,
        identity: ProducerIdentity {
            name: Some("reviewer \"ünï\"".to_owned()),
            namespace: Some("github".to_owned()),
            hash: Some("f00d".to_owned()),
        },
        parts: vec![KeyPart::shown("query", "find\nit"), KeyPart::hidden("token", "s3cret")],
        tags: vec!["nightly".to_owned(), "läuft".to_owned()],
        cost: ProductionCost {
            millis: Some(1),
            input_tokens: Some(u64::MAX),
            output_tokens: Some(0),
            micro_dollars: Some(1_234_567),
        },
        failure: true,
        streams_merged: true,
        began: Some(Timestamp::from_millis(START.as_millis() - 1)),
        made: None,
        withheld: SecretValues::default(),
    }
}

pub(crate) fn rich_sources() -> RecordedSources {
    let stat = FileStat { mtime: -1, ctime: i64::MAX, inode: u64::MAX, racy: true };
    let source = |path: &str, given: Option<&str>| SourceFile {
        path: path.to_owned(),
        given: given.map(str::to_owned),
        size: 7,
        sha256: Sha256Digest::of(path.as_bytes()),
        executable: Some(given.is_some()),
        stat,
    };
    let place =
        SnapshotPlace { machine: "0123456789abcdef".to_owned(), root: "/a root".to_owned() };
    RecordedSources {
        place: Some(place),
        files: vec![source("/outside", None), source("src/ä.rs", Some("./src/ä.rs"))],
        patterns: vec![SourcePattern {
            kind: PatternKind::Glob,
            path: "src/*.rs".to_owned(),
            given: None,
        }],
        older: Some(TimedSources { than: i64::MIN, paths: vec!["docs".to_owned()] }),
    }
}

/// Bytes that no compression makes smaller, the same for the same seed.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&next().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// The same as text: hard, but not impossible to compress.
pub(crate) fn noise_text(len: usize, seed: u64) -> String {
    noise(len, seed).into_iter().map(|byte| char::from(b' ' + byte % 95)).collect()
}

/// The plain bytes of a stored entry; `None` when it is not there.
pub(crate) fn body_of(store: &dyn Store, id: &EntryId) -> Option<Vec<u8>> {
    let record = store.get(id).unwrap()?;
    Some(record.open().unwrap().body().to_bytes().unwrap().to_vec())
}

/// The ids of what a scan shows, sorted; every head must be readable.
pub(crate) fn scanned(store: &dyn Store, filter: &ScanFilter) -> Vec<EntryId> {
    let mut ids = Vec::new();
    let visit = &mut |id: &EntryId, head: Result<&_>| {
        head.unwrap();
        ids.push(id.clone());
        ScanFlow::Continue(())
    };
    store.scan(filter, visit).unwrap();
    ids.sort();
    ids
}

pub(crate) fn evict_plan(now: Timestamp) -> EvictionPlan {
    EvictionPlan {
        keep: None,
        scope: Scope::global(),
        kind: Kind::Result,
        now,
        max_entries: None,
        max_bytes: None,
        thorough: false,
    }
}

/// Tells a store that entries were served, as the ledger does.
pub(crate) trait Touch: Store {
    fn touch(&self, hits: &[(EntryId, Timestamp)]) -> Result<()> {
        let name = SafeName::parse("batch", &fresh_id(&SystemClock)).unwrap();
        let event = |(id, at): &(EntryId, Timestamp)| EntryEvent {
            at: *at,
            id: id.clone(),
            kind: Kind::Result,
            what: EntryEventKind::Hit,
            count: 1,
            detail: EventDetail::default(),
        };
        self.fold_batch(&EventBatch { name, events: hits.iter().map(event).collect() })
    }
}

impl<S: Store + ?Sized> Touch for S {}

/// Remembers which store failed, with which kind of error and in which words.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Vec<(String, ErrorKind, String)>>);

impl Faults {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What was told so far; forgotten by this.
    pub(crate) fn take(&self) -> Vec<(String, ErrorKind, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl FaultLog for Faults {
    fn fault(&self, source: &str, error: &Error) {
        self.0.lock().unwrap().push((source.to_owned(), error.kind(), error.to_string()));
    }
}

/// A memory store that fails while it is switched off.
#[derive(Debug)]
pub(crate) struct Switched {
    inner: InMemoryStore,
    name: &'static str,
    off: AtomicBool,
}

impl Switched {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        let inner = InMemoryStore::with_capacity(64 << 20);
        Arc::new(Self { inner, name, off: AtomicBool::new(false) })
    }

    pub(crate) fn switch_off(&self, off: bool) {
        self.off.store(off, Ordering::SeqCst);
    }

    fn inner(&self) -> Result<&InMemoryStore> {
        if self.off.load(Ordering::SeqCst) {
            Err(Error::new(ErrorKind::Io, "switched off"))
        } else {
            Ok(&self.inner)
        }
    }
}

impl Store for Switched {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        self.inner()?.get(id)
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.inner()?.put(id, record)
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        self.inner()?.remove(ids)
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        self.inner()?.full_payload(id)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.inner()?.fold_batch(batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.inner()?.tallies(scope)
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.inner()?.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.inner()?.usage(scope)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.inner()?.clear(scope, gone)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.inner()?.scan(filter, visit)
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.inner()?.evict(plan)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { url: format!("switched:{}", self.name), durable: false, keeps_stale: true }
    }
}
