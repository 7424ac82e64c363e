//! Lines that nobody can read are passed over, and harm no other.

use std::fs;
use std::io::Write as _;

use super::{event, ledger, told};

/// What is told when `bytes` stand between two good lines.
#[track_caller]
pub(super) fn assert_passed_over(bytes: &[u8]) {
    let (dir, ledger) = ledger();
    ledger.append_event(&event("first", 1)).unwrap();
    let path = dir.path().join("ledger/open.log");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
    if bytes.ends_with(b"\n") {
        ledger.append_event(&event("last", 1)).unwrap();
        assert_eq!(told(&ledger), [event("first", 1), event("last", 1)]);
    } else {
        assert_eq!(told(&ledger), [event("first", 1)]);
    }
}

#[test]
fn garbage_is_passed_over() {
    let garbage: [&[u8]; 7] = [
        b"\n", b"\n\n\n", b"garbage\n", b"\0\0\0\0\0\0\0\0\n", b"\xff\xfe\xff\n", b"1 2 3 4 5 6\n",
        b"1 hit 1 result global a/b\n",
    ];
    for bytes in garbage {
        assert_passed_over(bytes);
    }
}

#[test]
fn a_line_of_another_version_is_passed_over() {
    for line in [
        "1790000000123 prefetched 1 result global a\n",
        "1790000000123 hit 1 embedding global a\n",
        "1790000000123 hit 1 result galaxy:far a\n",
        "1790000000123 hit 1 result global a and-more\n",
        "1790000000123 hit many result global a\n",
        "v2 1790000000123 hit 1 result global a\n",
        "1790000000123 hit 1 result global\n",
    ] {
        assert_passed_over(line.as_bytes());
    }
}

/// Wherever it was cut: the beginning of a key may be a key as well.
#[test]
fn half_a_line_at_the_end_is_passed_over() {
    let line = "1790000000123 hit 1 result global abcdef";
    for len in 1..=line.len() {
        assert_passed_over(&line.as_bytes()[..len]);
    }
}
