//! Explanation of a hit or miss: everything that is wrong with the entry; if there is none, its
//! history and how the nearest entry differs.

mod difference;
mod nearest;

use std::fs;
use std::os::unix::fs::MetadataExt as _;

pub use difference::{Difference, How as Differs, RuleChanges, Side, WordPlace, Wording};
pub use nearest::Nearest;

use super::lookup::{Request, is_another};
use super::outcome::{Peek, Reason};
use super::sources::{self, Change, View};
use super::{Cache, Mode, admit};
use crate::base::clock::Timestamp;
use crate::entry::{Damage, Event, Header};
use crate::error::{Error, ErrorKind};
use crate::key::{Id, Kind};

/// Why a look-up ends as it does.
#[derive(Debug)]
pub struct Explanation {
    /// The requested entry.
    pub id: Id,
    /// Kind of the entry.
    pub kind: Kind,
    /// How the look-up would end now.
    pub verdict: Verdict,
    /// All reasons against a hit, not only the first.
    pub causes: Vec<Cause>,
    /// Earlier events of this entry, latest first.
    pub past: Vec<Event>,
    /// The most similar entry, if the requested one does not exist.
    pub nearest: Option<Nearest>,
}

/// How a look-up would end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
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
pub enum Cause {
    /// The cache is switched off.
    Disabled,
    /// The caller asked for a fresh result.
    Asked,
    /// There is no such entry.
    Absent,
    /// The entry under this key answers another question.
    AnotherQuestion(Vec<Difference>),
    /// A source has changed.
    Source {
        /// The source and its change.
        change: Change,
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
    Damaged(Damage),
    /// The store could not answer.
    Unavailable(Error),
}

impl Cache {
    /// Explains how this look-up would end. Leaves no trace in the ledger.
    pub fn explain(&self, request: &Request<'_>) -> Explanation {
        // The request is shown redacted, as it would be stored.
        let withheld = request.withheld.cloned().unwrap_or_default();
        let parts = admit::without_secrets(request.kind, request.parts.to_vec(), &withheld);
        let request = &Request { parts: &parts, ..request.clone() };
        let (verdict, mut causes) = self.judge_fully(request);
        if verdict == Verdict::Miss
            && let Err(error) = self.watch(request.view, request.sources)
        {
            causes.push(Cause::Unwatchable(error));
        }
        let absent = matches!(causes[..], [Cause::Absent | Cause::AnotherQuestion(_), ..]);
        Explanation {
            id: request.id.clone(),
            kind: request.kind,
            verdict,
            nearest: if absent { self.nearest(request) } else { None },
            causes,
            past: self.past(request.id),
        }
    }

    fn judge_fully(&self, request: &Request<'_>) -> (Verdict, Vec<Cause>) {
        if !self.enabled() {
            return (Verdict::Miss, vec![Cause::Disabled]);
        }
        if let Mode::Refresh | Mode::Bypass = request.mode {
            return (Verdict::Miss, vec![Cause::Asked]);
        }
        let record = match self.store().get(request.id) {
            Ok(Some(record)) => record,
            Ok(None) => return (Verdict::Miss, vec![Cause::Absent]),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                return (Verdict::Miss, vec![Cause::Damaged(Damage::Unreadable)]);
            }
            Err(error) => return (Verdict::Miss, vec![Cause::Unavailable(error)]),
        };
        let header = &record.head.header;
        let mut causes = self.causes(header, request);
        match self.peek(request) {
            Peek::Hit(_) if causes.is_empty() => (self.hit(header, request), causes),
            Peek::Stale(_) if causes.is_empty() => {
                let age = self.clock().now().millis_since(header.created);
                let ttl = header.ttl.into_iter().chain(request.ttl).min().unwrap_or(age);
                (Verdict::Stale { since: age.saturating_sub(ttl) }, causes)
            }
            Peek::Miss(Reason::Corrupt(damage)) if causes.is_empty() => {
                causes.push(Cause::Damaged(damage));
                (Verdict::Miss, causes)
            }
            _ => (Verdict::Miss, causes),
        }
    }

    fn hit(&self, header: &Header, request: &Request<'_>) -> Verdict {
        let age = self.clock().now().millis_since(header.created);
        let ttl = header.ttl.into_iter().chain(request.ttl).min();
        Verdict::Hit { age, left: ttl.map(|ttl| ttl.saturating_sub(age)) }
    }

    /// All reasons against a hit, in the order in which a look-up checks them.
    fn causes(&self, header: &Header, request: &Request<'_>) -> Vec<Cause> {
        if is_another(&header.parts, request.parts) {
            let differences = difference::between(request.kind, &header.parts, request.parts);
            return vec![Cause::AnotherQuestion(differences)];
        }
        if self.is_unwanted_failure(header, request) {
            return vec![Cause::Failure];
        }
        if header.streams_merged && !request.accepts_merged_streams {
            return vec![Cause::StreamsMerged];
        }
        let freshness = self.inner.options.freshness;
        let mut causes: Vec<Cause> =
            sources::changes(&header.sources, request.view, self, freshness)
                .map(|change| Cause::Source { at: changed_at(&change, request.view), change })
                .collect();
        let now = self.clock().now();
        let age = now.millis_since(header.created);
        if self.is_from_the_future(header) {
            causes.push(Cause::FromTheFuture);
        }
        if let Some(ttl) = header.ttl.into_iter().chain(request.ttl).min()
            && age >= ttl.saturating_add(header.grace)
        {
            causes.push(Cause::Expired { since: age - ttl, ttl });
        }
        let work_age = now.millis_since(header.work_began());
        if let Some(limit) = request.max_age.filter(|limit| work_age > *limit) {
            causes.push(Cause::TooOld { age: work_age, limit });
        }
        causes
    }

    /// Best effort: an unreadable history is empty.
    fn past(&self, id: &Id) -> Vec<Event> {
        self.history(id).unwrap_or_default()
    }
}

/// When the content or the metadata of a file last changed.
fn changed_at(change: &Change, view: &View) -> Option<Timestamp> {
    let found = fs::metadata(view.root.join(&change.path)).ok()?;
    let millis =
        |seconds: i64, nanos: i64| seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000);
    let (mtime, ctime) =
        (millis(found.mtime(), found.mtime_nsec()), millis(found.ctime(), found.ctime_nsec()));
    Some(Timestamp::from_millis(mtime.max(ctime)))
}
