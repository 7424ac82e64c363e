//! Positions in TOML text.

use std::ops::Range;

use toml_edit::{InlineTable, Value as Inline};

/// One `key = value` of an inline table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InlineTableElement<'d> {
    /// First part of a dotted key.
    pub(super) name: &'d str,
    pub(super) span: Range<usize>,
}

/// Returns the elements of an inline table in text order. Dotted keys may share a first part, and
/// have others between them.
pub(super) fn inline_elements<'d>(
    text: &str,
    table: &'d InlineTable,
) -> Vec<InlineTableElement<'d>> {
    let mut ends: Vec<(&str, usize)> = Vec::new();
    for (name, value) in table {
        visit_value_ends(value, &mut |end| ends.push((name, end)));
    }
    ends.sort_by_key(|(_, end)| *end);
    // Only the last part of a dotted key has a span: the element begins behind the comma.
    let mut from = table.span().map_or(0, |span| span.start + 1);
    let element = |(name, end): (&'d str, usize)| {
        let span = skip_blanks_and_comments(text, from)..end;
        from = comma_behind(text, end).map_or(end, |comma| comma + 1);
        InlineTableElement { name, span }
    };
    ends.into_iter().map(element).collect()
}

/// Visits the ends of all values of a key, or of dotted keys that begin with it.
fn visit_value_ends(value: &Inline, found: &mut impl FnMut(usize)) {
    match value {
        Inline::InlineTable(table) if table.is_dotted() => {
            table.iter().for_each(|(_, value)| visit_value_ends(value, found));
        }
        value => value.span().into_iter().for_each(|span| found(span.end)),
    }
}

/// Returns the comma behind an element, after any comments.
pub(super) fn comma_behind(text: &str, at: usize) -> Option<usize> {
    let at = skip_blanks_and_comments(text, at);
    text[at..].starts_with(',').then_some(at)
}

/// Skips blanks and comments.
fn skip_blanks_and_comments(text: &str, mut at: usize) -> usize {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at = line_end(text, at);
    }
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use toml_edit::Document;

    use super::*;

    #[test]
    fn elements_of_dotted_keys_are_found_where_they_stand() {
        let text = "t = { a.\"b,c\" = 1, # a, b\n d = [2, 3] ,a.e.f = { g = 4 }, }\n";
        let document = Document::parse(text).unwrap();
        let all = inline_elements(text, document["t"].as_inline_table().unwrap());
        let all: Vec<_> = all.iter().map(|it| (it.name, &text[it.span.clone()])).collect();
        assert_eq!(all, [("a", "a.\"b,c\" = 1"), ("d", "d = [2, 3]"), ("a", "a.e.f = { g = 4 }")]);
    }
}
