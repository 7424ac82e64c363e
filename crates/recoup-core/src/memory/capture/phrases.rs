//! Hash tables of phrases, built at compile time: building them at run time would take a hook
//! longer than reading its one prompt.

use crate::memory::capture::concepts::{ConceptName, is_cjk};

/// A concept and its phrases, separated by a character.
pub(super) type PhraseLine = (ConceptName, &'static str);

const HASHES: usize = 4_096;

/// Key by which phrases are found.
#[derive(Debug, Clone, Copy)]
pub(super) enum PhraseKey {
    /// First word, for phrases with spaces between words.
    Word,
    /// First character, for Chinese and Japanese phrases.
    Character,
}

/// Hash index of phrases, keyed by their first word or character.
#[derive(Debug)]
pub(super) struct PhraseTable<const COUNT: usize> {
    lines: &'static [PhraseLine],
    /// Number of the first phrase with this hash, counted from 1; 0 for none.
    first: [u16; HASHES],
    all: [PhraseSpan; COUNT],
}

/// Position of a phrase in the lines.
#[derive(Debug, Clone, Copy)]
struct PhraseSpan {
    line: u16,
    start: u16,
    end: u16,
    /// Number of the next phrase with the same hash, likewise.
    next: u16,
}

/// Number of phrases in a table, for its type.
pub(super) const fn count(lines: &[PhraseLine], parted: u8, by: PhraseKey) -> usize {
    let (mut count, mut line) = (0, 0);
    while line < lines.len() {
        let text = lines[line].1.as_bytes();
        let mut end = text.len();
        loop {
            let start = start_of(text, end, parted);
            if has_key(text, start, end, by) {
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

impl<const COUNT: usize> PhraseTable<COUNT> {
    /// Fills the table from the last phrase to the first, so that the first are found first.
    pub(super) const fn new(lines: &'static [PhraseLine], parted: u8, by: PhraseKey) -> Self {
        let mut all = [PhraseSpan { line: 0, start: 0, end: 0, next: 0 }; COUNT];
        let (mut first, mut len, mut line) = ([0; HASHES], 0, lines.len());
        while line > 0 {
            line -= 1;
            let text = lines[line].1.as_bytes();
            let mut end = text.len();
            loop {
                let start = start_of(text, end, parted);
                if has_key(text, start, end, by) {
                    let mut key_end = start + 3;
                    if matches!(by, PhraseKey::Word) {
                        key_end = start;
                        while key_end < end && text[key_end] != b' ' {
                            key_end += 1;
                        }
                    }
                    let slot = hash(text, start, key_end);
                    let (line, start, end) = (short(line), short(start), short(end));
                    all[len] = PhraseSpan { line, start, end, next: first[slot] };
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

    /// Concepts and phrases that may begin like that, in their order.
    pub(super) fn starting_like(&self, begins: &str) -> impl Iterator<Item = PhraseLine> {
        let at = |number: u16| self.all.get(usize::from(number).checked_sub(1)?);
        let first = at(self.first[hash(begins.as_bytes(), 0, begins.len())]);
        std::iter::successors(first, move |phrase| at(phrase.next)).map(|phrase| {
            let (concept, text) = self.lines[usize::from(phrase.line)];
            (concept, &text[usize::from(phrase.start)..usize::from(phrase.end)])
        })
    }
}

/// Start of the phrase that ends at `end`.
const fn start_of(text: &[u8], end: usize, parted: u8) -> usize {
    let mut start = end;
    while start > 0 && text[start - 1] != parted {
        start -= 1;
    }
    start
}

/// True if a phrase is found by this kind of key.
const fn has_key(text: &[u8], start: usize, end: usize, by: PhraseKey) -> bool {
    assert!(start < end, "a phrase has words");
    let character = match text[start] {
        lead @ 0xe0..=0xef => {
            let (second, third) = (text[start + 1] as u32 & 0x3f, text[start + 2] as u32 & 0x3f);
            char::from_u32((lead as u32 & 0xf) << 12 | second << 6 | third)
        }
        _ => None,
    };
    let asian = matches!(character, Some(c) if is_cjk(c));
    matches!(by, PhraseKey::Character) == asian
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

    const LINES: &[PhraseLine] = &[("NO", "no|no way|never|不"), ("STOP", "no more|不要|stop")];
    const WORDS: usize = count(LINES, b'|', PhraseKey::Word);
    const ASIAN: usize = count(LINES, b'|', PhraseKey::Character);
    static BY_WORD: PhraseTable<WORDS> = PhraseTable::new(LINES, b'|', PhraseKey::Word);
    static BY_CHARACTER: PhraseTable<ASIAN> = PhraseTable::new(LINES, b'|', PhraseKey::Character);

    #[test]
    fn phrases_are_found_by_how_they_begin_and_in_their_order() {
        assert_eq!((WORDS, ASIAN), (5, 2));
        let like = |begins| BY_WORD.starting_like(begins).collect::<Vec<_>>();
        assert_eq!(like("no"), [("NO", "no"), ("NO", "no way"), ("STOP", "no more")]);
        assert_eq!(like("stop"), [("STOP", "stop")]);
        assert_eq!(like("way"), []);
        let asian: Vec<_> = BY_CHARACTER.starting_like("不").collect();
        assert_eq!(asian, [("NO", "不"), ("STOP", "不要")]);
    }
}
