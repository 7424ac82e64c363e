//! Detection of a note's text in a file, however it was escaped or cut.

use super::text::{escape_item, fold_words};
use crate::memory::Note;

/// Bytes of a long statement that are enough to recognise it.
const ENOUGH: usize = 150;

/// Texts by which notes are recognised.
#[derive(Debug, Clone, Default)]
pub struct NoteTraces {
    /// Texts as words alone.
    words: Vec<String>,
    /// Literal texts: ids, and statements without letters or digits.
    literal: Vec<String>,
}

impl NoteTraces {
    /// Collects the texts of some notes.
    pub fn of(notes: &[Note]) -> Self {
        let mut traces = Self::default();
        for note in notes {
            traces.literal.push(note.id.to_string());
            // As stated, and as written, without invisible characters.
            for text in [note.text.trim().to_owned(), escape_item(&note.text)] {
                let words = fold_words(&text);
                if words == " " {
                    traces.literal.push(text);
                } else {
                    traces.words.push(beginning(&words).to_owned());
                }
            }
        }
        traces.literal.retain(|text| !text.is_empty());
        traces
    }

    /// True if one of the texts is in a file.
    pub fn are_in(&self, file: &[u8]) -> bool {
        let text = String::from_utf8_lossy(file);
        self.literal.iter().any(|it| text.contains(it)) || {
            let text = fold_words(&text);
            self.words.iter().any(|it| text.contains(it))
        }
    }
}

/// Returns the beginning of a text, cut between words.
fn beginning(words: &str) -> &str {
    let end = words.floor_char_boundary(ENOUGH.min(words.len()));
    let last = words[..end].rfind(' ').filter(|last| *last > 0);
    last.map_or(words, |last| &words[..=last])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_statement_is_known_by_its_first_words() {
        let words = fold_words(&"many words ".repeat(40));
        let known = beginning(&words);
        assert!(known.len() <= ENOUGH && known.ends_with(' '), "{known:?}");
        assert_eq!(beginning(" use tabs "), " use tabs ");
        let one = fold_words(&"x".repeat(400));
        assert_eq!(beginning(&one), one);
    }
}
