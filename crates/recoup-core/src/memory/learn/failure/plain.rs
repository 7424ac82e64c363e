//! Terminal output as plain text: without colours, and only the last state of a progress line.

use std::borrow::Cow;

/// Removes escape sequences, overwritten parts and control characters.
pub fn strip_terminal_codes(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            clean.push('\n');
        }
        let line = without_escapes(line.trim_end_matches('\r'));
        let shown = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or("");
        clean.extend(shown.chars().filter(|c| !odd(*c)));
    }
    Cow::Owned(clean)
}

fn without_escapes(line: &str) -> String {
    let mut clean = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            clean.push(c);
            continue;
        }
        match chars.next() {
            // Colours and movements end with a letter or the like,
            Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // titles and links with a bell, or an escape and a backslash.
            Some(']') => {
                while let Some(c) = chars.next() {
                    if c == '\u{7}' || c == '\u{1b}' {
                        let _ = chars.next_if_eq(&'\\');
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    clean
}
