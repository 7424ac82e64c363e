//! Looking up. The checks run in the order that contract 1 gives: enabled,
//! present, sources, TTL, body, checksum.

use std::sync::Arc;

use super::Cache;
use super::flight::Patience;
use super::outcome::{Outcome, Peek, Reason};
use super::permit::Permit;
use super::sources::{self, Since, View, Watched};
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::entry::{Body, Damage, Entry, Header, Identity, Record};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Kind, Part};
use crate::secrets::Values;

/// How often a large body is read that another process keeps replacing.
const TRIES: usize = 5;

/// How far in the future an entry may have been made, in milliseconds: clocks
/// differ, but what comes from years ahead would never expire.
const MAX_LEAD: u64 = 24 * 60 * 60 * 1000;

/// What is asked for, and from where.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Which kind of entry it is, should it be there.
    pub kind: Kind,
    /// Which entry.
    pub id: &'a Id,
    /// Who asks, where the caller knows: for those who read what happened.
    pub identity: Option<&'a Identity>,
    /// What its key was made from, where the caller knows: an entry that was
    /// made from something else is another, though their keys be the same.
    pub parts: &'a [Part],
    /// Where the caller stands: an entry's sources are looked at from there.
    pub view: &'a View,
    /// The files that the work will read, for the permit.
    pub sources: &'a [String],
    /// How long such an entry is good for as this caller sees it, in milliseconds:
    /// the smaller of this and the entry's own TTL counts.
    pub ttl: Option<u64>,
    /// How long ago the work for it may have begun, in milliseconds.
    pub max_age: Option<u64>,
    /// How old a failure may be that this caller accepts, in milliseconds; none accepts
    /// no failure.
    pub failures: Option<u64>,
    /// True if the caller has one place for both streams of a command, so that an entry that does
    /// not tell them apart will do.
    pub accepts_merged_streams: bool,
    /// What must not be shown of the question, or noted.
    pub withheld: Option<&'a Values>,
    /// How far the cache may be used at all.
    pub mode: Mode,
    /// What the caller does while another works on the same entry.
    pub patience: Patience<'a>,
}

/// How far a caller wants the cache to be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Take what is there, and keep what is not.
    #[default]
    Use,
    /// Do the work in any case, and keep the result.
    Refresh,
    /// Take what is there, and keep nothing.
    NoStore,
    /// Take what is there, and do no work.
    OnlyIfCached,
    /// Do the work, and keep nothing.
    Bypass,
}

impl<'a> Request<'a> {
    /// For an entry that depends on no files, at any age.
    pub fn new(kind: Kind, id: &'a Id, view: &'a View) -> Self {
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
            mode: Mode::default(),
            patience: Patience::default(),
        }
    }
}

enum Freshness {
    Fresh,
    Stale,
    Expired(Reason),
}

impl Cache {
    /// Looks for an entry. On a miss the caller gets the permit to fill it, for
    /// which the request's sources are taken now, before the work. Those are
    /// the caller's own words: what is wrong with them is an error.
    ///
    /// While another caller works on the same entry, this waits for what comes of
    /// that, for as long as [`Options::wait`](super::Options::wait) says.
    pub fn lookup(&self, request: &Request<'_>) -> Result<Outcome> {
        if !self.inner.options.enabled {
            return Ok(Outcome::Bypass(Reason::Disabled));
        }
        let (found, turn) = match request.mode {
            Mode::Bypass => return Ok(Outcome::Bypass(Reason::Asked)),
            Mode::Refresh => (Peek::Miss(Reason::Asked), Some(self.turn_at_once(request))),
            Mode::NoStore | Mode::OnlyIfCached => (self.peek(request), None),
            Mode::Use => match self.peek(request) {
                hit @ Peek::Hit(_) => (hit, None),
                other => self.settle(request, other),
            },
        };
        self.note(request, &found);
        let permit = turn.map(|turn| self.permit_for(request, turn)).transpose()?;
        Ok(match (found, permit) {
            (Peek::Hit(entry), _) => Outcome::Hit(entry),
            (Peek::Stale(entry), permit) => Outcome::Stale(entry, permit),
            (Peek::Miss(reason), Some(permit)) => Outcome::Miss(permit, reason),
            (Peek::Miss(reason), None) => Outcome::Bypass(reason),
        })
    }

    /// Looks for those who only read: takes no permit, and reads a large body
    /// whole, so that no byte of it is passed on before all of it is verified.
    pub fn read(&self, request: &Request<'_>) -> Peek {
        let found = self.peek_whole(request);
        self.note(request, &found);
        found
    }

    /// A large body may be replaced while it is read: then there is another.
    fn peek_whole(&self, request: &Request<'_>) -> Peek {
        for _ in 0..TRIES {
            let (serve, entry): (fn(Entry) -> Peek, Entry) = match self.peek(request) {
                Peek::Hit(entry) => (Peek::Hit, entry),
                Peek::Stale(entry) => (Peek::Stale, entry),
                miss @ Peek::Miss(_) => return miss,
            };
            match entry.whole() {
                Ok(entry) => return serve(entry),
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                Err(error) => return Peek::Miss(Reason::Unavailable(error)),
            }
        }
        Peek::Miss(Reason::Corrupt(Damage::Mismatch))
    }

    /// Looks without taking a permit and without leaving a trace. A fault of the
    /// store is a miss.
    pub fn peek(&self, request: &Request<'_>) -> Peek {
        self.peek_as_of(request, None)
    }

    /// The same for who asked a while ago: what was made since then is not too old
    /// for a reader's limit, however long that reader has waited.
    pub(super) fn peek_as_of(&self, request: &Request<'_>, asked: Option<Timestamp>) -> Peek {
        if !self.inner.options.enabled {
            return Peek::Miss(Reason::Disabled);
        }
        let record = match self.store().get(request.id) {
            Ok(Some(record)) => record,
            Ok(None) => return Peek::Miss(Reason::Absent),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                return Peek::Miss(Reason::Corrupt(Damage::Unreadable));
            }
            Err(error) => return Peek::Miss(Reason::Unavailable(error)),
        };
        self.judge(record, request, asked)
    }

    /// The full result of an entry, verified; `None` when there is none. Entry and
    /// full result may be replaced in between: then they are asked for again.
    pub fn full(&self, id: &Id) -> Result<Option<Body>> {
        self.full_once(id).or_else(|error| match error.kind() {
            ErrorKind::Corrupt => self.full_once(id),
            _ => Err(error),
        })
    }

    fn full_once(&self, id: &Id) -> Result<Option<Body>> {
        let Some(record) = self.store().get(id)? else { return Ok(None) };
        let Some(info) = record.head.header.full else { return Ok(None) };
        let damaged = |what: String| Error::new(ErrorKind::Corrupt, what);
        let payload = self.store().full(id)?;
        let payload = payload.ok_or_else(|| damaged("the full result is gone".to_owned()))?;
        let opened = payload.open(&info);
        opened.map(Some).map_err(|damage| damaged(format!("the full result is damaged: {damage}")))
    }

    /// Permission to fill `id`, whoever else is at it; its sources are taken now.
    pub fn permit(&self, id: &Id, view: &View, sources: &[String]) -> Result<Permit> {
        let watched = self.watch(view, sources)?;
        Ok(Permit::new(self.clone(), id.clone(), watched))
    }

    /// This moment and the state of `sources`, to come back to with
    /// [`Permit::since`] when the work is done by another process.
    pub fn since(&self, view: &View, sources: &[String]) -> Result<Since> {
        match sources {
            [] => Ok(Since::moment(self.clock().now())),
            sources => Ok(self.watch(view, sources)?.since()),
        }
    }

    /// Takes the state of `sources` as it is now.
    pub(super) fn watch(&self, view: &View, sources: &[String]) -> Result<Watched> {
        Watched::take(view, sources, self.inner.options.sources, self.clock().now())
    }

    /// Returns those of `paths` that are there and can be watched.
    pub fn watchable(&self, view: &View, paths: &[String]) -> Vec<String> {
        Watched::present(view, paths, self.inner.options.sources)
    }

    fn judge(&self, record: Arc<Record>, request: &Request<'_>, asked: Option<Timestamp>) -> Peek {
        let header = &record.head.header;
        if is_another(&header.parts, request.parts) {
            return Peek::Miss(Reason::Absent);
        }
        if self.is_unwanted_failure(header, request) {
            return Peek::Miss(Reason::Failure);
        }
        if header.streams_merged && !request.accepts_merged_streams {
            return Peek::Miss(Reason::StreamsMerged);
        }
        if let Some(reason) = sources::changed(&header.sources, request.view, self) {
            return Peek::Miss(reason);
        }
        let serve = match self.freshness(header, request, asked) {
            Freshness::Fresh => Peek::Hit,
            Freshness::Stale => Peek::Stale,
            Freshness::Expired(reason) => return Peek::Miss(reason),
        };
        record.open().map_or_else(|damage| Peek::Miss(Reason::Corrupt(damage)), serve)
    }

    pub(super) fn is_unwanted_failure(&self, header: &Header, request: &Request<'_>) -> bool {
        let age = self.clock().now().millis_since(header.created);
        header.failure && request.failures.is_none_or(|limit| age >= limit)
    }

    /// Whether it was made further in the future than clocks differ: it would never
    /// expire.
    pub(super) fn is_from_the_future(&self, header: &Header) -> bool {
        header.ttl.is_some() && header.created > self.clock().now().plus_millis(MAX_LEAD)
    }

    /// The TTL is the smaller of the entry's and the reader's, and counts from when the
    /// result was there. A reader's limit on the age counts from when the work began:
    /// nothing that happened since need be in it.
    fn freshness(
        &self,
        header: &Header,
        request: &Request<'_>,
        asked: Option<Timestamp>,
    ) -> Freshness {
        let now = self.clock().now();
        let age = now.millis_since(header.created);
        let ttl = header.ttl.into_iter().chain(request.ttl).min().unwrap_or(u64::MAX);
        if self.is_from_the_future(header) {
            return Freshness::Expired(Reason::Expired { age, limit: ttl });
        }
        let work_age = asked.unwrap_or(now).millis_since(header.work_began());
        match request.max_age {
            Some(limit) if work_age > limit => {
                Freshness::Expired(Reason::Expired { age: work_age, limit })
            }
            _ if age < ttl => Freshness::Fresh,
            _ if age < ttl.saturating_add(header.grace) => Freshness::Stale,
            _ => Freshness::Expired(Reason::Expired { age, limit: ttl }),
        }
    }
}

/// Only what both sides know is compared.
pub(super) fn is_another(stored: &[Part], asked: &[Part]) -> bool {
    fn known(parts: &[Part]) -> impl Iterator<Item = (&str, Digest)> {
        parts.iter().map(|part| (part.name.as_str(), part.digest))
    }
    !stored.is_empty() && !asked.is_empty() && !known(stored).eq(known(asked))
}

impl Peek {
    /// The entry, fresh or stale.
    pub fn entry(self) -> Option<Entry> {
        match self {
            Self::Hit(entry) | Self::Stale(entry) => Some(entry),
            Self::Miss(_) => None,
        }
    }
}
