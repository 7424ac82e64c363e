//! Pending lines of a long-lived process, appended together when there are enough or the first has
//! waited long enough.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::{HitEvent, LedgerInner, format_event};
use crate::base::clock::{Deadline, Timestamp};
use crate::entry::ProducerIdentity;
use crate::key::EntryId;

/// Number of lines that are appended at once.
const ENOUGH: usize = 64;
/// How long the first line waits.
const LONG: Duration = Duration::from_secs(1);
/// Maximum number of pending lines if they cannot be written; beyond it they are dropped.
const MOST: usize = 64 * ENOUGH;

/// Pending lines, and the thread that writes them.
#[derive(Debug, Default)]
pub(super) struct LineOutbox {
    waiting: Mutex<PendingLines>,
    /// Wakes the thread, which is started with the first line.
    bell: Mutex<Option<Sender<()>>>,
}

/// Lines for either log.
#[derive(Debug, Default)]
pub(super) struct PendingLines {
    pub(super) events: Vec<u8>,
    pub(super) hits: Vec<u8>,
    /// Hits of one entry by one reader, which become one event.
    pub(super) served: HashMap<ServedKey, HitEvent>,
    count: usize,
}

/// Entry, its creation, and the reader.
pub(super) type ServedKey = (EntryId, Timestamp, Option<ProducerIdentity>);

impl LineOutbox {
    /// Adds lines. Returns true if it is time to write them.
    pub(super) fn put(
        &self,
        inner: &Arc<LedgerInner>,
        add: impl FnOnce(&mut PendingLines) -> usize,
    ) -> bool {
        let mut waiting = self.waiting.lock();
        let was_empty = waiting.count == 0;
        waiting.count += add(&mut waiting);
        let is_full = waiting.count >= ENOUGH;
        drop(waiting);
        if is_full || !was_empty {
            return is_full;
        }
        let mut bell = self.bell.lock();
        if bell.is_none() {
            let (sender, rings) = mpsc::channel();
            let inner = Arc::downgrade(inner);
            let thread = thread::Builder::new().name("recoup-ledger".to_owned());
            if thread.spawn(move || flush_when_due(&inner, &rings)).is_ok() {
                *bell = Some(sender);
            }
        }
        // Without a thread, nobody would write them later.
        bell.as_ref().is_none_or(|bell| bell.send(()).is_err())
    }

    /// Takes the lines. Hits that are still being counted are left if there are few, unless everything
    /// is wanted.
    pub(super) fn take(&self, everything: bool) -> PendingLines {
        let mut waiting = self.waiting.lock();
        let mut lines = std::mem::take(&mut *waiting);
        if !everything && lines.served.len() < ENOUGH / 2 {
            std::mem::swap(&mut waiting.served, &mut lines.served);
            waiting.count = waiting.served.len();
            lines.count -= waiting.count;
        }
        drop(waiting);
        for hit in std::mem::take(&mut lines.served).into_values() {
            lines.events.extend_from_slice(format_event(&hit.event).as_bytes());
        }
        lines
    }

    /// Puts back lines that could not be written, before later ones.
    pub(super) fn put_back(&self, mut lines: PendingLines) {
        let mut waiting = self.waiting.lock();
        if lines.count + waiting.count <= MOST {
            lines.events.append(&mut waiting.events);
            lines.hits.append(&mut waiting.hits);
            lines.count += waiting.count;
            *waiting = lines;
        }
    }
}

/// Ends with the ledger, which then flushes by itself.
fn flush_when_due(inner: &Weak<LedgerInner>, rings: &Receiver<()>) {
    while rings.recv().is_ok() {
        let due = Deadline::after(LONG);
        loop {
            match rings.recv_timeout(due.remaining()) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // After an error the lines are put back, and tried with the next.
        if let Some(inner) = inner.upgrade() {
            let _ = inner.flush(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::base::clock::Timestamp;
    use crate::base::digest::Sha256Digest;
    use crate::entry::{Draft, RecordedSources};
    use crate::key::{EntryId, Key, Kind, Scope};
    use crate::ledger::{AppendMode, HitLog, Ledger};

    #[test]
    fn hits_of_an_entry_are_counted_together_and_logged_one_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let log = HitLog::in_dir(dir.path().join("logs"));
        let ledger =
            Ledger::open(dir.path().join("ledger"), Some(log.clone()), AppendMode::Together);
        let now = Timestamp::from_millis(1_000_000);
        let draft = Draft::new(Kind::Result, "text");
        let header = draft.seal(RecordedSources::default(), now).unwrap().head.header;
        let id = |name: &str| {
            let digest = Sha256Digest::of(name.as_bytes());
            EntryId::new(Scope::global(), Key::from_digest(digest))
        };
        for n in 0..1_000 {
            ledger.record_hit(now, &id("hot"), &header, None).unwrap();
            if n % 10 == 0 {
                ledger.record_hit(now, &id(&n.to_string()), &header, None).unwrap();
            }
        }
        let (mut hot, mut others, mut events) = (0, 0, 0);
        let count = |batch: &crate::entry::EventBatch| {
            for event in &batch.events {
                events += 1;
                *if event.id == id("hot") { &mut hot } else { &mut others } += event.count;
            }
            Ok(())
        };
        ledger.fold(count).unwrap();
        assert_eq!((hot, others), (1_000, 100));
        assert!(events < 120, "{events}");
        let logged = std::fs::read_to_string(log.path()).unwrap();
        assert_eq!(logged.lines().count(), 1_100);
    }
}
