//! Statements of a TOML text, and edits of whole lines.

use std::ops::Range;

use toml_edit::{Document, Item, Table, Value as Inline};

/// One header, or one `key = value`.
pub(super) struct TomlStatement<'d> {
    /// All names from the root; a table of an array has its number behind the name.
    pub(super) path: Vec<String>,
    /// Length of the part of the path that its header gives.
    pub(super) section: usize,
    /// Range of the header, or of the value.
    pub(super) span: Range<usize>,
    /// None for a header.
    pub(super) value: Option<&'d Inline>,
}

/// Returns all statements in the order of the text.
pub(super) fn statements<'d>(document: &'d Document<&str>) -> Vec<TomlStatement<'d>> {
    let mut found = Vec::new();
    add_table(document.as_table(), &[], 0, &mut found);
    found.sort_by_key(|it| it.span.start);
    found
}

fn add_table<'d>(
    table: &'d Table,
    path: &[String],
    section: usize,
    found: &mut Vec<TomlStatement<'d>>,
) {
    let section = if table.is_dotted() { section } else { path.len() };
    let header = table.span().filter(|_| !path.is_empty() && !table.is_implicit());
    if let Some(span) = header.filter(|span| !table.is_dotted() && !span.is_empty()) {
        found.push(TomlStatement { path: path.to_vec(), section, span, value: None });
    }
    for (name, item) in table {
        let path = [path, &[name.to_owned()]].concat();
        match item {
            Item::None => {}
            Item::Value(value) => {
                let span = value.span().unwrap_or_default();
                found.push(TomlStatement { path, section, span, value: Some(value) });
            }
            Item::Table(table) => add_table(table, &path, section, found),
            Item::ArrayOfTables(tables) => {
                for (at, table) in tables.iter().enumerate() {
                    add_table(table, &[&path[..], &[at.to_string()]].concat(), section, found);
                }
            }
        }
    }
}

/// Edits of a text, which do not overlap.
pub(super) struct TextEdits<'t> {
    text: &'t str,
    /// Whole lines to be cut out.
    cuts: Vec<Range<usize>>,
    replaced: Vec<(Range<usize>, String)>,
}

impl<'t> TextEdits<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, cuts: Vec::new(), replaced: Vec::new() }
    }

    /// Cuts out whole lines.
    pub(super) fn cut_lines(&mut self, lines: Range<usize>) {
        self.cuts.push(lines);
    }

    /// Extends the last cut.
    pub(super) fn extend_cut(&mut self, end: usize) {
        if let Some(last) = self.cuts.last_mut() {
            last.end = end;
        }
    }

    pub(super) fn replace(&mut self, range: Range<usize>, new: String) {
        self.replaced.push((range, new));
    }

    /// Inserts lines behind a line, which may be the last and have no end.
    pub(super) fn insert_lines(&mut self, at: usize, lines: &[String]) {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let before = &self.text[..at];
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
        let lines = lines.iter().map(|line| format!("{line}{newline}"));
        self.replaced.push((at..at, end.to_owned() + &lines.collect::<String>()));
    }

    /// Returns the edited text.
    pub(super) fn apply(self) -> String {
        let cuts = merged(self.cuts, |gap| self.text[gap].trim().is_empty());
        let cuts = cuts.into_iter().map(|it| (with_blanks(self.text, it), String::new()));
        let mut all: Vec<_> = cuts.chain(self.replaced).collect();
        all.sort_by_key(|(range, _)| range.start);
        let mut text = self.text.to_owned();
        for (range, new) in all.into_iter().rev() {
            text.replace_range(range, &new);
        }
        text
    }
}

/// Sorts ranges, and merges those that overlap or have only a negligible gap between them.
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

/// Extends lines by the empty ones before, if empty lines or the file's end follow.
fn with_blanks(text: &str, lines: Range<usize>) -> Range<usize> {
    let behind = &text[lines.end..];
    let first = behind.split_inclusive('\n').next().unwrap_or_default();
    if !first.trim().is_empty() {
        return lines;
    }
    let before = text[..lines.start].trim_end();
    if before.is_empty() && behind.trim().is_empty() {
        // Only empty lines are left.
        return lines;
    }
    if before.is_empty() {
        // The rest begins the file.
        let blank = behind.len() - behind.trim_start_matches(['\r', '\n']).len();
        return 0..lines.end + blank;
    }
    line_end(text, before.len())..lines.end
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}
