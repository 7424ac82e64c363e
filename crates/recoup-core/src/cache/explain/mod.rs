//! Explanation of a hit or miss: everything that is wrong with the entry; if there is none, its
//! history and how the nearest entry differs.

mod difference;
mod nearest;

use std::fs;
use std::os::unix::fs::MetadataExt as _;

pub use difference::{
    ComparedSide, PartChange as Differs, PartDifference, RuleChanges, TextDifference, WordPlace,
};
pub use nearest::NearestEntry;

use super::lookup::{LookupRequest, parts_differ};
use super::outcome::{MissReason, PeekOutcome};
use super::sources::{self, PathContext, SourceChange};
use super::{Cache, CacheMode, admit};
use crate::base::clock::Timestamp;
use crate::entry::{BodyDamage, EntryEvent, Header};
use crate::error::{Error, ErrorKind};
use crate::key::{EntryId, Kind};

/// Why a look-up ends as it does.
#[derive(Debug)]
pub struct LookupExplanation {
    /// The requested entry.
    pub id: EntryId,
    /// Kind of the entry.
    pub kind: Kind,
    /// How the look-up would end now.
    pub verdict: LookupVerdict,
    /// All reasons against a hit, not only the first.
    pub causes: Vec<MissCause>,
    /// Earlier events of this entry, latest first.
    pub past: Vec<EntryEvent>,
    /// The most similar entry, if the requested one does not exist.
    pub nearest: Option<NearestEntry>,
}

/// How a look-up would end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupVerdict {
    /// Served.
    Hit {
        /// Age of the entry, in milliseconds.
        age: u64,
        /// How long it stays fresh, in milliseconds; `None` for ever.
        left: Option<u64>,
    },
    /// Served and refreshed.
    Stale {
        /// How long ago it stopped being fresh, in milliseconds.
        since: u64,
    },
    /// Not served.
    Miss,
}

/// A reason against a hit.
#[derive(Debug)]
pub enum MissCause {
    /// The cache is switched off.
    Disabled,
    /// The caller asked for a fresh result.
    Asked,
    /// There is no such entry.
    Absent,
    /// The entry under this key answers another question.
    AnotherQuestion(Vec<PartDifference>),
    /// A source has changed.
    Source {
        /// The source and its change.
        change: SourceChange,
        /// When the file last changed, if it exists.
        at: Option<Timestamp>,
    },
    /// The entry is a failure that is older than the caller accepts, or the caller accepts none.
    Failure,
    /// The entry has stdout and stderr in one stream, and the caller needs them apart.
    StreamsMerged,
    /// The entry was made in the future.
    FromTheFuture,
    /// The sources of the work cannot be watched, so that its result would not be stored.
    Unwatchable(Error),
    /// The TTL has passed.
    Expired {
        /// How long ago, in milliseconds.
        since: u64,
        /// The smaller of the entry's and the request's TTL, in milliseconds.
        ttl: u64,
    },
    /// The work began longer ago than the caller accepts.
    TooOld {
        /// Time since the work began, in milliseconds.
        age: u64,
        /// The accepted time, in milliseconds.
        limit: u64,
    },
    /// The stored bytes are damaged.
    Damaged(BodyDamage),
    /// The store could not answer.
    Unavailable(Error),
}

impl Cache {
    /// Explains how this look-up would end. Leaves no trace in the ledger.
    pub fn explain(&self, request: &LookupRequest<'_>) -> LookupExplanation {
        // The request is shown redacted, as it would be stored.
        let withheld = request.withheld.cloned().unwrap_or_default();
        let parts = admit::redact_parts(request.kind, request.parts.to_vec(), &withheld);
        let request = &LookupRequest { parts: &parts, ..request.clone() };
        let (verdict, mut causes) = self.explain_verdict(request);
        if verdict == LookupVerdict::Miss
            && let Err(error) = self.watch(request.view, request.sources)
        {
            causes.push(MissCause::Unwatchable(error));
        }
        let absent = matches!(causes[..], [MissCause::Absent | MissCause::AnotherQuestion(_), ..]);
        LookupExplanation {
            id: request.id.clone(),
            kind: request.kind,
            verdict,
            nearest: if absent { self.find_nearest(request) } else { None },
            causes,
            past: self.history_or_empty(request.id),
        }
    }

    fn explain_verdict(&self, request: &LookupRequest<'_>) -> (LookupVerdict, Vec<MissCause>) {
        if !self.enabled() {
            return (LookupVerdict::Miss, vec![MissCause::Disabled]);
        }
        if let CacheMode::Refresh | CacheMode::Bypass = request.mode {
            return (LookupVerdict::Miss, vec![MissCause::Asked]);
        }
        let record = match self.store().get(request.id) {
            Ok(Some(record)) => record,
            Ok(None) => return (LookupVerdict::Miss, vec![MissCause::Absent]),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                return (LookupVerdict::Miss, vec![MissCause::Damaged(BodyDamage::Unreadable)]);
            }
            Err(error) => return (LookupVerdict::Miss, vec![MissCause::Unavailable(error)]),
        };
        let header = &record.head.header;
        let mut causes = self.collect_causes(header, request);
        match self.peek(request) {
            PeekOutcome::Hit(_) if causes.is_empty() => (self.hit_verdict(header, request), causes),
            PeekOutcome::Stale(_) if causes.is_empty() => {
                let age = self.clock().now().millis_since(header.created);
                let ttl = header.ttl.into_iter().chain(request.ttl).min().unwrap_or(age);
                (LookupVerdict::Stale { since: age.saturating_sub(ttl) }, causes)
            }
            PeekOutcome::Miss(MissReason::Corrupt(damage)) if causes.is_empty() => {
                causes.push(MissCause::Damaged(damage));
                (LookupVerdict::Miss, causes)
            }
            _ => (LookupVerdict::Miss, causes),
        }
    }

    fn hit_verdict(&self, header: &Header, request: &LookupRequest<'_>) -> LookupVerdict {
        let age = self.clock().now().millis_since(header.created);
        let ttl = header.ttl.into_iter().chain(request.ttl).min();
        LookupVerdict::Hit { age, left: ttl.map(|ttl| ttl.saturating_sub(age)) }
    }

    /// All reasons against a hit, in the order in which a look-up checks them.
    fn collect_causes(&self, header: &Header, request: &LookupRequest<'_>) -> Vec<MissCause> {
        if parts_differ(&header.parts, request.parts) {
            let differences = difference::compare_parts(request.kind, &header.parts, request.parts);
            return vec![MissCause::AnotherQuestion(differences)];
        }
        if self.is_unwanted_failure(header, request) {
            return vec![MissCause::Failure];
        }
        if header.streams_merged && !request.accepts_merged_streams {
            return vec![MissCause::StreamsMerged];
        }
        let freshness = self.inner.options.freshness;
        let mut causes: Vec<MissCause> =
            sources::changed_sources(&header.sources, request.view, self, freshness)
                .map(|change| MissCause::Source { at: changed_at(&change, request.view), change })
                .collect();
        let now = self.clock().now();
        let age = now.millis_since(header.created);
        if self.is_from_the_future(header) {
            causes.push(MissCause::FromTheFuture);
        }
        if let Some(ttl) = header.ttl.into_iter().chain(request.ttl).min()
            && age >= ttl.saturating_add(header.grace)
        {
            causes.push(MissCause::Expired { since: age - ttl, ttl });
        }
        let work_age = now.millis_since(header.work_began());
        if let Some(limit) = request.max_age.filter(|limit| work_age > *limit) {
            causes.push(MissCause::TooOld { age: work_age, limit });
        }
        causes
    }

    /// Best effort: an unreadable history is empty.
    fn history_or_empty(&self, id: &EntryId) -> Vec<EntryEvent> {
        self.history(id).unwrap_or_default()
    }
}

/// When the content or the metadata of a file last changed.
fn changed_at(change: &SourceChange, view: &PathContext) -> Option<Timestamp> {
    let found = fs::metadata(view.root.join(&change.path)).ok()?;
    let millis =
        |seconds: i64, nanos: i64| seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000);
    let (mtime, ctime) =
        (millis(found.mtime(), found.mtime_nsec()), millis(found.ctime(), found.ctime_nsec()));
    Some(Timestamp::from_millis(mtime.max(ctime)))
}
