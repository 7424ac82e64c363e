//! TOML, from the parser's own tree, which has positions.

use serde_json::Number;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::{Broken, Node, Position, Value};

/// Our keys have two levels. Deeper tables are an error already.
const MAX_DEPTH: usize = 8;

/// Parses a whole document.
pub(in crate::config) fn read(text: &str) -> Result<Node, Broken> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| Broken {
        position: error.span().map(|span| lines.position(text, span.start)),
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    Ok(Node { line: Some(1), value: entries(table.get_ref(), &lines, MAX_DEPTH) })
}

fn entries(table: &DeTable<'_>, lines: &Lines, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Table(Vec::new()) };
    let mut entries = Vec::with_capacity(table.len());
    for (name, value) in table {
        let line = Some(lines.line(name.span().start));
        let value = converted(value.get_ref(), lines, depth);
        entries.push((name.get_ref().to_string(), Node { line, value }));
    }
    // The parser sorts by name; people read from the top.
    entries.sort_by_key(|(_, node)| node.line);
    Value::Table(entries)
}

fn converted(value: &DeValue<'_>, lines: &Lines, depth: usize) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => whole(number),
        DeValue::Float(number) => float(number),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(time) => Value::Other(time.to_string()),
        DeValue::Array(_) => Value::List,
        DeValue::Table(table) => entries(table, lines, depth),
    }
}

fn whole(number: &DeInteger<'_>) -> Value {
    i64::from_str_radix(number.as_str(), number.radix())
        .map_or_else(|_| Value::Other(number.to_string()), |value| Value::Number(value.into()))
}

fn float(number: &DeFloat<'_>) -> Value {
    let value = number.as_str().parse().ok().and_then(Number::from_f64);
    value.map_or_else(|| Value::Other(number.to_string()), Value::Number)
}

/// Start offsets of the lines, computed once, so that positions in a long file are cheap.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn line(&self, offset: usize) -> u64 {
        self.0.partition_point(|start| *start <= offset) as u64 + 1
    }

    fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.0.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).map_or(0, |previous| self.0[previous]);
        let before = text.get(start..offset).unwrap_or_default();
        Position { line: line as u64 + 1, column: before.chars().count() as u64 + 1 }
    }
}
