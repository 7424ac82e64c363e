//! A note's words where a client reads Markdown: one line, in which nothing is carried
//! out, replaced or hidden.
//!
//! In a skill the client first puts something, or nothing, in for `$1`, `$ARGUMENTS`,
//! `${NAME}` and the like; then it runs `` !`…` `` and what stands in ```` ```! ````, and
//! reads `@path`. What is put in may join what stood apart, so no sign of the first sort is
//! left at all; the others are looked for in what is written then, of which nothing goes.

use crate::memory::Note;
use crate::memory::inject::one_line;

/// What stands for a sign of which the client would make something else.
const DOLLAR: &str = "&#36;";

/// Words as they stand in an item of a list.
pub(super) fn plain(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len());
    let (mut before, mut chars) = (' ', line.chars().peekable());
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '$' if next.is_some_and(|next| next != ' ') => out.push_str(DOLLAR),
            // Within a word, or in quotes, it names no file. Some stops of other scripts are
            // like white space to the client.
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

/// A note as an item, with the files that it holds for; empty where nothing can be shown.
pub(super) fn item(note: &Note) -> String {
    let text = plain(&note.text);
    let paths = note.paths.as_deref().map(plain).filter(|glob| !glob.is_empty());
    match paths {
        Some(glob) if !text.is_empty() => format!("[only for {glob}] {text}"),
        _ => text,
    }
}

/// As much of a text as `most` bytes hold, with a sign where something is missing.
pub(super) fn cut(text: &str, most: usize) -> String {
    const MISSING: &str = "…";
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(MISSING.len()));
    format!("{}{MISSING}", text[..end].trim_end())
}

/// A text as a value in frontmatter: JSON's strings are YAML's, too.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Words alone, one space around each: the same for a text however it was escaped.
pub(super) fn folded(text: &str) -> String {
    let text = text.replace("&lt;", " ").replace(DOLLAR, " ").to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + word + " ")
}
