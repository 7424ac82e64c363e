//! Recording of events in the ledger and in the hit log. Best effort: a failed write only skews
//! statistics.

use super::Cache;
use super::lookup::MissReason;
use super::permit::FillRefusal;
use crate::entry::{
    BodyDamage, EntryEvent, EntryEventKind, EventDetail, EventReason, Header, ProducerIdentity,
};
use crate::error::Result;
use crate::key::{EntryId, Kind};
use crate::ledger::{name_of, redact_and_shorten};
use crate::secrets;
use crate::store::{EvictedEntry, EvictionCause, EvictionLimit, EvictionPlan, EvictionReport};

impl Cache {
    /// The recorded events of an entry (stored, refused, evicted, expired, with their reasons),
    /// latest first.
    pub(crate) fn history(&self, id: &EntryId) -> Result<Vec<EntryEvent>> {
        self.inner.ledger.as_ref().map_or_else(|| Ok(Vec::new()), |ledger| ledger.history(id))
    }

    /// Records a stored result.
    pub(super) fn note_stored(&self, id: &EntryId, header: &Header) {
        let Header { kind, ttl, identity, cost, .. } = header;
        let by = name_of(Some(identity));
        let detail = EventDetail { by, ttl: *ttl, cost: *cost, ..EventDetail::default() };
        self.note_event(*kind, id, EntryEventKind::Stored, detail);
    }

    /// Records why a result was not stored.
    pub(super) fn note_refused(
        &self,
        kind: Kind,
        id: &EntryId,
        by: Option<&ProducerIdentity>,
        refusal: &FillRefusal,
    ) {
        // A key that contains a secret must not be written to the ledger either.
        if secrets::detect_secret(id.key.as_str().as_bytes()).is_some() {
            return;
        }
        let why = match refusal {
            FillRefusal::SourceChanged(reason) => detail_of(reason).why,
            FillRefusal::SourcesDiffer | FillRefusal::OtherSources => {
                Some(EventReason::SourcesDiffer)
            }
            FillRefusal::Overtaken => Some(EventReason::Overtaken),
            FillRefusal::Unkept(why) => Some(EventReason::Unkept(redact_and_shorten(why))),
            FillRefusal::Secret(rule) => Some(EventReason::Secret((*rule).to_owned())),
            FillRefusal::TooLarge { bytes, limit } => {
                Some(EventReason::TooLarge { bytes: *bytes, limit: *limit })
            }
        };
        let detail = EventDetail { by: name_of(by), why, ..EventDetail::default() };
        self.note_event(kind, id, EntryEventKind::Refused, detail);
    }

    /// Records evicted entries and the limit that each exceeded.
    pub(super) fn note_evicted(&self, plan: &EvictionPlan, evicted: &EvictionReport) {
        let now = self.clock().now();
        let event = |EvictedEntry { id, kind, cause }: &EvictedEntry| {
            let (what, why) = match cause {
                EvictionCause::Dead => (EntryEventKind::Purged, None),
                EvictionCause::Over(EvictionLimit::Entries) => {
                    (EntryEventKind::Evicted, plan.max_entries.map(EventReason::MaxEntries))
                }
                EvictionCause::Over(EvictionLimit::Bytes) => {
                    (EntryEventKind::Evicted, plan.max_bytes.map(EventReason::MaxBytes))
                }
            };
            let detail = EventDetail { why, ..EventDetail::default() };
            EntryEvent { detail, ..EntryEvent::new(now, id.clone(), *kind, what) }
        };
        self.note_events(&evicted.gone.iter().map(event).collect::<Vec<_>>());
    }

    /// Records invalidated entries. If fewer than all were removed, one event carries their number,
    /// because it is unknown which ones were.
    pub(super) fn note_removed(&self, kind: Kind, ids: &[EntryId], gone: usize) {
        let now = self.clock().now();
        let event = |id: &EntryId| EntryEvent::new(now, id.clone(), kind, EntryEventKind::Removed);
        let events: Vec<EntryEvent> = if gone == ids.len() && gone <= EvictionReport::NAMED {
            ids.iter().map(event).collect()
        } else {
            let first = ids.first().filter(|_| gone > 0);
            first.map(|id| EntryEvent { count: gone as u64, ..event(id) }).into_iter().collect()
        };
        self.note_events(&events);
    }

    /// Records removed entries, at most [`EvictionReport::NAMED`] of them.
    pub(super) fn note_gone(&self, kind: Kind, ids: &[EntryId], what: EntryEventKind) {
        let now = self.clock().now();
        let event = |id: &EntryId| EntryEvent::new(now, id.clone(), kind, what);
        self.note_events(&ids.iter().take(EvictionReport::NAMED).map(event).collect::<Vec<_>>());
    }

    pub(super) fn note_event(
        &self,
        kind: Kind,
        id: &EntryId,
        what: EntryEventKind,
        detail: EventDetail,
    ) {
        let event = EntryEvent::new(self.clock().now(), id.clone(), kind, what);
        self.note_events(&[EntryEvent { detail, ..event }]);
    }

    fn note_events(&self, events: &[EntryEvent]) {
        if let Some(ledger) = &self.inner.ledger {
            let _ = ledger.append_events(events);
        }
    }
}

/// Event details of a miss reason.
pub(super) fn detail_of(reason: &MissReason) -> EventDetail {
    let (age, why) = match reason {
        MissReason::Absent
        | MissReason::Failure
        | MissReason::StreamsMerged
        | MissReason::Disabled
        | MissReason::Asked => (None, None),
        MissReason::Expired { age, limit } => {
            (Some(*age), Some(EventReason::TooOld { age: *age, limit: *limit }))
        }
        MissReason::SourceModified(path) => {
            (None, Some(EventReason::SourceModified(redact_and_shorten(path))))
        }
        MissReason::SourceMissing(path) => {
            (None, Some(EventReason::SourceMissing(redact_and_shorten(path))))
        }
        MissReason::Corrupt(BodyDamage::Mismatch) => (None, Some(EventReason::IntegrityMismatch)),
        MissReason::Corrupt(BodyDamage::Unreadable) => (None, Some(EventReason::Unreadable)),
        MissReason::Unavailable(_) => (None, Some(EventReason::StoreUnavailable)),
    };
    EventDetail { age, why, ..EventDetail::default() }
}
