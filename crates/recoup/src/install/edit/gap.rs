//! What stands between two values: white space, comments, and perhaps a comma.

/// What follows a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// Where the comma is, if there is one.
    pub(super) comma: Option<usize>,
    /// Behind the comma (or the value) and what is said about it on the same line.
    pub(super) end: usize,
    /// Whether that is a comment that only a new line ends.
    pub(super) open: bool,
}

/// Looks at what follows the value that ends at `end`.
pub(super) fn after(text: &str, end: usize) -> Gap {
    let comma = comma(text, end);
    let (end, open) = rest_of_line(text, comma.map_or(end, |at| at + 1));
    Gap { comma, end, open }
}

/// The comma that follows, whatever stands before it.
fn comma(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        match comment(&text[at..]) {
            Some(len) => at += len,
            None => return text[at..].starts_with(',').then_some(at),
        }
    }
}

/// Behind the comments that begin on this line.
fn rest_of_line(text: &str, mut at: usize) -> (usize, bool) {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        match comment(&rest[blank..]) {
            Some(len) => {
                at += blank + len;
                if rest[blank..].starts_with("//") {
                    return (at, true);
                }
            }
            None => return (at, false),
        }
    }
}

/// How long the comment is that `text` begins with, without the end of its line.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\r', '\n']).unwrap_or(text.len()));
    }
    let block = text.strip_prefix("/*")?;
    Some(block.find("*/").map_or(text.len(), |at| at + 4))
}

/// Whether a comment that only a new line ends stands right before `to`, where there is nothing
/// but commas, blanks and comments from `at` on.
pub(super) fn is_open_before(text: &str, mut at: usize, to: usize) -> bool {
    while at < to {
        let rest = &text[at..to];
        let blank = |c: char| c.is_whitespace() || c == ',';
        at += rest.len() - rest.trim_start_matches(blank).len();
        let Some(length) = comment(&text[at..to]) else { return false };
        at += length;
        if at >= to && text[at - length..].starts_with("//") {
            return true;
        }
    }
    false
}

/// Where the line break before `at` begins, if nothing but blanks stands between.
pub(super) fn line_break_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let start = before.strip_suffix('\n')?;
    Some(start.strip_suffix('\r').unwrap_or(start).len())
}

/// The blanks that the line of `at` begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
