//! Phrases by how they begin, in tables that the compiler makes: a hook has one prompt to
//! look at, and to make them took longer than that.

use super::concepts::{Concept, is_cjk};

/// What phrases stand for, and these, one behind the other.
pub(super) type Line = (Concept, &'static str);

const HASHES: usize = 4_096;

/// By what phrases are found.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    /// Those with spaces between their words, by the first of these.
    Word,
    /// Chinese and Japanese ones, by their first character.
    Character,
}

/// Those phrases of some lines that are found by the same.
#[derive(Debug)]
pub(super) struct Phrases<const COUNT: usize> {
    lines: &'static [Line],
    /// The first of those whose beginnings have the same hash, counted from 1; 0 for none.
    first: [u16; HASHES],
    all: [Phrase; COUNT],
}

/// Where a phrase stands.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    line: u16,
    start: u16,
    end: u16,
    /// The next of the same hash, likewise.
    next: u16,
}

/// How many there are, for the type of the table.
pub(super) const fn count(lines: &[Line], parted: u8, by: By) -> usize {
    let (mut count, mut line) = (0, 0);
    while line < lines.len() {
        let text = lines[line].1.as_bytes();
        let mut end = text.len();
        loop {
            let start = start_of(text, end, parted);
            if is_found(text, start, end, by) {
                count += 1;
            }
            if start == 0 {
                break;
            }
            end = start - 1;
        }
        line += 1;
    }
    count
}

impl<const COUNT: usize> Phrases<COUNT> {
    /// From the last to the first, so that those that come first are found first.
    pub(super) const fn new(lines: &'static [Line], parted: u8, by: By) -> Self {
        let mut all = [Phrase { line: 0, start: 0, end: 0, next: 0 }; COUNT];
        let (mut first, mut len, mut line) = ([0; HASHES], 0, lines.len());
        while line > 0 {
            line -= 1;
            let text = lines[line].1.as_bytes();
            let mut end = text.len();
            loop {
                let start = start_of(text, end, parted);
                if is_found(text, start, end, by) {
                    let slot = hash(text, start, beginning(text, start, end, by));
                    let (line, start, end) = (short(line), short(start), short(end));
                    all[len] = Phrase { line, start, end, next: first[slot] };
                    len += 1;
                    first[slot] = short(len);
                }
                if start == 0 {
                    break;
                }
                end = start - 1;
            }
        }
        Self { lines, first, all }
    }

    /// All that may begin like that, in their order: what they stand for, and they
    /// themselves.
    pub(super) fn like(&self, begins: &str) -> impl Iterator<Item = Line> {
        let at = |number: u16| self.all.get(usize::from(number).checked_sub(1)?);
        let first = at(self.first[hash(begins.as_bytes(), 0, begins.len())]);
        std::iter::successors(first, move |phrase| at(phrase.next)).map(|phrase| {
            let (concept, text) = self.lines[usize::from(phrase.line)];
            (concept, &text[usize::from(phrase.start)..usize::from(phrase.end)])
        })
    }
}

/// Where the phrase begins that ends there.
const fn start_of(text: &[u8], end: usize, parted: u8) -> usize {
    let mut start = end;
    while start > 0 && text[start - 1] != parted {
        start -= 1;
    }
    start
}

/// Whether a phrase is one of those that are found by that.
const fn is_found(text: &[u8], start: usize, end: usize, by: By) -> bool {
    assert!(start < end, "a phrase has words");
    let character = match text[start] {
        lead @ 0xe0..=0xef => {
            let (second, third) = (text[start + 1] as u32 & 0x3f, text[start + 2] as u32 & 0x3f);
            char::from_u32((lead as u32 & 0xf) << 12 | second << 6 | third)
        }
        _ => None,
    };
    let asian = matches!(character, Some(c) if is_cjk(c));
    matches!(by, By::Character) == asian
}

/// Where that ends by which a phrase is found.
const fn beginning(text: &[u8], start: usize, end: usize, by: By) -> usize {
    if matches!(by, By::Character) {
        return start + 3;
    }
    let mut at = start;
    while at < end && text[at] != b' ' {
        at += 1;
    }
    at
}

const fn hash(text: &[u8], start: usize, end: usize) -> usize {
    let (mut mixed, mut at) = (0x811c_9dc5_u32, start);
    while at < end {
        mixed = (mixed ^ text[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (mixed ^ (mixed >> 15)) as usize % HASHES
}

#[expect(clippy::cast_possible_truncation, reason = "it is looked at first")]
const fn short(number: usize) -> u16 {
    assert!(number <= u16::MAX as usize, "a line is short, and there are a few thousand phrases");
    number as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &[Line] = &[("NO", "no|no way|never|不"), ("STOP", "no more|不要|stop")];
    const WORDS: usize = count(LINES, b'|', By::Word);
    const ASIAN: usize = count(LINES, b'|', By::Character);
    static BY_WORD: Phrases<WORDS> = Phrases::new(LINES, b'|', By::Word);
    static BY_CHARACTER: Phrases<ASIAN> = Phrases::new(LINES, b'|', By::Character);

    #[test]
    fn phrases_are_found_by_how_they_begin_and_in_their_order() {
        assert_eq!((WORDS, ASIAN), (5, 2));
        let like = |begins| BY_WORD.like(begins).collect::<Vec<_>>();
        assert_eq!(like("no"), [("NO", "no"), ("NO", "no way"), ("STOP", "no more")]);
        assert_eq!(like("stop"), [("STOP", "stop")]);
        assert_eq!(like("way"), []);
        let asian: Vec<_> = BY_CHARACTER.like("不").collect();
        assert_eq!(asian, [("NO", "不"), ("STOP", "不要")]);
    }
}
