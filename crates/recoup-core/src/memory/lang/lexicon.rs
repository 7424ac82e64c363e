//! Word lists of all languages, as one table from words to the classes that they are in.
//!
//! The words are data: `lexicon/<language>.toml`, compiled by `build.rs`. A key with a string is a
//! class ([`WordClasses`]), a key with a list is a list of phrases ([`PhraseList`]); `en.toml` tells
//! what each is for. Words are folded: lower case, without accents and apostrophes (`dont`, `nao`).
//! `word*` stands for all words that begin so.

use crate::memory::lang::phrase::PhraseList;
use crate::memory::lang::word_hash;

include!(concat!(env!("OUT_DIR"), "/lexicon.rs"));

/// Set of classes of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WordClasses(u128);

impl WordClasses {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Numbers of the classes.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u8> {
        (0..128).filter(move |number| self.0 >> number & 1 == 1)
    }

    /// True if the sets share a class.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Returns the classes of a folded word.
pub(crate) fn classes_of(word: &str) -> WordClasses {
    let (mut hash, mut classes) = (word_hash::EMPTY, WordClasses::NONE);
    for at in 0..=word.len() {
        if at < 64 && BEGINNING_LENGTHS & (1 << at) != 0 {
            let beginning = &word.as_bytes()[..at];
            classes = classes.or(look_up(word_hash::extend(hash, b'*'), beginning, true));
        }
        hash = word.as_bytes().get(at).map_or(hash, |byte| word_hash::extend(hash, *byte));
    }
    classes.or(look_up(hash, word.as_bytes(), false))
}

/// Returns the length of the longest word of the table that `text` begins with, for scripts that put
/// no spaces between words.
pub(crate) fn longest_word(text: &str) -> Option<usize> {
    const MOST_CHARS: usize = 12;
    let (mut hash, mut longest, mut from) = (word_hash::EMPTY, None, 0);
    for (at, c) in text.char_indices().take(MOST_CHARS) {
        let end = at + c.len_utf8();
        hash = text.as_bytes()[from..end]
            .iter()
            .fold(hash, |hash, byte| word_hash::extend(hash, *byte));
        from = end;
        if look_up(hash, &text.as_bytes()[..end], false) != WordClasses::NONE {
            longest = Some(end);
        }
    }
    longest
}

/// True if a folded word is in one of these classes.
pub(crate) fn is_in(word: &str, classes: WordClasses) -> bool {
    classes_of(word).has(classes)
}

fn look_up(hash: u32, word: &[u8], is_beginning: bool) -> WordClasses {
    let mut slot = word_hash::slot(hash, SLOTS.len());
    loop {
        let Some(at) = usize::from(SLOTS[slot]).checked_sub(1) else { return WordClasses::NONE };
        let stored = &TEXT.as_bytes()[STARTS[at] as usize..STARTS[at + 1] as usize];
        let is_same = match stored.split_last() {
            Some((b'*', beginning)) => is_beginning && beginning == word,
            _ => !is_beginning && stored == word,
        };
        if is_same {
            return WordClasses(SETS[usize::from(CLASSES[at])]);
        }
        slot = (slot + 1) & (SLOTS.len() - 1);
    }
}
