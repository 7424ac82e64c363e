//! The text between two JSON values: white space, comments, and perhaps a comma.

/// The gap behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueGap {
    /// Position of the comma, if there is one.
    pub(super) comma: Option<usize>,
    /// End of the comma (or the value) and the comments on the same line.
    pub(super) end: usize,
    /// True if a line comment ends the gap.
    pub(super) open: bool,
}

/// Returns the gap behind the value that ends at `end`.
pub(super) fn after(text: &str, end: usize) -> ValueGap {
    let comma = comma(text, end);
    let (end, open) = rest_of_line(text, comma.map_or(end, |at| at + 1));
    ValueGap { comma, end, open }
}

/// Returns the next comma, behind any comments.
fn comma(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        match comment_length(&text[at..]) {
            Some(len) => at += len,
            None => return text[at..].starts_with(',').then_some(at),
        }
    }
}

/// Skips the comments that begin on this line. True if the last is a line comment.
fn rest_of_line(text: &str, mut at: usize) -> (usize, bool) {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        match comment_length(&rest[blank..]) {
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

/// Length of the comment that `text` begins with, without its line end.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\r', '\n']).unwrap_or(text.len()));
    }
    let block = text.strip_prefix("/*")?;
    Some(block.find("*/").map_or(text.len(), |at| at + 4))
}

/// True if a line comment ends at `to`, with nothing but commas, blanks and comments from `at` on.
pub(super) fn ends_in_line_comment(text: &str, mut at: usize, to: usize) -> bool {
    while at < to {
        let rest = &text[at..to];
        let blank = |c: char| c.is_whitespace() || c == ',';
        at += rest.len() - rest.trim_start_matches(blank).len();
        let Some(length) = comment_length(&text[at..to]) else { return false };
        at += length;
        if at >= to && text[at - length..].starts_with("//") {
            return true;
        }
    }
    false
}

/// Start of the line break before `at`, if only blanks are between.
pub(super) fn line_break_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let start = before.strip_suffix('\n')?;
    Some(start.strip_suffix('\r').unwrap_or(start).len())
}

/// Indentation of the line of `at`.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
