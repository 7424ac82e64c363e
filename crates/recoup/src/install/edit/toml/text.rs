//! Where things stand in a text of TOML.

use std::ops::Range;

use toml_edit::{InlineTable, Value as Inline};

/// One `key = value` of a table in braces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element<'d> {
    /// The first of the key's names, if it is a dotted one.
    pub(super) name: &'d str,
    pub(super) span: Range<usize>,
}

/// What stands in a table in braces, in the order of the text. Of dotted keys there may be
/// several with one first name, and others between them.
pub(super) fn elements<'d>(text: &str, table: &'d InlineTable) -> Vec<Element<'d>> {
    let mut ends: Vec<(&str, usize)> = Vec::new();
    for (name, value) in table {
        ends_of(value, &mut |end| ends.push((name, end)));
    }
    ends.sort_by_key(|(_, end)| *end);
    // Of a dotted key only the last name has a place of its own: it begins behind the comma.
    let mut from = table.span().map_or(0, |span| span.start + 1);
    let element = |(name, end): (&'d str, usize)| {
        let span = said_from(text, from)..end;
        from = comma_behind(text, end).map_or(end, |comma| comma + 1);
        Element { name, span }
    };
    ends.into_iter().map(element).collect()
}

/// The ends of all values that a key, or dotted keys that begin with it, lead to.
fn ends_of(value: &Inline, found: &mut impl FnMut(usize)) {
    match value {
        Inline::InlineTable(table) if table.is_dotted() => {
            table.iter().for_each(|(_, value)| ends_of(value, found));
        }
        value => value.span().into_iter().for_each(|span| found(span.end)),
    }
}

/// The comma that follows an element, whatever is said before it.
pub(super) fn comma_behind(text: &str, at: usize) -> Option<usize> {
    let at = said_from(text, at);
    text[at..].starts_with(',').then_some(at)
}

/// The first place from there that is neither blank nor in a comment.
fn said_from(text: &str, mut at: usize) -> usize {
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
        let all = elements(text, document["t"].as_inline_table().unwrap());
        let all: Vec<_> = all.iter().map(|it| (it.name, &text[it.span.clone()])).collect();
        assert_eq!(all, [("a", "a.\"b,c\" = 1"), ("d", "d = [2, 3]"), ("a", "a.e.f = { g = 4 }")]);
    }
}
