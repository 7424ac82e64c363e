//! Word lists: texts of words with a separator between them, and the sets of their first letters.
//! Most words are in no list, and most of those are ruled out by their first letter, without a
//! search of the list.

/// True if `word` is in a list of words with spaces between them.
pub(crate) fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Set of first bytes, as 64 bits. Bytes that share a bit are not told apart, so a list may be
/// searched in vain, but is never skipped wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstLetters(u64);

impl FirstLetters {
    /// First letters of the words in `text`, which are separated by `mark`.
    pub(crate) const fn of(text: &str, mark: u8) -> Self {
        let (text, mut letters, mut at) = (text.as_bytes(), 0, 0);
        while at < text.len() {
            if at == 0 || text[at - 1] == mark {
                letters |= bit(text[at]);
            }
            at += 1;
        }
        Self(letters)
    }

    /// True if `word` may begin with one of these letters.
    pub(crate) fn may_begin(self, word: &str) -> bool {
        word.bytes().next().is_some_and(|first| self.0 & bit(first) != 0)
    }
}

const fn bit(byte: u8) -> u64 {
    1 << (byte & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_list_begin_with_its_letters() {
        const LIST: &str = "npm|yarn|übel|指令";
        const LETTERS: FirstLetters = FirstLetters::of(LIST, b'|');
        for word in LIST.split('|') {
            assert!(LETTERS.may_begin(word), "{word}");
        }
        for word in ["", "pnpm", "apm", "ubel"] {
            assert!(!LETTERS.may_begin(word), "{word}");
        }
    }
}
