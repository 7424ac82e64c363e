//! Recording of events in the ledger and in the hit log. Best effort: a failed write only skews
//! statistics.

use super::Cache;
use super::lookup::Request;
use super::outcome::{Peek, Reason};
use super::permit::Refusal;
use crate::base::text::shortened;
use crate::entry::{Damage, Detail, Event, Happening, Head, Header, Identity, Why};
use crate::error::Result;
use crate::key::{Id, Kind};
use crate::ledger::{Hit, Ledger};
use crate::secrets;
use crate::store::{Cause, Evicted, EvictionPlan, Gone, Limit};

/// Maximum length of a recorded name or path, in characters.
const MAX_NAME: usize = 120;

impl Cache {
    /// Records the result of a look-up.
    pub(super) fn note(&self, request: &Request<'_>, found: &Peek) {
        let Some(ledger) = &self.inner.ledger else { return };
        let _ = ledger.save_verified();
        match found {
            Peek::Hit(entry) | Peek::Stale(entry) => self.note_hit(ledger, request, entry.head()),
            Peek::Miss(reason) => {
                let Some(what) = reason.happening() else { return };
                let by = name_of(request.identity);
                let detail = Detail { by, ..detail_of(reason) };
                self.note_event(request.kind, request.id, what, detail);
            }
        }
    }

    fn note_hit(&self, ledger: &Ledger, request: &Request<'_>, head: &Head) {
        let Header { created, kind, identity: stored, cost, .. } = &head.header;
        let now = self.clock().now();
        let age = now.millis_since(*created);
        let (current, made) = (request.identity.map(noted), noted(stored));
        let by = current.as_ref().and_then(|current| current.name.clone());
        let stored_by = made.name.clone().filter(|made| by.as_ref() != Some(made));
        // A request without a name is attributed to the producer of the entry.
        let (by, stored_by) = if by.is_none() { (stored_by, None) } else { (by, stored_by) };
        let detail = Detail { by, stored_by, age: Some(age), cost: *cost, ..Detail::default() };
        let event = Event::new(now, request.id.clone(), *kind, Happening::Hit);
        let _ = ledger.note(&Event { detail, ..event });
        if ledger.logs_hits() {
            let _ = ledger.log_hit(&Hit {
                at: now,
                kind: *kind,
                id: request.id,
                age,
                current: current.as_ref(),
                stored: &made,
                saved: *cost,
            });
        }
    }

    /// The recorded events of an entry (stored, refused, evicted, expired, with their reasons),
    /// latest first.
    pub fn history(&self, id: &Id) -> Result<Vec<Event>> {
        self.inner.ledger.as_ref().map_or_else(|| Ok(Vec::new()), |ledger| ledger.history(id))
    }

    /// Records a stored result.
    pub(super) fn note_stored(&self, id: &Id, header: &Header) {
        let Header { kind, ttl, identity, cost, .. } = header;
        let by = name_of(Some(identity));
        let detail = Detail { by, ttl: *ttl, cost: *cost, ..Detail::default() };
        self.note_event(*kind, id, Happening::Stored, detail);
    }

    /// Records why a result was not stored.
    pub(super) fn note_refused(
        &self,
        kind: Kind,
        id: &Id,
        by: Option<&Identity>,
        refusal: &Refusal,
    ) {
        // A key that contains a secret must not be written to the ledger either.
        if secrets::detect(id.key.as_str().as_bytes()).is_some() {
            return;
        }
        let why = match refusal {
            Refusal::SourceChanged(reason) => detail_of(reason).why,
            Refusal::SourcesDiffer | Refusal::OtherSources => Some(Why::SourcesDiffer),
            Refusal::Overtaken => Some(Why::Overtaken),
            Refusal::Unkept(why) => Some(Why::Unkept(tidy(why))),
            Refusal::Secret(rule) => Some(Why::Secret((*rule).to_owned())),
            Refusal::TooLarge { bytes, limit } => {
                Some(Why::TooLarge { bytes: *bytes, limit: *limit })
            }
        };
        let detail = Detail { by: name_of(by), why, ..Detail::default() };
        self.note_event(kind, id, Happening::Refused, detail);
    }

    /// Records evicted entries and the limit that each exceeded.
    pub(super) fn note_evicted(&self, plan: &EvictionPlan, evicted: &Evicted) {
        let now = self.clock().now();
        let event = |Gone { id, kind, cause }: &Gone| {
            let (what, why) = match cause {
                Cause::Dead => (Happening::Purged, None),
                Cause::Over(Limit::Entries) => {
                    (Happening::Evicted, plan.max_entries.map(Why::MaxEntries))
                }
                Cause::Over(Limit::Bytes) => {
                    (Happening::Evicted, plan.max_bytes.map(Why::MaxBytes))
                }
            };
            let detail = Detail { why, ..Detail::default() };
            Event { detail, ..Event::new(now, id.clone(), *kind, what) }
        };
        self.note_events(&evicted.gone.iter().map(event).collect::<Vec<_>>());
    }

    /// Records invalidated entries. If fewer than all were removed, one event carries their number,
    /// because it is unknown which ones were.
    pub(super) fn note_removed(&self, kind: Kind, ids: &[Id], gone: usize) {
        let now = self.clock().now();
        let event = |id: &Id| Event::new(now, id.clone(), kind, Happening::Removed);
        let events: Vec<Event> = if gone == ids.len() && gone <= Evicted::NAMED {
            ids.iter().map(event).collect()
        } else {
            let first = ids.first().filter(|_| gone > 0);
            first.map(|id| Event { count: gone as u64, ..event(id) }).into_iter().collect()
        };
        self.note_events(&events);
    }

    /// Records removed entries, at most [`Evicted::NAMED`] of them.
    pub(super) fn note_gone(&self, kind: Kind, ids: &[Id], what: Happening) {
        let now = self.clock().now();
        let event = |id: &Id| Event::new(now, id.clone(), kind, what);
        self.note_events(&ids.iter().take(Evicted::NAMED).map(event).collect::<Vec<_>>());
    }

    fn note_event(&self, kind: Kind, id: &Id, what: Happening, detail: Detail) {
        let event = Event::new(self.clock().now(), id.clone(), kind, what);
        self.note_events(&[Event { detail, ..event }]);
    }

    fn note_events(&self, events: &[Event]) {
        if let Some(ledger) = &self.inner.ledger {
            let _ = ledger.note_all(events);
        }
    }
}

/// Event details of a miss reason.
fn detail_of(reason: &Reason) -> Detail {
    let (age, why) = match reason {
        Reason::Absent
        | Reason::Failure
        | Reason::StreamsMerged
        | Reason::Disabled
        | Reason::Asked => (None, None),
        Reason::Expired { age, limit } => {
            (Some(*age), Some(Why::TooOld { age: *age, limit: *limit }))
        }
        Reason::SourceModified(path) => (None, Some(Why::SourceModified(tidy(path)))),
        Reason::SourceMissing(path) => (None, Some(Why::SourceMissing(tidy(path)))),
        Reason::Corrupt(Damage::Mismatch) => (None, Some(Why::IntegrityMismatch)),
        Reason::Corrupt(Damage::Unreadable) => (None, Some(Why::Unreadable)),
        Reason::Unavailable(_) => (None, Some(Why::StoreUnavailable)),
    };
    Detail { age, why, ..Detail::default() }
}

fn name_of(identity: Option<&Identity>) -> Option<String> {
    identity.and_then(|identity| identity.name.as_deref()).map(tidy)
}

fn noted(identity: &Identity) -> Identity {
    let Identity { name, namespace, hash } = identity;
    let tidy = |text: &Option<String>| text.as_deref().map(tidy);
    Identity { name: tidy(name), namespace: tidy(namespace), hash: tidy(hash) }
}

/// Redacts and shortens a text that came from a caller.
fn tidy(text: &str) -> String {
    // Redact before shortening: a cut-off secret may no longer match its rule.
    shortened(&secrets::redact(text), MAX_NAME).into_owned()
}
