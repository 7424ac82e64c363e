//! Insertion into TOML text that leaves every other byte: `cut` removes exactly what is inserted
//! here.

use std::ops::Range;

use toml_edit::{InlineTable, Item, Key, Table, TableLike, Value as Inline};

use super::super::SettingsSyntaxError;
use super::text::{inline_elements, line_end, line_start};
use super::{parse, value_to_json};

/// Sets fields of the table at a path, which is created if missing. Returns the same text if
/// nothing changes.
pub(super) fn put_fields(
    text: &str,
    names: &[&str],
    fields: &[(&str, Inline)],
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut puts = TomlInsertions { text, made: Vec::new() };
    let way = TomlTablePath::resolve(document.as_item(), names);
    match way.rest {
        [] => puts.set_fields(&way, fields)?,
        [name, ..] if way.get(name).is_some() => return Err(type_error(text, name, "a table")),
        _ => puts.add_table(&way, fields),
    }
    Ok(puts.apply())
}

/// Resolved path to a table, as far as it exists.
struct TomlTablePath<'d, 'n> {
    /// The last existing table.
    found: &'d Item,
    /// The last one with a header or braces: dotted keys are in it.
    home: &'d Item,
    /// The whole path, and its part below `home`.
    names: &'n [&'n str],
    dotted: &'n [&'n str],
    /// The part that does not exist.
    rest: &'n [&'n str],
}

impl<'d, 'n> TomlTablePath<'d, 'n> {
    fn resolve(root: &'d Item, names: &'n [&'n str]) -> Self {
        let mut way = Self { found: root, home: root, names, dotted: &[], rest: names };
        let mut home_at = 0;
        for (at, name) in names.iter().enumerate() {
            let Some(next) = way.get(name).filter(|it| it.is_table_like()) else { break };
            way.found = next;
            if !next.as_table_like().is_some_and(TableLike::is_dotted) {
                (way.home, home_at) = (next, at + 1);
            }
            (way.dotted, way.rest) = (&names[home_at..=at], &names[at + 1..]);
        }
        way
    }

    /// Returns the table's item of that name.
    fn get(&self, name: &str) -> Option<&'d Item> {
        self.found.as_table_like()?.get(name)
    }

    /// End of the table's last field, or of its header.
    fn last_line(&self) -> Option<usize> {
        let table = self.found.as_table()?;
        last_field(table).or_else(|| header_end(table))
    }
}

/// Insertions and replacements in a text.
struct TomlInsertions<'a> {
    text: &'a str,
    made: Vec<(Range<usize>, String)>,
}

impl TomlInsertions<'_> {
    /// Sets fields of an existing table. Comments and blanks around an old value stay.
    fn set_fields(
        &mut self,
        way: &TomlTablePath<'_, '_>,
        fields: &[(&str, Inline)],
    ) -> Result<(), SettingsSyntaxError> {
        let mut missing = Vec::new();
        for (name, new) in fields {
            let Some(old) = way.get(name) else {
                let name = dotted(&[way.dotted, &[name]].concat());
                missing.push(format!("{name} = {}", value_text(new)));
                continue;
            };
            let old = old.as_value().and_then(|old| Some((old, old.span()?)));
            let (old, span) = old.ok_or_else(|| type_error(self.text, name, "no table"))?;
            if value_to_json(old) != value_to_json(new) {
                self.made.push((span, value_text(new)));
            }
        }
        if !missing.is_empty() {
            self.add_fields(way, &missing);
        }
        Ok(())
    }

    fn add_fields(&mut self, way: &TomlTablePath<'_, '_>, fields: &[String]) {
        match (way.home.as_inline_table(), way.last_line()) {
            (Some(braces), _) => self.insert_elements(braces, fields),
            (None, Some(last)) => {
                let line = &self.text[line_start(self.text, last)..];
                let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
                let lines: Vec<String> = fields.iter().map(|it| format!("{indent}{it}")).collect();
                self.insert_lines(line_end(self.text, last), &lines);
            }
            // A table that exists only through its sub-tables: it has no header yet.
            (None, None) => self.insert_block(self.end(), way.names, fields),
        }
    }

    /// Adds a missing table.
    fn add_table(&mut self, way: &TomlTablePath<'_, '_>, fields: &[(&str, Inline)]) {
        let lines: Vec<String> = fields
            .iter()
            .map(|(name, new)| format!("{} = {}", dotted(&[name]), value_text(new)))
            .collect();
        if let Some(braces) = way.home.as_inline_table() {
            let name = dotted(&[way.dotted, way.rest].concat());
            self.insert_elements(braces, &[format!("{name} = {{ {} }}", lines.join(", "))]);
            return;
        }
        // Beside related tables, unless these are last anyway: trailing comments stay last.
        let is_root = way.rest.len() == way.names.len();
        let kin = way.found.as_table().filter(|_| !is_root).and_then(last_table_end);
        let at = kin.map(|last| line_end(self.text, last));
        let at = at.filter(|at| has_content(&self.text[*at..])).unwrap_or_else(|| self.end());
        self.insert_block(at, way.names, &lines);
    }

    /// End of the content, before trailing empty lines.
    fn end(&self) -> usize {
        match self.text.trim_end().len() {
            0 => self.text.len(),
            said => line_end(self.text, said),
        }
    }

    /// Inserts a header and lines, after an empty line if an empty line or the file's end follows.
    fn insert_block(&mut self, at: usize, names: &[&str], lines: &[String]) {
        let next = self.text[at..].split_inclusive('\n').next().unwrap_or_default();
        let parted = next.trim().is_empty() && !self.text[..at].trim().is_empty();
        let blank = parted.then(String::new);
        let head = format!("[{}]", dotted(names));
        let all: Vec<String> =
            blank.into_iter().chain([head]).chain(lines.iter().cloned()).collect();
        self.insert_lines(at, &all);
    }

    /// Inserts lines behind a line, which may be the last and have no end.
    fn insert_lines(&mut self, at: usize, lines: &[String]) {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let before = &self.text[..at];
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
        let lines = lines.iter().map(|line| format!("{line}{newline}"));
        self.made.push((at..at, end.to_owned() + &lines.collect::<String>()));
    }

    /// Adds elements to an inline table. If it is empty, its blanks stay before them, and are
    /// repeated behind.
    fn insert_elements(&mut self, braces: &InlineTable, new: &[String]) {
        let Some(span) = braces.span() else { return };
        let new = new.join(", ");
        let (at, new) = if let Some(last) = inline_elements(self.text, braces).last() {
            (last.span.end, format!(", {new}"))
        } else {
            let inside = &self.text[span.start + 1..span.end - 1];
            let blank = inside.rsplit('\n').next().unwrap_or_default();
            (span.end - 1, format!("{new}{blank}"))
        };
        self.made.push((at..at, new));
    }

    /// Returns the edited text.
    fn apply(mut self) -> String {
        self.made.sort_by_key(|(at, _)| at.start);
        let mut text = self.text.to_owned();
        for (at, new) in self.made.into_iter().rev() {
            text.replace_range(at, &new);
        }
        text
    }
}

/// End of the last field on a table's own lines.
fn last_field(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(inner) if inner.is_dotted() => last_field(inner),
        _ => None,
    });
    ends.max()
}

/// End of a table's header, if it has one.
fn header_end(table: &Table) -> Option<usize> {
    let is_written = !table.is_implicit() && !table.is_dotted();
    table.span().filter(|span| is_written && !span.is_empty()).map(|span| span.end)
}

/// End of the last table with a header: this one, or one inside.
fn last_table_end(table: &Table) -> Option<usize> {
    let own = header_end(table).map(|head| last_field(table).unwrap_or(head));
    let inner = table.iter().filter_map(|(_, item)| match item {
        Item::Table(inner) => last_table_end(inner),
        Item::ArrayOfTables(tables) => tables.iter().filter_map(last_table_end).max(),
        _ => None,
    });
    inner.chain(own).max()
}

/// True if something other than blanks and comments follows.
fn has_content(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| !line.is_empty() && !line.starts_with('#'))
}

fn dotted(names: &[&str]) -> String {
    names.iter().map(|name| Key::new(*name).to_string()).collect::<Vec<_>>().join(".")
}

fn value_text(value: &Inline) -> String {
    value.to_string().trim().to_owned()
}

fn type_error(text: &str, name: &str, what: &str) -> SettingsSyntaxError {
    SettingsSyntaxError::at(
        text,
        text.find(name).unwrap_or(0),
        format!("“{name}” should be {what}"),
    )
}
