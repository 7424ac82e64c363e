//! A note's words where a client reads Markdown: one line, in which nothing is carried
//! out, replaced or hidden.

use crate::memory::Note;
use crate::memory::inject::one_line;

/// Words as they stand in an item of a list. In a skill `` !`…` `` is a command that is
/// run, and `@path` a file that is read; neither is one here.
pub(super) fn plain(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len());
    let (mut before, mut chars) = (' ', line.chars().peekable());
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '@' if before.is_whitespace() => out.push_str("\\@"),
            // A link shows one thing and leads to another.
            ']' if matches!(next, Some('(' | '[' | ':')) => out.push_str("\\]"),
            c => out.push(c),
        }
        // What is put in for an argument may begin with a backtick.
        if c == '!' && matches!(next, Some('`' | '$')) {
            out.push(' ');
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
