//! Text of notes in Markdown that a client reads: one line, in which nothing is executed, replaced
//! or hidden.
//!
//! In a skill the client first substitutes `$1`, `$ARGUMENTS`, `${NAME}` and the like; then it runs
//! `` !`…` `` and what stands in ```` ```! ````, and reads `@path`. A substitution may join text
//! that stood apart, so no sign of the first sort is left at all; the others are looked for in the
//! text that is written.

use recoup_core::memory::Note;
use recoup_core::memory::lang::one_line;

/// Replacement for a dollar sign, which the client would substitute.
const DOLLAR: &str = "&#36;";

/// Escapes text for an item of a list.
fn escape_item(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len());
    let (mut before, mut chars) = (' ', line.chars().peekable());
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '$' if next.is_some_and(|next| next != ' ') => out.push_str(DOLLAR),
            // Within a word, or in quotes, it names no file. To the client, some punctuation of
            // other scripts is like white space.
            '@' if !before.is_ascii_graphic() => out.push_str("\\@"),
            // A link shows one thing and leads to another.
            ']' if matches!(next, Some('(' | '[' | ':')) => out.push_str("\\]"),
            '!' if next == Some('`') => out.push_str("! "),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// Returns a note as an item, with its path glob; empty if nothing can be shown.
pub(super) fn item_text(note: &Note) -> String {
    let text = escape_item(&note.text);
    let paths = note.paths.as_deref().map(escape_item).filter(|glob| !glob.is_empty());
    match paths {
        Some(glob) if !text.is_empty() => format!("[only for {glob}] {text}"),
        _ => text,
    }
}

/// Cuts a text to `most` bytes, with an ellipsis where something is missing.
pub(super) fn cut(text: &str, most: usize) -> String {
    const MISSING: &str = "…";
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(MISSING.len()));
    format!("{}{MISSING}", text[..end].trim_end())
}

/// Quotes a text for frontmatter: JSON strings are valid YAML.
pub(super) fn quote_yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the words alone, with one space around each: equal however a text was escaped.
fn fold_words(text: &str) -> String {
    let text = text.replace("&lt;", " ").replace(DOLLAR, " ").to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + word + " ")
}

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
