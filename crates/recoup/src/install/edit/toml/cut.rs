//! Cuts in TOML, so that not a byte of the rest is touched. A comment above what goes stays: it
//! may be about something else.

use std::ops::Range;

use toml_edit::{Document, Item, Key, Table, TableLike};

use super::super::Fault;
use super::fault;

/// Without a key of the whole document.
pub(crate) fn without_key(text: &str, name: &str) -> Result<String, Fault> {
    let document = Document::parse(text).map_err(|error| fault(text, &error))?;
    let mut cuts = Cuts::of(text);
    if let Some((key, value)) = document.as_table().get_key_value(name) {
        cuts.lines_of(Some(key), value);
    }
    Ok(cuts.made())
}

/// What is to be cut out of a text.
pub(super) struct Cuts<'a> {
    text: &'a str,
    /// Whole lines.
    lines: Vec<Range<usize>>,
    /// Parts of lines.
    pieces: Vec<Range<usize>>,
}

impl<'a> Cuts<'a> {
    /// None yet.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, lines: Vec::new(), pieces: Vec::new() }
    }

    /// Members of a table that go.
    pub(super) fn members(&mut self, table: &dyn TableLike, inline: bool, gone: &[&str]) {
        let all: Vec<(&Key, &Item)> =
            table.iter().filter_map(|(name, _)| table.get_key_value(name)).collect();
        let is_gone = |key: &Key| gone.contains(&key.get());
        if !inline {
            all.iter().filter(|it| is_gone(it.0)).for_each(|it| self.lines_of(Some(it.0), it.1));
            return;
        }
        let span = |(key, item): &(&Key, &Item)| Some(key.span()?.start..item.span()?.end);
        let spans: Option<Vec<_>> = all.iter().map(span).collect();
        let gone = (0..all.len()).filter(|at| is_gone(all[*at].0)).collect::<Vec<_>>();
        self.elements(&spans.unwrap_or_default(), &gone, false);
    }

    /// Elements that are parted by commas. `lines` tells whether the last may have one behind it.
    pub(super) fn elements(&mut self, spans: &[Range<usize>], gone: &[usize], lines: bool) {
        for at in gone.iter().copied().filter(|at| *at < spans.len()) {
            let span = spans[at].clone();
            if let Some(whole) = self.lines_of_its_own(&span).filter(|_| lines) {
                self.pieces.push(whole);
                continue;
            }
            let kept = (0..at).rev().find(|before| !gone.contains(before));
            self.pieces.push(match (spans.get(at + 1), kept) {
                (Some(next), _) => span.start..next.start,
                (None, Some(kept)) => spans[kept].end..span.end,
                (None, None) => span,
            });
        }
    }

    /// The lines of an element with its comma and what is said about it behind, if nothing
    /// else is on them.
    fn lines_of_its_own(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let start = line_start(self.text, span.start);
        let end = line_end(self.text, span.end);
        let before = &self.text[start..span.start];
        let behind = self.text[span.end..end].trim_start();
        let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        let alone = before.trim().is_empty() && (behind.is_empty() || behind.starts_with('#'));
        alone.then_some(start..end)
    }

    /// All lines of what stands in a table that is no line.
    pub(super) fn lines_of(&mut self, key: Option<&Key>, item: &Item) {
        match item {
            Item::None => {}
            Item::Value(value) => {
                let start = key.and_then(Key::span).or(value.span()).map(|span| span.start);
                let end = value.span().map(|span| span.end);
                self.lines.extend(start.zip(end).map(|(start, end)| start..end));
            }
            Item::Table(table) => self.lines_of_table(table),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|it| self.lines_of_table(it)),
        }
    }

    pub(super) fn lines_of_table(&mut self, table: &Table) {
        let mut own = Cuts::of(self.text);
        let has_header = !table.is_implicit() && !table.is_dotted();
        own.lines.extend(table.span().filter(|span| has_header && !span.is_empty()));
        for (key, item) in table.iter().filter_map(|(name, _)| table.get_key_value(name)) {
            let is_below = match item {
                Item::Table(table) => !table.is_dotted(),
                Item::ArrayOfTables(_) => true,
                _ => false,
            };
            let into = if is_below { &mut *self } else { &mut own };
            into.lines_of(Some(key), item);
        }
        // What a person said between them was said about them.
        let start = own.lines.iter().map(|it| it.start).min();
        let end = own.lines.iter().map(|it| it.end).max();
        self.lines.extend(start.zip(end).map(|(start, end)| start..end));
    }

    /// The text without all of it.
    pub(super) fn made(self) -> String {
        let text = self.text;
        let whole = |it: Range<usize>| line_start(text, it.start)..line_end(text, it.end);
        let lines: Vec<_> = self.lines.into_iter().map(whole).collect();
        let lines = merged(lines, |gap| text[gap].trim().is_empty());
        let lines = lines.into_iter().map(|it| with_blanks(text, it)).collect::<Vec<_>>();
        let mut left = String::with_capacity(text.len());
        let mut from = 0;
        for cut in merged([lines, self.pieces].concat(), |gap| gap.is_empty()) {
            left.push_str(&text[from..cut.start]);
            from = cut.end;
        }
        left + &text[from..]
    }
}

/// In order, and as one where only that is between them.
fn merged(
    mut ranges: Vec<Range<usize>>,
    is_one: impl Fn(Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    ranges.sort_by_key(|it| it.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for it in ranges {
        match merged.last_mut() {
            Some(last) if it.start <= last.end || is_one(last.end..it.start) => {
                last.end = last.end.max(it.end);
            }
            _ => merged.push(it),
        }
    }
    merged
}

/// With the empty lines before, where there are some behind as well, or nothing.
fn with_blanks(text: &str, lines: Range<usize>) -> Range<usize> {
    let behind = &text[lines.end..];
    let first = behind.split_inclusive('\n').next().unwrap_or_default();
    if !first.trim().is_empty() {
        return lines;
    }
    let before = text[..lines.start].trim_end();
    if before.is_empty() {
        // Nothing stands before: what follows begins the file.
        let blank = behind.len() - behind.trim_start_matches(['\r', '\n']).len();
        return 0..lines.end + blank;
    }
    line_end(text, before.len())..lines.end
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_with_its_lines() {
        for (text, left) in [
            ("notify = [\"x\"]\n", ""),
            ("# c\nnotify = [\n  \"x\", # y\n]\n\n[z]\n", "# c\n\n[z]\n"),
            ("a = 1\n\nnotify = [\"x\"] # y\nb = 2\n", "a = 1\n\nb = 2\n"),
            ("a = 1\r\nnotify = [\"x\"]", "a = 1\r\n"),
            ("a = 1\n", "a = 1\n"),
            ("[t]\nnotify = [\"x\"]\n", "[t]\nnotify = [\"x\"]\n"),
        ] {
            assert_eq!(without_key(text, "notify").unwrap(), left, "{text}");
        }
    }
}
