//! Time, fresh names and digests.

use std::collections::HashSet;
use std::time::Duration;

use recoup_core::base::clock::{Clock, Deadline, ManualClock, SystemClock, Timestamp};
use recoup_core::base::digest::{Sha256Digest, Sha256Hasher};
use recoup_core::base::name::SafeName;
use recoup_core::base::name::{fresh_id, machine_fingerprint};

use crate::support::{START, later};

#[test]
fn fresh_ids_sort_by_time() {
    let clock = ManualClock::at(START);
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(fresh_id(&clock));
        clock.advance(Duration::from_millis(1));
    }
    assert!(ids.is_sorted(), "{ids:?}");
}

#[test]
fn fresh_ids_are_unique_and_valid_names() {
    let clock = ManualClock::at(START);
    let ids: HashSet<String> = (0..5_000).map(|_| fresh_id(&clock)).collect();
    assert_eq!(ids.len(), 5_000, "also within one millisecond");
    for id in &ids {
        assert_eq!(id.len(), 26);
        assert_eq!(SafeName::parse("id", id).unwrap().as_str(), id);
        assert!(id.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()));
    }
}

#[test]
fn ids_survive_strange_clocks() {
    for now in [Timestamp::from_millis(i64::MIN), Timestamp::from_millis(0), Timestamp::MAX] {
        assert_eq!(fresh_id(&ManualClock::at(now)).len(), 26);
    }
}

#[test]
fn moments_are_printed_in_utc_to_the_millisecond() {
    let printed = |millis| Timestamp::from_millis(millis).to_string();
    assert_eq!(printed(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(printed(1_794_780_806_042), "2026-11-15T22:13:26.042Z");
    assert_eq!(printed(-1), "1969-12-31T23:59:59.999Z");
    assert_eq!(Timestamp::MAX.to_string(), "9223372036854775807 ms", "no calendar has it");
}

#[test]
fn moments_stop_at_the_end_of_time() {
    assert_eq!(START.plus_millis(u64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::MAX.plus_millis(1), Timestamp::MAX);
    assert_eq!(Timestamp::from_millis(-5).plus_millis(10).as_millis(), 5);
    assert_eq!(later(5).millis_since(START), 5);
    assert_eq!(START.millis_since(later(5)), 0, "the clock went backwards");
    let beginning = Timestamp::from_millis(i64::MIN);
    assert_eq!(Timestamp::MAX.millis_since(beginning), i64::MAX.cast_unsigned());
}

#[test]
fn a_manual_clock_moves_when_told_for_all_who_look() {
    let clock = ManualClock::at(START);
    let seen: Box<dyn Clock> = Box::new(clock.clone());
    assert_eq!(seen.now(), START);
    clock.advance(Duration::from_millis(1_500));
    assert_eq!(seen.now(), later(1_500));
    assert!(SystemClock.now() > Timestamp::from_millis(1_600_000_000_000));
}

#[test]
fn a_deadline_passes() {
    assert!(Deadline::after(Duration::ZERO).has_passed());
    let far = Deadline::after(Duration::from_hours(1));
    assert!(!far.has_passed());
    assert!(far.remaining() > Duration::from_mins(50));
}

#[test]
fn a_digest_is_64_lower_case_hex_digits() {
    let digest = Sha256Digest::of(b"abc");
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((digest.to_hex(), digest.to_string()), (hex.to_owned(), hex.to_owned()));
    assert_eq!(Sha256Digest::from_hex(hex), Some(digest));
    assert_eq!(Sha256Digest::from_hex(&hex.to_uppercase()), Some(digest));
    let mut pieces = Sha256Hasher::new();
    pieces.update(b"a");
    pieces.update(b"");
    pieces.update(b"bc");
    assert_eq!(pieces.finish(), digest);
    assert_eq!(serde_json::to_value(digest).unwrap(), hex);
    for wrong in ["", "ba", &hex[1..], &format!("{hex}0"), &hex.replace('b', "g"), &"ä".repeat(32)]
    {
        assert_eq!(Sha256Digest::from_hex(wrong), None, "{wrong}");
        assert!(serde_json::from_value::<Sha256Digest>(wrong.into()).is_err());
    }
}

#[test]
fn a_machine_is_known_by_sixteen_hex_digits() {
    let fingerprint = machine_fingerprint();
    assert_eq!(fingerprint.len(), 16);
    assert!(fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(fingerprint, machine_fingerprint());
}
