//! Cache policy above the stores: freshness, what may be stored, and who may fill a missing entry.
//!
//! A look-up ends in an [`Outcome`]. On a miss it carries a [`Permit`], the only way into the
//! store.

mod explain;
mod ledger_events;
mod lookup;
mod open;
mod permit;
mod result_reference;
mod single_flight;
mod sources;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::{Clock, SystemClock, Timestamp};
use crate::entry::{
    Body, BodyDamage, ChunkSource as _, EntryEventKind, EntryHead, EntryRecord, EventTally,
};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};
use crate::ledger::Ledger;
use crate::store::{
    ClaimRegistry, EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScanFlow, ScopeUsage,
    Store, StoreInfo, ThreadClaims,
};

pub use crate::base::ttl::Ttl;
pub use crate::store::EntrySelection;
pub use explain::{
    ComparedSide, LookupExplanation, LookupVerdict, MissCause, NearestEntry, PartChange,
    PartDifference, RuleChanges, TextDifference, WordPlace, compare_parts, quote, shared_words,
};
pub use lookup::{CacheMode, LookupRequest, MissReason, Outcome, PeekOutcome};
pub use permit::{FillOutcome, FillRefusal, Permit};
pub use result_reference::{ResolvedKey, ResultReference, join_paths, split_path_list};
pub use single_flight::{ComputedResult, ResultOrigin, WaitPolicy};
pub use sources::{
    FreshnessCheck, PathContext, SinceToken, SourceChange, SourceChangeKind, SourceLimits,
    WatchedSources, last_project_file_change, project_files_state,
};

/// A cache over a store. Clones share everything.
#[derive(Debug, Clone)]
pub struct Cache {
    inner: Arc<CacheParts>,
}

/// Default behaviour of a [`Cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// If false, every look-up is a bypass and nothing is stored.
    pub enabled: bool,
    /// Limits per kind and scope.
    pub limits: CacheLimits,
    /// How changes of source files are detected.
    pub freshness: FreshnessCheck,
    /// Limits on the sources of one entry.
    pub sources: SourceLimits,
    /// How long a caller waits for another one that computes the same entry, before it computes the
    /// entry itself.
    pub wait: Duration,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: CacheLimits::default(),
            freshness: FreshnessCheck::default(),
            sources: SourceLimits::default(),
            wait: Duration::from_mins(5),
        }
    }
}

/// Limits for the entries of one kind in one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Number of entries; `None` for no limit, and 5,000 of the kind `tool`.
    pub max_entries: Option<u64>,
    /// Bytes as stored; `None` for no limit.
    pub max_bytes: Option<u64>,
}

/// 100 MB, as in the semantic-cache protocol.
impl Default for CacheLimits {
    fn default() -> Self {
        Self { max_entries: None, max_bytes: Some(100 << 20) }
    }
}

impl CacheLimits {
    /// The eviction that enforces these limits.
    fn eviction_plan(self, scope: &Scope, kind: Kind, now: Timestamp) -> EvictionPlan {
        let Self { max_entries, max_bytes } = self;
        EvictionPlan {
            now,
            scope: scope.clone(),
            kind,
            keep: None,
            max_entries: max_entries.or(kind.default_max_entries()),
            max_bytes,
            thorough: false,
        }
    }
}

/// The parts that a [`Cache`] is built from.
#[derive(Debug)]
pub struct CacheParts {
    /// The store of the entries.
    pub store: Arc<dyn Store>,
    /// The clock that decides freshness.
    pub clock: Arc<dyn Clock>,
    /// Records hits and misses; `None` disables the statistics.
    pub ledger: Option<Ledger>,
    /// Elects one of the callers that miss the same entry.
    pub claims: Arc<dyn ClaimRegistry>,
    /// Default behaviour.
    pub options: CacheOptions,
}

/// Contents and use of a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Number and size of the entries.
    pub usage: ScopeUsage,
    /// Number of events of each kind.
    pub counts: BTreeMap<EntryEventKind, u64>,
    /// Why the latest events are not counted yet, if so.
    pub behind: Option<String>,
}

impl CacheStats {
    /// Number of look-ups that were served.
    pub fn hits(&self) -> u64 {
        self.count(EntryEventKind::Hit)
    }

    /// Number of look-ups that were not served, for any reason.
    pub fn misses(&self) -> u64 {
        self.counts.iter().filter(|(what, _)| what.is_miss()).map(|(_, count)| count).sum()
    }

    /// Number of entries that were found or declared to be out of date.
    pub fn invalidations(&self) -> u64 {
        self.count(EntryEventKind::Invalidated) + self.count(EntryEventKind::Removed)
    }

    fn count(&self, what: EntryEventKind) -> u64 {
        self.counts.get(&what).copied().unwrap_or(0)
    }
}

/// An entry that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedEntry {
    /// Identity of the entry.
    pub id: EntryId,
    /// Kind of damage.
    pub damage: BodyDamage,
}

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyFindings {
    /// Number of entries read.
    pub entries: usize,
    /// Entries that cannot be served.
    pub damaged: Vec<DamagedEntry>,
}

impl Cache {
    /// A cache over `store` with the system clock and without a ledger. Single-flight covers only
    /// the callers of this cache, not other processes.
    pub fn new(store: Arc<dyn Store>, options: CacheOptions) -> Self {
        let (clock, claims) = (Arc::new(SystemClock), Arc::new(ThreadClaims::default()));
        Self::from_parts(CacheParts { store, clock, ledger: None, claims, options })
    }

    /// Builds a cache from its parts.
    pub fn from_parts(parts: CacheParts) -> Self {
        Self { inner: Arc::new(parts) }
    }

    /// The store beneath. Not public: callers must not bypass the policy.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    fn claims(&self) -> &dyn ClaimRegistry {
        &*self.inner.claims
    }

    /// The clock that decides freshness.
    pub fn clock(&self) -> &dyn Clock {
        &*self.inner.clock
    }

    /// The head of an entry, even if the entry could not be served.
    pub fn head(&self, id: &EntryId) -> Result<Option<EntryHead>> {
        Ok(self.store().get(id)?.map(|record| record.head.clone()))
    }

    /// Removes an entry. Returns true if it existed.
    pub fn remove(&self, id: &EntryId) -> Result<bool> {
        let kind = self.head(id).ok().flatten().map(|head| head.header.kind);
        let removed = self.store().remove(std::slice::from_ref(id))? > 0;
        if let Some(kind) = kind.filter(|_| removed) {
            self.note_gone(kind, std::slice::from_ref(id), EntryEventKind::Deleted);
        }
        Ok(removed)
    }

    /// Removes every entry that a scope holds at the start of the call, and returns their number.
    pub fn clear(&self, scope: &Scope) -> Result<usize> {
        let mut named = BTreeMap::<Kind, Vec<EntryId>>::new();
        let removed = self.store().clear(scope, &mut |id, kind| {
            let ids = named.entry(kind).or_default();
            if ids.len() < EvictionReport::NAMED {
                ids.push(id);
            }
        })?;
        for (kind, ids) in named {
            self.note_gone(kind, &ids, EntryEventKind::Deleted);
        }
        Ok(removed)
    }

    /// Calls `visit` with the head of each entry in a scope.
    pub(crate) fn scan(&self, scope: &Scope, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.store().scan(&ScanFilter::of_scope(scope), visit)
    }

    /// Calls `visit` with the head of each entry that matches the filter.
    pub fn scan_filtered(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.store().scan(filter, visit)
    }

    /// Number and size of the entries in a scope.
    pub fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.store().usage(scope)
    }

    /// Description of the store.
    pub fn info(&self) -> StoreInfo {
        self.store().info()
    }

    /// Removes the selected entries of a scope, and returns their number.
    pub fn invalidate(&self, scope: &Scope, selection: &EntrySelection) -> Result<usize> {
        let selection = Some(selection.clone());
        self.remove_matching(&ScanFilter { selection, ..ScanFilter::of_scope(scope) })
    }

    /// Removes the entries that match the filter, and returns their number.
    pub fn remove_matching(&self, filter: &ScanFilter) -> Result<usize> {
        let mut found: BTreeMap<Kind, Vec<EntryId>> = BTreeMap::new();
        self.store().scan(filter, &mut |id, head| {
            if let Ok(head) = head {
                found.entry(head.header.kind).or_default().push(id.clone());
            }
            ScanFlow::Continue(())
        })?;
        let mut removed = 0;
        for (kind, ids) in &found {
            let gone = self.store().remove(ids)?;
            self.note_removed(*kind, ids, gone);
            removed += gone;
        }
        Ok(removed)
    }

    /// Removes expired entries of every scope, and those of `scope` that exceed `limits`.
    pub fn clean_up(&self, scope: &Scope, limits: CacheLimits) -> Result<EvictionReport> {
        match self.fold_ledger() {
            // On a full disk, only the eviction makes room for the fold. The next clean-up folds.
            Err(error) if error.kind() == ErrorKind::Full => {}
            folded => folded?,
        }
        // Best effort: left-over claims of dead processes block nobody.
        let _ = self.claims().sweep();
        let now = self.clock().now();
        let mut all = EvictionReport::default();
        for kind in Kind::ALL {
            loop {
                let plan =
                    EvictionPlan { thorough: true, ..limits.eviction_plan(scope, kind, now) };
                let evicted = self.store().evict(&plan)?;
                self.note_evicted(&plan, &evicted);
                let is_done = evicted.expired + evicted.least_used == 0;
                all.add(evicted);
                if is_done {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// True if look-ups and stores take place.
    pub fn enabled(&self) -> bool {
        self.inner.options.enabled
    }

    /// The limits that are enforced on every write.
    pub fn limits(&self) -> CacheLimits {
        self.inner.options.limits
    }

    /// Statistics of a scope, up to now.
    pub fn stats(&self, scope: &Scope) -> Result<CacheStats> {
        // A read-only store still has statistics.
        let behind = self.fold_ledger().err().map(|error| error.to_string());
        let usage = self.store().usage(scope)?;
        let mut stats = CacheStats { usage, counts: BTreeMap::new(), behind };
        for tally in self.store().tallies(Some(scope))? {
            *stats.counts.entry(tally.what).or_default() += tally.count;
        }
        Ok(stats)
    }

    /// Event counts up to now, for one scope or for all, and why the latest events are not counted
    /// yet, if so.
    pub fn tallies(&self, scope: Option<&Scope>) -> Result<(Vec<EventTally>, Option<String>)> {
        let behind = self.fold_ledger().err().map(|error| error.to_string());
        Ok((self.store().tallies(scope)?, behind))
    }

    /// Appends events that wait to be written together. Best effort.
    pub fn flush_events(&self) {
        if let Some(ledger) = &self.inner.ledger {
            let _ = ledger.flush();
        }
    }

    /// Hands all recorded events to the store.
    fn fold_ledger(&self) -> Result<()> {
        match &self.inner.ledger {
            Some(ledger) => ledger.fold(|batch| self.store().fold_batch(batch)).map(drop),
            None => Ok(()),
        }
    }

    /// Hands some recorded events to the store after a write, if enough have accumulated. Bounded
    /// in time; the rest, and events that cannot be folded now, stay for the next time.
    fn fold_ledger_if_due(&self) {
        if let Some(ledger) = self.inner.ledger.as_ref().filter(|ledger| ledger.is_due()) {
            let _ = ledger.fold_slice(|batch| self.store().fold_batch(batch));
        }
    }

    /// Reads and checks every entry of a scope. `progress` is called with the number done and the
    /// total.
    pub fn verify(
        &self,
        scope: &Scope,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<VerifyFindings> {
        let mut ids = Vec::new();
        self.scan(scope, &mut |id, _| {
            ids.push(id.clone());
            ScanFlow::Continue(())
        })?;
        let mut verified = VerifyFindings { entries: ids.len(), damaged: Vec::new() };
        for (done, id) in ids.into_iter().enumerate() {
            // Twice: an entry that another process replaces during the read only seems to be damaged.
            if self.check_entry(&id)?.is_some()
                && let Some(damage) = self.check_entry(&id)?
            {
                verified.damaged.push(DamagedEntry { id, damage });
            }
            progress(done + 1, verified.entries);
        }
        Ok(verified)
    }

    /// Removes entries that were found damaged and still are, and returns their number. Each is
    /// checked again: it may have been stored anew since.
    pub fn repair(&self, damaged: &[DamagedEntry]) -> Result<usize> {
        let mut removed = 0;
        for DamagedEntry { id, .. } in damaged {
            if self.check_entry(id)?.is_some() {
                removed += usize::from(self.remove(id)?);
            }
        }
        Ok(removed)
    }

    fn check_entry(&self, id: &EntryId) -> Result<Option<BodyDamage>> {
        let entry = match self.store().get(id).map(|found| found.map(EntryRecord::open)) {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(entry))) => entry,
            Ok(Some(Err(damage))) => return Ok(Some(damage)),
            Err(error) => return damage_from_error(error, BodyDamage::Unreadable),
        };
        if let Err(error) = read_through(entry.body()) {
            return damage_from_error(error, BodyDamage::Mismatch);
        }
        match self.full_result(id).and_then(|full| full.as_ref().map_or(Ok(()), read_through)) {
            Ok(()) => Ok(None),
            Err(error) => damage_from_error(error, BodyDamage::Unreadable),
        }
    }
}

/// Damage is a finding. An entry of a later version is not judged. Any other error ends the
/// verification.
fn damage_from_error(error: Error, damage: BodyDamage) -> Result<Option<BodyDamage>> {
    match error.kind() {
        ErrorKind::Corrupt => Ok(Some(damage)),
        ErrorKind::TooNew => Ok(None),
        _ => Err(error),
    }
}

fn read_through(body: &Body) -> Result<()> {
    body.for_each_chunk(&mut |_| Ok(()))
}
