//! TOML settings: reading, and edits of the text at the places that `toml_edit` names.
//!
//! A file is a list of statements, headers and `key = value`, each on lines of its own: some are
//! added or removed, and the lines of all others stay. Lists and tables in a value are edited as
//! syntax nodes. (`DocumentMut` was tried: see `node`.)

mod statements;

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, InlineTable, Item, Key, Value as Inline};

use super::SettingsSyntaxError;
use super::node::{AdditionStyle, SyntaxItem, SyntaxList, SyntaxNode, SyntaxPart};
use crate::clients::{toml_item_to_json, toml_to_json};
use statements::{TextEdits, TomlStatement, line_end, line_start, statements};

fn parse(text: &str) -> Result<Document<&str>, SettingsSyntaxError> {
    Document::parse(text).map_err(|error| {
        let byte = error.span().map_or(0, |span| span.start);
        let what = error.message().lines().next().unwrap_or("not valid TOML");
        SettingsSyntaxError::at(text, byte, what)
    })
}

/// Parses TOML into the JSON data model.
pub(crate) fn parse_to_json(text: &str) -> Result<Value, SettingsSyntaxError> {
    Ok(toml_item_to_json(parse(text)?.as_item()))
}

/// Converts a text, or a list of texts.
pub(crate) fn from_json(value: &Value) -> Inline {
    match value {
        Value::Array(items) => items.iter().map(from_json).collect(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// Removes fields of the table at a path.
pub(crate) fn remove_fields(
    text: &str,
    names: &[&str],
    gone: &[&str],
) -> Result<String, SettingsSyntaxError> {
    let paths = gone.iter().map(|name| owned(&[names, &[name]].concat()));
    remove_paths(text, &paths.collect::<Vec<_>>())
}

/// Appends tables to a list of tables at the top level.
pub(crate) fn append_list_tables(
    text: &str,
    list: &str,
    tables: &[Vec<(&str, Inline)>],
) -> Result<String, SettingsSyntaxError> {
    if tables.is_empty() {
        return Ok(text.to_owned());
    }
    let document = parse(text)?;
    match document.get(list) {
        // Sections can't continue a list in brackets.
        Some(Item::Value(value @ Inline::Array(_))) => {
            let mut node = build_node(text, value);
            if let Some(items) = node.list_mut() {
                for table in tables {
                    let fields = table.iter().map(|(name, value)| (*name, value_text(value)));
                    append_inline(items, &[], inline_table(fields));
                }
            }
            let mut edits = TextEdits::of(text);
            edits.replace(value.span().unwrap_or_default(), node.text());
            return Ok(edits.apply());
        }
        Some(found) if !found.is_array_of_tables() => {
            return Err(type_error(text, list, "a list of tables"));
        }
        _ => {}
    }
    let mut lines = Vec::new();
    for table in tables {
        if !lines.is_empty() || !text.trim().is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("[[{}]]", dotted(&[list])));
        lines.extend(
            table
                .iter()
                .map(|(name, value)| format!("{} = {}", dotted(&[name]), value_text(value))),
        );
    }
    let mut edits = TextEdits::of(text);
    // The end of the content is before empty lines.
    let at = match text.trim_end().len() {
        0 => text.len(),
        end => line_end(text, end),
    };
    edits.insert_lines(at, &lines);
    Ok(edits.apply())
}

/// Removes what is at these paths, which are in the order of the text, and leaves every other byte.
/// A comment above the removed part stays: it may be about something else.
pub(crate) fn remove_paths(
    text: &str,
    gone: &[Vec<String>],
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut edits = TextEdits::of(text);
    let mut is_section_gone = false;
    for statement in statements(&document) {
        let TomlStatement { path, span, value, .. } = &statement;
        let is_gone = gone.iter().any(|gone| path.starts_with(gone));
        if value.is_none() {
            is_section_gone = is_gone;
        }
        let lines = line_start(text, span.start)..line_end(text, span.end);
        let mut inside = gone.iter().filter_map(|gone| gone.strip_prefix(&**path)).rev().peekable();
        match value {
            // Comments between its keys belong to the table.
            Some(_) if is_section_gone => edits.extend_cut(lines.end),
            _ if is_gone => edits.cut_lines(lines),
            Some(value) if inside.peek().is_some() => {
                let mut node = build_node(text, value);
                inside.for_each(|path| remove_inside(&mut node, path));
                edits.replace(span.clone(), node.text());
            }
            _ => {}
        }
    }
    Ok(edits.apply())
}

/// Removes what is at a path inside a value; dotted keys may make it up of several parts.
fn remove_inside(node: &mut SyntaxNode, path: &[String]) {
    let Some(list) = node.list_mut() else { return };
    for at in (0..list.items.len()).rev() {
        let item = &mut list.items[at];
        let name = if item.name.is_empty() { vec![at.to_string()] } else { item.name.clone() };
        if name.starts_with(path) {
            let blank = item.before().to_owned();
            list.remove(at);
            // The blanks before it belong to the bracket, those behind it go.
            let behind = list.end.strip_prefix(&*blank).unwrap_or(&list.end);
            if list.items.is_empty() && behind.trim().is_empty() {
                list.end = blank;
            }
        } else if let Some(inner) = path.strip_prefix(&*name) {
            remove_inside(&mut item.value, inner);
        }
    }
}

/// Edits every value of a text; each has a path of names.
pub(crate) fn edit_values(
    text: &str,
    edit: impl Fn(&[String], &mut SyntaxNode),
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut edits = TextEdits::of(text);
    for TomlStatement { path, span, value, .. } in statements(&document) {
        let Some(value) = value else { continue };
        let mut node = build_node(text, value);
        edit(&path, &mut node);
        edits.replace(span, node.text());
    }
    Ok(edits.apply())
}

/// Writes the value at a path as an earlier text has it, with its comments, if it is the same value.
pub(crate) fn restore_writing(
    text: &str,
    earlier: &str,
    names: &[&str],
) -> Result<String, SettingsSyntaxError> {
    let mut left = text.to_owned();
    // Line ends that were converted meanwhile are what the user wants.
    if let Some((now, span)) = find_value(text, names)?
        && let Some((before, written)) = find_value(earlier, names)?
        && toml_to_json(&now) == toml_to_json(&before)
        && text.contains("\r\n") == earlier.contains("\r\n")
    {
        left.replace_range(span, &earlier[written]);
    }
    Ok(left)
}

/// Returns the value at a path, and its range in the text.
pub(crate) fn find_value(
    text: &str,
    names: &[&str],
) -> Result<Option<(Inline, Range<usize>)>, SettingsSyntaxError> {
    let document = parse(text)?;
    let item = names.iter().try_fold(document.as_item(), |item, name| item.get(name));
    let value = item.and_then(Item::as_value);
    Ok(value.and_then(|value| Some((value.clone(), value.span()?))))
}

/// Sets fields of the table at a path, which is created if missing. Returns the same text if
/// nothing changes.
pub(crate) fn put_fields(
    text: &str,
    names: &[&str],
    fields: &[(&str, Inline)],
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let (mut table, mut depth) = (document.as_item(), 0);
    for name in names {
        match table.get(name) {
            Some(next) if next.is_table_like() => (table, depth) = (next, depth + 1),
            Some(_) => return Err(type_error(text, name, "a table")),
            None => break,
        }
    }
    let mut edits = TextEdits::of(text);
    let mut missing = Vec::new();
    for (name, new) in fields {
        let Some(old) = table.get(name).filter(|_| depth == names.len()) else {
            missing.push((*name, value_text(new)));
            continue;
        };
        let old = old.as_value().and_then(|old| Some((old, old.span()?)));
        let (old, span) = old.ok_or_else(|| type_error(text, name, "a value, not a table"))?;
        if toml_to_json(old) != toml_to_json(new) {
            edits.replace(span, value_text(new));
        }
    }
    let text = edits.apply();
    if missing.is_empty() { Ok(text) } else { add_fields(&text, names, depth, &missing) }
}

/// Adds fields to the table at a path, of which `depth` names exist, in the form that it has.
fn add_fields(
    text: &str,
    names: &[&str],
    depth: usize,
    fields: &[(&str, String)],
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let all = statements(&document);
    let mut edits = TextEdits::of(text);
    let path = owned(names);
    let is_home = |it: &&TomlStatement<'_>| it.value.is_some() && path.starts_with(&it.path);
    if let Some((home, value)) = all.iter().find(is_home).and_then(|it| Some((it, it.value?))) {
        let mut node = build_node(text, value);
        add_inside(&mut node, &names[home.path.len()..], fields);
        edits.replace(home.span.clone(), node.text());
        return Ok(edits.apply());
    }
    let lines = |names: &[&str]| {
        let line = |(name, value): &(&str, String)| {
            format!("{} = {value}", dotted(&[names, &[name]].concat()))
        };
        fields.iter().map(line).collect::<Vec<_>>()
    };
    // Behind the last field of the table, or its header.
    let is_own = |it: &&TomlStatement<'_>| {
        it.path.starts_with(&path)
            && it.section <= names.len()
            && (it.value.is_some() || it.path == path)
    };
    if let Some(last) = all.iter().rfind(is_own) {
        let line = &text[line_start(text, last.span.start)..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let lines = lines(&names[last.section..]).into_iter().map(|it| format!("{indent}{it}"));
        edits.insert_lines(line_end(text, last.span.end), &lines.collect::<Vec<_>>());
        return Ok(edits.apply());
    }
    // Beside related tables, unless these are last anyway: trailing comments stay last.
    let is_kin = |it: &&TomlStatement<'_>| it.path[..it.section].starts_with(&path[..depth]);
    let kin = all.iter().rfind(is_kin).filter(|_| (1..names.len()).contains(&depth));
    let is_content = |line: &str| !line.is_empty() && !line.starts_with('#');
    let has_content = |at: &usize| text[*at..].lines().map(str::trim_start).any(is_content);
    let at = kin.map(|last| line_end(text, last.span.end)).filter(has_content);
    // The end of the content is before empty lines.
    let at = at.unwrap_or_else(|| match text.trim_end().len() {
        0 => text.len(),
        end => line_end(text, end),
    });
    // After an empty line, if an empty line or the file's end follows.
    let next = text[at..].split_inclusive('\n').next().unwrap_or_default();
    let is_parted = next.trim().is_empty() && !text[..at].trim().is_empty();
    let blank = is_parted.then(String::new).into_iter();
    let block = blank.chain([format!("[{}]", dotted(names))]).chain(lines(&[]));
    edits.insert_lines(at, &block.collect::<Vec<_>>());
    Ok(edits.apply())
}

/// Adds fields to the table at a path inside an inline table.
fn add_inside(node: &mut SyntaxNode, names: &[&str], fields: &[(&str, String)]) {
    let Some(list) = node.list_mut() else { return };
    let path = owned(names);
    let is_above = |it: &&mut SyntaxItem| {
        path.starts_with(&it.name) && matches!(it.value, SyntaxNode::Object(_))
    };
    if let Some(inner) = list.items.iter_mut().find(is_above) {
        let depth = inner.name.len();
        return add_inside(&mut inner.value, &names[depth..], fields);
    }
    let exists = names.is_empty() || list.items.iter().any(|it| it.name.starts_with(&path));
    if exists {
        for (name, value) in fields {
            append_inline(list, &[names, &[name]].concat(), value.clone());
        }
    } else {
        append_inline(list, names, inline_table(fields.iter().cloned()));
    }
}

/// Appends a value to a list, or to a table under a name.
fn append_inline(list: &mut SyntaxList, name: &[&str], value: String) {
    let head = if name.is_empty() { String::new() } else { format!("{} = ", dotted(name)) };
    let item = SyntaxItem::new(owned(name), head, SyntaxNode::Scalar(value));
    let unit = String::new();
    let style = AdditionStyle { unit, newline: "\n", blank: " ", one_line: true };
    list.append(item, &style, "");
}

/// Formats fields as a table on one line.
fn inline_table<'n>(fields: impl Iterator<Item = (&'n str, String)>) -> String {
    let fields = fields.map(|(name, value)| format!("{} = {value}", dotted(&[name])));
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// Builds the syntax node of a value.
fn build_node(text: &str, value: &Inline) -> SyntaxNode {
    let span = value.span().unwrap_or_default();
    let inside = span.start + 1..span.end.saturating_sub(1);
    let mut parts = Vec::new();
    match value {
        Inline::Array(items) => {
            parts.extend(items.iter().filter_map(|it| build_part(text, &[], it)));
            SyntaxNode::Array(SyntaxList::build(text, inside, parts))
        }
        Inline::InlineTable(table) => {
            add_members(text, table, &[], &mut parts);
            // Dotted keys may have others between them.
            parts.sort_by_key(|it| it.span.start);
            SyntaxNode::Object(SyntaxList::build(text, inside, parts))
        }
        _ => SyntaxNode::Scalar(text[span].to_owned()),
    }
}

fn add_members(text: &str, table: &InlineTable, above: &[&str], parts: &mut Vec<SyntaxPart>) {
    for (name, value) in table {
        let name = [above, &[name]].concat();
        match value {
            Inline::InlineTable(inner) if inner.is_dotted() => {
                add_members(text, inner, &name, parts);
            }
            value => parts.extend(build_part(text, &name, value)),
        }
    }
}

fn build_part(text: &str, name: &[&str], value: &Inline) -> Option<SyntaxPart> {
    Some(SyntaxPart { name: owned(name), span: value.span()?, value: build_node(text, value) })
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Formats a path of names as a dotted key.
pub(crate) fn dotted(names: &[&str]) -> String {
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

#[cfg(test)]
mod tests;
