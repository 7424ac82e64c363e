//! Whether a file has a note's words, however they were escaped or cut there.

use super::text::{folded, plain};
use crate::memory::Note;

/// So much of a long statement is as good as the whole of it.
const ENOUGH: usize = 150;

/// What notes are known by.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    /// Words alone.
    words: Vec<String>,
    /// As it stands there: names, and what is nothing but signs.
    literal: Vec<String>,
}

impl Traces {
    /// Those of some notes.
    pub fn of(notes: &[Note]) -> Self {
        let mut traces = Self::default();
        for note in notes {
            traces.literal.push(note.id.to_string());
            // As it was said, and as it is written: signs that can't be seen are left out.
            for text in [note.text.trim().to_owned(), plain(&note.text)] {
                let words = folded(&text);
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

    /// Whether one of them is in a file.
    pub fn are_in(&self, file: &[u8]) -> bool {
        let text = String::from_utf8_lossy(file);
        self.literal.iter().any(|it| text.contains(it)) || {
            let text = folded(&text);
            self.words.iter().any(|it| text.contains(it))
        }
    }
}

/// Whole words.
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
        let words = folded(&"many words ".repeat(40));
        let known = beginning(&words);
        assert!(known.len() <= ENOUGH && known.ends_with(' '), "{known:?}");
        assert_eq!(beginning(" use tabs "), " use tabs ");
        let one = folded(&"x".repeat(400));
        assert_eq!(beginning(&one), one);
    }
}
