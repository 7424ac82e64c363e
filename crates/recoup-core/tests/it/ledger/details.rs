//! What more is known about an event travels with it, and lines without it, or
//! with more of it than we know, are read all the same.

use std::fs;

use recoup_core::entry::{EntryEvent, EntryEventKind, EventDetail, EventReason, ProductionCost};

use super::{event, ledger, told};

fn all_reasons() -> Vec<EventReason> {
    let path = || "src/ä b.rs\n{\"".to_owned();
    vec![
        EventReason::SourceModified(path()),
        EventReason::SourceMissing(path()),
        EventReason::SourcesDiffer,
        EventReason::TooOld { age: u64::MAX, limit: 0 },
        EventReason::IntegrityMismatch,
        EventReason::Unreadable,
        EventReason::StoreUnavailable,
        EventReason::Secret("github-token".to_owned()),
        EventReason::TooLarge { bytes: 7, limit: 6 },
        EventReason::MaxEntries(5_000),
        EventReason::MaxBytes(100 << 20),
    ]
}

#[test]
fn everything_that_is_known_is_told() {
    let (_dir, ledger) = ledger();
    let cost = ProductionCost {
        millis: Some(u64::MAX),
        input_tokens: Some(0),
        output_tokens: Some(2),
        micro_dollars: Some(3),
    };
    let events: Vec<EntryEvent> = all_reasons()
        .into_iter()
        .map(|why| EventDetail {
            by: Some("my \"agent\"\n1 hit 1 result global a".to_owned()),
            stored_by: Some("another".to_owned()),
            age: Some(1),
            ttl: Some(2),
            why: Some(why),
            cost,
        })
        .map(|detail| EntryEvent { detail, ..event("a", 1) })
        .collect();
    ledger.append_events(&events).unwrap();
    assert_eq!(told(&ledger), events);
}

#[test]
fn lines_of_earlier_and_later_versions_are_read() {
    let (dir, ledger) = ledger();
    fs::create_dir_all(dir.path().join("ledger")).unwrap();
    let lines = "\
        4100000000123 hit 1 result global a\n\
        4100000000123 hit 1 result global a {}\n\
        4100000000123 hit 1 result global a {\"why\":{\"moon_phase\":3},\"mood\":[1]}\n";
    fs::write(dir.path().join("ledger/open.log"), lines).unwrap();
    assert_eq!(told(&ledger), vec![event("a", 1); 3]);
}

#[test]
fn a_detail_that_is_cut_off_or_no_object_makes_no_event() {
    for detail in ["{", "{\"age\":1", "[]", "1", "\"a\"", "{\"age\":-1}", "{} {}"] {
        super::lines::assert_passed_over(
            format!("4100000000123 hit 1 result global a {detail}\n").as_bytes(),
        );
    }
}

#[test]
fn reasons_are_said_in_a_few_words() {
    let said: Vec<String> = all_reasons().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(said.join("\n").replace("\n{\"", "…"), @"
    src/ä b.rs… changed
    src/ä b.rs… is missing
    the sources differ from the token's, or have changed
    forever old, limit 0 ms
    damaged: checksum mismatch
    damaged: unreadable
    the store is unavailable
    secret (github token)
    7 B is over the limit of 6 B
    over 5000 entries
    over 100 MB
    ");
    let of = |why: EventReason| {
        EntryEvent { detail: EventDetail::because(why), ..event("a", 1) }.to_string()
    };
    assert!(of(EventReason::MaxBytes(1)).starts_with("hit: over 1 B"));
    assert_eq!(event("a", 1).to_string(), "hit");
    assert_eq!(EntryEvent { what: EntryEventKind::Stored, ..event("a", 1) }.to_string(), "stored");
}
