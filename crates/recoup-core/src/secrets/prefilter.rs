//! One pass over the text for the literals of all rules at once, letters in
//! either case. The tables are made at compile time: an automaton would take
//! 0.4 ms to build, a third of what a whole command may take.
//!
//! Only every second position is examined. Each literal has at least four bytes, so one of its
//! first two groups of three begins at an even position; a bitmap knows them all. What passes it is
//! compared in full. A literal of three bytes needs a fourth that [`may_follow`] it.

use super::rules::RULES;

/// A rule's literal, in lower case.
#[derive(Clone, Copy)]
struct RuleLiteral {
    text: &'static [u8],
    rule: u16,
}

const COUNT: usize = {
    let (mut total, mut rule) = (0, 0);
    while rule < RULES.len() {
        total += RULES[rule].literals.len();
        rule += 1;
    }
    total
};
const BITS: u32 = 16;
const WORDS: usize = 1 << (BITS - 6);

/// All literals, sorted by bucket.
static LITERALS: [RuleLiteral; COUNT] = sort_literals();
/// Start of each bucket in [`LITERALS`], and the end of the last one.
#[expect(clippy::cast_possible_truncation, reason = "there are a few hundred literals")]
static BUCKETS: [u16; WORDS + 1] = {
    let mut starts = [COUNT as u16; WORDS + 1];
    let (mut own, mut index) = (0, 0);
    while index < COUNT {
        let next = bucket(key_of(LITERALS[index].text, 0));
        while own <= next {
            starts[own] = index as u16;
            own += 1;
        }
        index += 1;
    }
    starts
};
/// The groups of three bytes with which a literal begins.
static FIRST: [u64; WORDS] = bitmap(false);
/// The groups of [`FIRST`], and those one byte further on.
static EITHER: [u64; WORDS] = bitmap(true);

/// The first position of a literal from `from` on.
pub(super) fn next_literal(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from + (from & 1);
    // The position before the first even one is checked on its own.
    if at != from && is_literal(text, from) {
        return Some(from);
    }
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        // The groups at `at` and at the next two even positions.
        let folded = u64::from_le_bytes(*bytes) | 0x2020_2020_2020_2020;
        #[expect(clippy::cast_possible_truncation, reason = "three of eight bytes at a time")]
        let groups = [folded, folded >> 16, folded >> 32].map(|part| part as u32 & 0x00FF_FFFF);
        // One branch for three positions: it is hardly ever taken.
        if groups.into_iter().fold(false, |any, group| any | bitmap_has(&EITHER, group)) {
            let found =
                [at, at + 2, at + 4].into_iter().find_map(|at| literal_near(text, at, from));
            if found.is_some() {
                return found;
            }
        }
        at += 6;
    }
    (at..text.len()).step_by(2).find_map(|at| literal_near(text, at, from))
}

/// Position of a literal, of the even position `at` and the one before it.
fn literal_near(text: &[u8], at: usize, from: usize) -> Option<usize> {
    if !bitmap_has(&EITHER, byte_group(text, at)?) {
        return None;
    }
    let before = (at > from).then(|| at - 1).filter(|&before| is_literal(text, before));
    before.or_else(|| is_literal(text, at).then_some(at))
}

/// The rules with a literal at `at`, by their number in the table, each with the length of that
/// literal.
pub(super) fn rules_at(text: &[u8], at: usize) -> impl Iterator<Item = (usize, usize)> {
    let bucket = byte_group(text, at).map_or(0, bucket);
    let range = usize::from(BUCKETS[bucket])..usize::from(BUCKETS[bucket + 1]);
    LITERALS[range]
        .iter()
        .filter(move |literal| {
            let Some(found) = text.get(at..at + literal.text.len()) else { return false };
            let mut pairs = found.iter().zip(literal.text);
            let longer = literal.text.len() > 3;
            pairs.all(|(&byte, &wanted)| fold(byte) == fold(wanted))
                && (longer || text.get(at + 3).is_some_and(|&byte| may_follow(fold(byte))))
        })
        .map(|literal| (usize::from(literal.rule), literal.text.len()))
}

fn is_literal(text: &[u8], at: usize) -> bool {
    byte_group(text, at).is_some_and(|group| bitmap_has(&FIRST, group))
        && rules_at(text, at).next().is_some()
}

/// Three bytes as one number, without regard to case.
#[inline]
fn byte_group(text: &[u8], at: usize) -> Option<u32> {
    let &[a, b, c] = text.get(at..)?.first_chunk::<3>()?;
    Some(u32::from_le_bytes([a, b, c, 0]) | 0x0020_2020)
}

#[inline]
fn bitmap_has(bitmap: &[u64; WORDS], group: u32) -> bool {
    let hash = hash(group);
    bitmap[hash >> 6] >> (hash & 63) & 1 == 1
}

#[inline]
const fn hash(group: u32) -> usize {
    (group.wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

/// Literals with the same word of the bitmap share a bucket.
const fn bucket(group: u32) -> usize {
    hash(group) >> 6
}

/// Makes letters equal in both cases with one bit; what else it makes equal, the rules tell apart.
const fn fold(byte: u8) -> u8 {
    byte | 0x20
}

/// True for what comes after a literal of three bytes: letters and digits, and the `_` (as folded),
/// `-` and `:` with which tokens and user names may go on.
const fn may_follow(folded: u8) -> bool {
    matches!(folded, b'a'..=b'z' | b'0'..=b'9' | b'-' | b':' | 0x7f)
}

const fn key_of(text: &[u8], offset: usize) -> u32 {
    let (a, b, c) = (fold(text[offset]), fold(text[offset + 1]), fold(text[offset + 2]));
    a as u32 | (b as u32) << 8 | (c as u32) << 16
}

#[expect(clippy::large_stack_arrays, reason = "made by the compiler, on no stack of ours")]
#[expect(clippy::cast_possible_truncation, reason = "there are a few hundred rules")]
const fn sort_literals() -> [RuleLiteral; COUNT] {
    let mut all = [RuleLiteral { text: b"", rule: 0 }; COUNT];
    let (mut len, mut number) = (0, 0);
    while number < RULES.len() {
        let literals = RULES[number].literals;
        let mut index = 0;
        while index < literals.len() {
            let text = literals[index].as_bytes();
            assert!(text.len() >= 3, "a literal needs three bytes");
            let own = bucket(key_of(text, 0));
            let mut at = len;
            while at > 0 && bucket(key_of(all[at - 1].text, 0)) > own {
                all[at] = all[at - 1];
                at -= 1;
            }
            all[at] = RuleLiteral { text, rule: number as u16 };
            len += 1;
            index += 1;
        }
        number += 1;
    }
    all
}

const fn bitmap(second: bool) -> [u64; WORDS] {
    let mut map = [0; WORDS];
    let mut index = 0;
    while index < COUNT {
        let text = LITERALS[index].text;
        set(&mut map, key_of(text, 0));
        if second && text.len() > 3 {
            set(&mut map, key_of(text, 1));
        } else if second {
            let mut byte = 0x20;
            while byte < 0x80 {
                if may_follow(byte) {
                    set(&mut map, key_of(&[text[1], text[2], byte], 0));
                }
                byte += 1;
            }
        }
        index += 1;
    }
    map
}

const fn set(map: &mut [u64; WORDS], group: u32) {
    let hash = hash(group);
    map[hash >> 6] |= 1 << (hash & 63);
}
