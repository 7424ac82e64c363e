//! The ledger by itself: what became of a key in a full history, and what it takes
//! to note a hit in a process that lives long.

use std::time::Duration;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::entry::{EntryEvent, EntryEventKind, EventDetail, EventReason};
use recoup_core::key::Kind;
use recoup_core::ledger::{AppendMode, Ledger};
use tempfile::TempDir;

use crate::measure::{Figure, Ratio, best, compare};
use crate::scene;

fn event(n: usize, what: EntryEventKind) -> EntryEvent {
    let by = Some("security-audit".to_owned());
    let detail = EventDetail { by, ..EventDetail::because(EventReason::MaxBytes(100 << 20)) };
    EntryEvent { detail, ..EntryEvent::new(SystemClock.now(), scene::id(n), Kind::Result, what) }
}

/// As full as it gets.
fn full() -> (TempDir, Ledger) {
    let dir = TempDir::new().unwrap();
    let ledger = Ledger::at(dir.path().join("ledger"));
    for round in 0..30 {
        let events: Vec<EntryEvent> =
            (0..1_000).map(|n| event(round * 1_000 + n, EntryEventKind::Evicted)).collect();
        ledger.append_events(&events).unwrap();
        ledger.fold(|_| Ok(())).unwrap();
    }
    (dir, ledger)
}

pub(crate) fn history() -> Figure {
    let wanted = scene::id(29_500);
    best(Duration::from_millis(5), 5, full, |(_, ledger)| {
        assert_eq!(ledger.history(&wanted).unwrap().len(), 1);
    })
}

/// Many lines with one append, against an append for each.
pub(crate) fn together_against_at_once() -> Ratio {
    let dir = TempDir::new().unwrap();
    let ledger = |name: &str, appends| Ledger::open(dir.path().join(name), None, appends);
    let (once, together) =
        (ledger("once", AppendMode::AtOnce), ledger("together", AppendMode::Together));
    let hit = event(1, EntryEventKind::Hit);
    compare(
        0.5,
        200,
        64,
        || once.append_event(&hit).unwrap(),
        || together.append_event(&hit).unwrap(),
    )
}
