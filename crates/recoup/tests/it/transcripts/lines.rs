//! Lines read backwards, in a bounded buffer.

use proptest::prelude::*;
use recoup::transcripts::reverse_lines::{BLOCK, MAX_BUFFER_BYTES, MAX_LINE_BYTES, ReverseLines};

/// The complete lines of `text` from `floor`, in their order, with where they begin.
fn backwards(text: &[u8], floor: u64) -> (Vec<(u64, Vec<u8>)>, u64) {
    let mut lines = ReverseLines::between(text, floor, text.len() as u64, u64::MAX);
    let mut found = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        found.push((line.at, line.text.to_vec()));
    }
    assert!(lines.reached_floor());
    found.reverse();
    (found, lines.complete_until())
}

/// The same, as one would write it without a bound: what is not ended by a line end is
/// left out, and so is what is empty or too long.
fn forwards(text: &[u8], floor: u64) -> (Vec<(u64, Vec<u8>)>, u64) {
    let start = usize::try_from(floor).unwrap();
    let (mut at, mut found) = (start, Vec::new());
    for piece in text[start..].split_inclusive(|byte| *byte == b'\n') {
        if piece.last() != Some(&b'\n') {
            break;
        }
        let line = &piece[..piece.len() - 1];
        if !line.is_empty() && line.len() <= MAX_LINE_BYTES {
            found.push((at as u64, line.to_vec()));
        }
        at += piece.len();
    }
    (found, at as u64)
}

fn same(text: &[u8], floor: u64) {
    let ((mut back, back_end), (front, front_end)) =
        (backwards(text, floor), forwards(text, floor));
    back.retain(|(_, line)| !line.is_empty() && line.len() <= MAX_LINE_BYTES);
    assert!(back == front, "{} lines backwards, {} forwards", back.len(), front.len());
    assert_eq!(back_end, front_end);
}

#[test]
fn ends_and_edges() {
    for text in ["", "\n", "\n\n", "a", "a\n", "\na\n", "a\nb", "a\n\nb\n", "\n\n\na"] {
        same(text.as_bytes(), 0);
    }
}

#[test]
fn lines_about_as_long_as_a_block() {
    for len in [BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 7] {
        let text = format!("first\n{}\nlast\n", "x".repeat(len));
        same(text.as_bytes(), 0);
        same(&text.as_bytes()[1..], 0);
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    for len in [MAX_LINE_BYTES - 1, MAX_LINE_BYTES + 2 * BLOCK, 5 * MAX_LINE_BYTES] {
        let text = format!("first\n{}\nlast\n", "x".repeat(len));
        let (lines, _) = backwards(text.as_bytes(), 0);
        let short: Vec<&[u8]> =
            lines.iter().map(|(_, line)| &line[..]).filter(|line| line.len() < 10).collect();
        assert_eq!(short, [b"first" as &[u8], b"last"]);
    }
    let unended = format!("first\n{}", "x".repeat(5 * MAX_LINE_BYTES));
    same(unended.as_bytes(), 0);
}

#[test]
fn memory_stays_bounded_whatever_is_read() {
    let mut text = Vec::new();
    for len in [
        10,
        3 * MAX_LINE_BYTES,
        100,
        MAX_LINE_BYTES,
        0,
        MAX_LINE_BYTES - 1,
        200_000,
        8 * MAX_LINE_BYTES,
    ] {
        text.resize(text.len() + len, b'x');
        text.push(b'\n');
    }
    let mut lines = ReverseLines::between(&text[..], 0, text.len() as u64, u64::MAX);
    while lines.next_line().unwrap().is_some() {
        assert!(lines.buffered() <= MAX_BUFFER_BYTES, "{}", lines.buffered());
    }
    assert!(lines.buffered() <= MAX_BUFFER_BYTES);
}

#[test]
fn no_more_is_read_than_allowed() {
    let text = "a line\n".repeat(100_000);
    let mut lines = ReverseLines::between(text.as_bytes(), 0, text.len() as u64, 2 * BLOCK as u64);
    let mut count = 0;
    while lines.next_line().unwrap().is_some() {
        count += 1;
    }
    assert!(count > 10_000 && count < 20_000, "{count}");
    assert!(!lines.reached_floor());
}

#[test]
fn a_file_that_became_shorter_is_an_error() {
    let mut lines = ReverseLines::between(b"a\nb\n" as &[u8], 0, 100, u64::MAX);
    assert!(lines.next_line().is_err());
}

proptest! {
    #[test]
    fn backwards_equals_forwards(pieces in prop::collection::vec((0_usize..200, any::<bool>()), 0..40), floor in 0_usize..40) {
        let mut text = Vec::new();
        let mut starts = vec![0];
        for (len, ends) in pieces {
            text.resize(text.len() + len, b'a' + u8::try_from(len % 26).unwrap());
            if ends {
                text.push(b'\n');
                starts.push(text.len());
            }
        }
        same(&text, starts[floor % starts.len()] as u64);
    }

    #[test]
    fn backwards_equals_forwards_across_blocks(lens in prop::collection::vec(0_usize..2 * BLOCK, 0..6), cut in 0_usize..4 * BLOCK) {
        let mut text: Vec<u8> = Vec::new();
        for len in lens {
            text.resize(text.len() + len, b'x');
            text.push(b'\n');
        }
        text.truncate(text.len().saturating_sub(cut));
        same(&text, 0);
    }
}
