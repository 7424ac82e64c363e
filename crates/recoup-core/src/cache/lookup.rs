//! Look-ups: the request, how it ends, and the checks in between, in the order of the semantic-cache protocol:
//! enabled, present, sources, TTL, body, checksum.

use std::fmt;
use std::sync::Arc;

use super::Cache;
use super::ledger_events::detail_of;
use super::permit::Permit;
use super::single_flight::{WaitPolicy, WorkGrant};
use super::sources::{self, PathContext, SinceToken, WatchedSources};
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::base::ttl::Ttl;
use crate::entry::{
    Body, BodyDamage, Entry, EntryEventKind, EntryRecord, EventDetail, Header, ProducerIdentity,
};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, KeyPart, Kind};
use crate::ledger::name_of;
use crate::secrets::SecretValues;

/// How often the read of a large body is repeated while another process keeps replacing it.
const MAX_READ_ATTEMPTS: usize = 5;
/// How far in the future an entry may have been made, in milliseconds: clocks differ, but an entry
/// from years ahead would never expire.
const MAX_LEAD: u64 = 24 * 60 * 60 * 1000;

/// Parameters of a look-up.
#[derive(Debug, Clone)]
pub struct LookupRequest<'a> {
    /// Kind of the work, for the ledger; an entry of another kind under the same id is served, too.
    pub kind: Kind,
    /// Identity of the entry.
    pub id: &'a EntryId,
    /// Identity of the caller, if known; recorded in the ledger.
    pub identity: Option<&'a ProducerIdentity>,
    /// The parts that the key was made from, if known. An entry with other parts is a miss, even
    /// under the same key.
    pub parts: &'a [KeyPart],
    /// Root and working directory of the caller, against which the entry's sources are resolved.
    pub view: &'a PathContext,
    /// The files that the work will read, for the permit.
    pub sources: &'a [String],
    /// The caller's TTL in milliseconds. The smaller of this and the entry's own TTL counts.
    pub ttl: Option<u64>,
    /// Limit on the time since the work for the entry began, in milliseconds.
    pub max_age: Option<u64>,
    /// Maximum age of an accepted failure, in milliseconds; `None` accepts no failure.
    pub failures: Option<u64>,
    /// True if the caller accepts an entry that has stdout and stderr in one stream.
    pub accepts_merged_streams: bool,
    /// Secret values to redact from what is shown or logged of the request.
    pub withheld: Option<&'a SecretValues>,
    /// How far the cache may be used.
    pub mode: CacheMode,
    /// Wait policy while another caller works on the same entry.
    pub wait_policy: WaitPolicy<'a>,
}

/// How far a look-up may use the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Serve an existing entry, store a new one.
    #[default]
    Use,
    /// Always do the work, and store the result.
    Refresh,
    /// Serve an existing entry, store nothing.
    NoStore,
    /// Serve an existing entry, do no work.
    OnlyIfCached,
    /// Always do the work, store nothing.
    Bypass,
}

impl<'a> LookupRequest<'a> {
    /// A request for an entry of any age that depends on no files. It accepts stored failures, and
    /// stdout and stderr in one stream.
    pub fn new(kind: Kind, id: &'a EntryId, view: &'a PathContext) -> Self {
        Self {
            kind,
            id,
            identity: None,
            parts: &[],
            view,
            sources: &[],
            ttl: None,
            max_age: None,
            failures: Some(u64::MAX),
            accepts_merged_streams: true,
            withheld: None,
            mode: CacheMode::default(),
            wait_policy: WaitPolicy::default(),
        }
    }

    /// Names the files, directories and globs that the work reads: when one changes, its result is
    /// no longer served.
    #[must_use]
    pub fn with_sources(self, sources: &'a [String]) -> Self {
        Self { sources, ..self }
    }

    /// Accepts no result whose work began longer ago.
    #[must_use]
    pub fn with_max_age(self, max_age: Ttl) -> Self {
        Self { max_age: max_age.as_millis(), ..self }
    }

    /// Sets how far the cache may be used.
    #[must_use]
    pub fn with_mode(self, mode: CacheMode) -> Self {
        Self { mode, ..self }
    }

    /// The smaller of the entry's and the caller's TTL, in milliseconds; `None` is for ever.
    pub(super) fn ttl_for(&self, header: &Header) -> Option<u64> {
        header.ttl.into_iter().chain(self.ttl).min()
    }
}

/// Result of a look-up.
#[derive(Debug)]
pub enum Outcome {
    /// Fresh and verified.
    Hit(Entry),
    /// Past its TTL but within its grace period. With a permit, this caller should refresh it.
    Stale(Entry, Option<Permit>),
    /// The caller does the work and fills the permit with the result.
    Miss(Permit, MissReason),
    /// No entry is served, and there is no permit: the cache is off, the mode is
    /// [`CacheMode::Bypass`], or it is a miss with [`CacheMode::NoStore`] or
    /// [`CacheMode::OnlyIfCached`].
    Bypass(MissReason),
}

/// Result of a look-up that takes no permit.
#[derive(Debug)]
pub enum PeekOutcome {
    /// Fresh. A large body is verified while it is read, or before by [`Cache::read`].
    Hit(Entry),
    /// Past its TTL but within its grace period.
    Stale(Entry),
    /// No entry that could be served.
    Miss(MissReason),
}

impl PeekOutcome {
    /// The entry, fresh or stale.
    pub fn entry(self) -> Option<Entry> {
        match self {
            Self::Hit(entry) | Self::Stale(entry) => Some(entry),
            Self::Miss(_) => None,
        }
    }
}

/// Why a look-up is not a hit.
#[derive(Debug)]
pub enum MissReason {
    /// There is no such entry.
    Absent,
    /// The cache is switched off.
    Disabled,
    /// The caller asked for a fresh result.
    Asked,
    /// The entry is a failure that is older than the caller accepts, or the caller accepts none.
    Failure,
    /// The entry has stdout and stderr in one stream, and the caller needs them apart.
    StreamsMerged,
    /// The TTL has passed, or the entry is older than the caller accepts.
    Expired {
        /// Age of the entry, in milliseconds.
        age: u64,
        /// The exceeded limit, in milliseconds.
        limit: u64,
    },
    /// A source file has changed.
    SourceModified(String),
    /// A source file is gone.
    SourceMissing(String),
    /// The stored bytes are damaged.
    Corrupt(BodyDamage),
    /// The store could not answer.
    Unavailable(Error),
}

impl MissReason {
    /// The ledger event of this reason; `None` if no look-up took place.
    pub(crate) fn ledger_event(&self) -> Option<EntryEventKind> {
        match self {
            Self::Absent | Self::Failure | Self::StreamsMerged => Some(EntryEventKind::Absent),
            Self::Disabled | Self::Asked => None,
            Self::Expired { .. } => Some(EntryEventKind::Expired),
            Self::SourceModified(_) | Self::SourceMissing(_) => Some(EntryEventKind::Invalidated),
            Self::Corrupt(_) => Some(EntryEventKind::Corrupt),
            Self::Unavailable(_) => Some(EntryEventKind::Unavailable),
        }
    }

    /// The status in the semantic-cache protocol.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Absent
            | Self::Failure
            | Self::StreamsMerged
            | Self::Asked
            | Self::Unavailable(_) => "miss",
            Self::Disabled => "disabled",
            Self::Expired { .. } => "expired",
            Self::SourceModified(_) | Self::SourceMissing(_) => "invalidated",
            Self::Corrupt(_) => "corrupt",
        }
    }

    /// The reason code in the semantic-cache protocol, if it has one.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Absent
            | Self::Failure
            | Self::StreamsMerged
            | Self::Disabled
            | Self::Asked
            | Self::Expired { .. } => None,
            Self::SourceModified(_) => Some("source_modified"),
            Self::SourceMissing(_) => Some("source_missing"),
            Self::Corrupt(BodyDamage::Mismatch) => Some("integrity_mismatch"),
            Self::Corrupt(BodyDamage::Unreadable) => Some("unreadable"),
            Self::Unavailable(_) => Some("store_unavailable"),
        }
    }
}

/// A short description, without the underlying error.
impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no entry for this key"),
            Self::Failure => f.write_str("the stored result is a failure"),
            Self::StreamsMerged => f.write_str("stdout and stderr were recorded as one stream"),
            Self::Disabled => f.write_str("the cache is switched off"),
            Self::Asked => f.write_str("a fresh result was requested"),
            Self::Expired { .. } => f.write_str("the entry has expired"),
            Self::SourceModified(path) => write!(f, "the source {path} has changed"),
            Self::SourceMissing(path) => write!(f, "the source {path} is missing"),
            Self::Corrupt(damage) => write!(f, "the entry is damaged: {damage}"),
            Self::Unavailable(_) => f.write_str("the store is unavailable"),
        }
    }
}

impl Cache {
    /// Looks up an entry without taking a permit. A large body is read whole, so that all of it is
    /// verified before any byte is passed on; repeatedly, because it may be replaced meanwhile.
    pub fn read(&self, request: &LookupRequest<'_>) -> PeekOutcome {
        let found = self.read_untraced(request);
        self.note_lookup(request, &found);
        found
    }

    /// Like [`Self::read`], for callers that go on with [`Self::lookup_after`] if it is no hit: only
    /// a hit leaves a trace in the ledger.
    pub fn read_hit(&self, request: &LookupRequest<'_>) -> Result<Entry, PeekOutcome> {
        let found = self.read_untraced(request);
        if let PeekOutcome::Hit(_) = found {
            self.note_lookup(request, &found);
        }
        if let PeekOutcome::Hit(entry) = found { Ok(entry) } else { Err(found) }
    }

    fn read_untraced(&self, request: &LookupRequest<'_>) -> PeekOutcome {
        for _ in 0..MAX_READ_ATTEMPTS {
            let (serve, entry): (fn(Entry) -> PeekOutcome, Entry) = match self.peek(request) {
                PeekOutcome::Hit(entry) => (PeekOutcome::Hit, entry),
                PeekOutcome::Stale(entry) => (PeekOutcome::Stale, entry),
                miss @ PeekOutcome::Miss(_) => return miss,
            };
            match entry.load_body() {
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                loaded => {
                    let failed = |error| PeekOutcome::Miss(MissReason::Unavailable(error));
                    return loaded.map_or_else(failed, serve);
                }
            }
        }
        PeekOutcome::Miss(MissReason::Corrupt(BodyDamage::Mismatch))
    }

    /// Looks up an entry without taking a permit and without a trace in the ledger. A store error
    /// is a miss.
    pub fn peek(&self, request: &LookupRequest<'_>) -> PeekOutcome {
        self.peek_as_of(request, None)
    }

    /// Looks up an entry. On a miss the caller gets the permit to fill it; for that the request's
    /// sources are captured now, before the work. A source that cannot be captured is an error.
    ///
    /// While another caller works on the same entry, this waits for its result for up to
    /// [`CacheOptions::wait`](super::CacheOptions::wait).
    pub fn lookup(&self, request: &LookupRequest<'_>) -> Result<Outcome> {
        self.lookup_after(request, None)
    }

    /// Like [`Self::lookup`], for callers that have looked just now, with this outcome.
    pub fn lookup_after(
        &self,
        request: &LookupRequest<'_>,
        first: Option<PeekOutcome>,
    ) -> Result<Outcome> {
        let first = || first.unwrap_or_else(|| self.peek(request));
        if !self.enabled() {
            return Ok(Outcome::Bypass(MissReason::Disabled));
        }
        let (found, turn) = match request.mode {
            CacheMode::Bypass => return Ok(Outcome::Bypass(MissReason::Asked)),
            CacheMode::Refresh => {
                let claim = self.claims().try_claim(request.id).ok().flatten();
                (PeekOutcome::Miss(MissReason::Asked), Some(WorkGrant(claim)))
            }
            CacheMode::NoStore | CacheMode::OnlyIfCached => (first(), None),
            CacheMode::Use => match first() {
                hit @ PeekOutcome::Hit(_) => (hit, None),
                other => self.wait_or_claim(request, other),
            },
        };
        self.outcome_of(request, found, turn)
    }

    /// Like [`Self::lookup`], without waiting: `None` while another caller works on the entry.
    pub fn try_lookup(&self, request: &LookupRequest<'_>) -> Result<Option<Outcome>> {
        if !self.enabled() || request.mode != CacheMode::Use {
            return self.lookup(request).map(Some);
        }
        let Some((found, turn)) = self.try_claim_once(request) else { return Ok(None) };
        self.outcome_of(request, found, turn).map(Some)
    }

    fn outcome_of(
        &self,
        request: &LookupRequest<'_>,
        found: PeekOutcome,
        turn: Option<WorkGrant>,
    ) -> Result<Outcome> {
        self.note_lookup(request, &found);
        // The sources are captured after any waiting and before the work.
        let permit = |WorkGrant(claim)| {
            let permit = self.permit(request.id, request.view, request.sources)?;
            Ok::<_, Error>(permit.with_claim(claim))
        };
        let permit = turn.map(permit).transpose()?;
        Ok(match (found, permit) {
            (PeekOutcome::Hit(entry), _) => Outcome::Hit(entry),
            (PeekOutcome::Stale(entry), permit) => Outcome::Stale(entry, permit),
            (PeekOutcome::Miss(reason), Some(permit)) => Outcome::Miss(permit, reason),
            (PeekOutcome::Miss(reason), None) => Outcome::Bypass(reason),
        })
    }

    /// Records the result of a look-up.
    fn note_lookup(&self, request: &LookupRequest<'_>, found: &PeekOutcome) {
        let Some(ledger) = &self.inner.ledger else { return };
        let _ = ledger.save_verified();
        match found {
            PeekOutcome::Hit(entry) | PeekOutcome::Stale(entry) => {
                let header = &entry.head().header;
                let _ = ledger.record_hit(self.clock().now(), request.id, header, request.identity);
            }
            PeekOutcome::Miss(reason) => {
                let Some(what) = reason.ledger_event() else { return };
                let detail = EventDetail { by: name_of(request.identity), ..detail_of(reason) };
                self.note_event(request.kind, request.id, what, detail);
            }
        }
    }

    /// Like [`Self::peek`], but measures `max_age` from `asked`: a result made while the caller
    /// waited is not too old for it.
    pub(super) fn peek_as_of(
        &self,
        request: &LookupRequest<'_>,
        asked: Option<Timestamp>,
    ) -> PeekOutcome {
        if !self.enabled() {
            return PeekOutcome::Miss(MissReason::Disabled);
        }
        let found = self.find_record(request.id);
        found.map_or_else(PeekOutcome::Miss, |record| self.check_record(record, request, asked))
    }

    /// The record as the store has it, not checked yet.
    pub(super) fn find_record(&self, id: &EntryId) -> Result<Arc<EntryRecord>, MissReason> {
        match self.store().get(id) {
            Ok(Some(record)) => Ok(record),
            Ok(None) => Err(MissReason::Absent),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                Err(MissReason::Corrupt(BodyDamage::Unreadable))
            }
            Err(error) => Err(MissReason::Unavailable(error)),
        }
    }

    pub(super) fn check_record(
        &self,
        record: Arc<EntryRecord>,
        request: &LookupRequest<'_>,
        asked: Option<Timestamp>,
    ) -> PeekOutcome {
        let header = &record.head.header;
        let changed = || sources::first_changed_source(&header.sources, request.view, self);
        if let Some(reason) = self.mismatch(header, request).or_else(changed) {
            return PeekOutcome::Miss(reason);
        }
        // The TTL counts from the creation of the entry, `max_age` from the start of the work: the
        // result need not reflect anything later.
        let expired = |age, limit| PeekOutcome::Miss(MissReason::Expired { age, limit });
        let now = self.clock().now();
        let age = now.millis_since(header.created);
        let ttl = request.ttl_for(header).unwrap_or(u64::MAX);
        if self.is_from_the_future(header) {
            return expired(age, ttl);
        }
        let work_age = asked.unwrap_or(now).millis_since(header.work_began());
        let serve: fn(Entry) -> PeekOutcome = match request.max_age {
            Some(limit) if work_age > limit => return expired(work_age, limit),
            _ if age < ttl => PeekOutcome::Hit,
            _ if age < ttl.saturating_add(header.grace) => PeekOutcome::Stale,
            _ => return expired(age, ttl),
        };
        record.open().map_or_else(|damage| PeekOutcome::Miss(MissReason::Corrupt(damage)), serve)
    }

    /// Why the entry is not what the request asks for, whatever its sources and age.
    pub(super) fn mismatch(
        &self,
        header: &Header,
        request: &LookupRequest<'_>,
    ) -> Option<MissReason> {
        fn known(parts: &[KeyPart]) -> impl Iterator<Item = (&str, Sha256Digest)> {
            parts.iter().map(|part| (part.name.as_str(), part.digest))
        }
        // Parts are compared only if both sides know theirs.
        let is_known = !header.parts.is_empty() && !request.parts.is_empty();
        let age = || self.clock().now().millis_since(header.created);
        if is_known && !known(&header.parts).eq(known(request.parts)) {
            Some(MissReason::Absent)
        } else if header.failure && request.failures.is_none_or(|limit| age() >= limit) {
            Some(MissReason::Failure)
        } else {
            let is_merged = header.streams_merged && !request.accepts_merged_streams;
            is_merged.then_some(MissReason::StreamsMerged)
        }
    }

    /// True if the entry was made further in the future than clocks differ. It would never expire.
    pub(super) fn is_from_the_future(&self, header: &Header) -> bool {
        header.ttl.is_some() && header.created > self.clock().now().plus_millis(MAX_LEAD)
    }

    /// The full result of an entry, verified; `None` if there is none. Retries once, because entry
    /// and full result may be replaced between the two reads.
    pub fn full_result(&self, id: &EntryId) -> Result<Option<Body>> {
        self.try_full_result(id).or_else(|error| match error.kind() {
            ErrorKind::Corrupt => self.try_full_result(id),
            _ => Err(error),
        })
    }

    fn try_full_result(&self, id: &EntryId) -> Result<Option<Body>> {
        let Some(record) = self.store().get(id)? else { return Ok(None) };
        let Some(info) = record.head.header.full else { return Ok(None) };
        let damaged = |what: String| Error::new(ErrorKind::Corrupt, what);
        let payload = self.store().full_payload(id)?;
        let payload = payload.ok_or_else(|| damaged("the full result is missing".to_owned()))?;
        let opened = payload.open(&info);
        opened.map(Some).map_err(|damage| damaged(format!("the full result is damaged: {damage}")))
    }

    /// Permission to fill `id`, regardless of claims. Its sources are captured now.
    pub fn permit(&self, id: &EntryId, view: &PathContext, sources: &[String]) -> Result<Permit> {
        let watched = self.watch(view, sources)?;
        Ok(Permit::new(self.clone(), id.clone(), watched))
    }

    /// A token for the current time and the state of `sources`, to be checked with
    /// [`Permit::require_unchanged_since`] when another process does the work.
    pub fn issue_since_token(&self, view: &PathContext, sources: &[String]) -> Result<SinceToken> {
        match sources {
            [] => Ok(SinceToken::at_time(self.clock().now())),
            sources => Ok(self.watch(view, sources)?.to_since_token()),
        }
    }

    /// Captures the current state of `sources`.
    pub(super) fn watch(&self, view: &PathContext, sources: &[String]) -> Result<WatchedSources> {
        WatchedSources::capture(view, sources, self.inner.options.sources, self.clock().now())
    }

    /// Returns the `paths` that exist and can be watched.
    pub fn watchable(&self, view: &PathContext, paths: &[String]) -> Vec<String> {
        WatchedSources::watchable_paths(view, paths, self.inner.options.sources)
    }
}
