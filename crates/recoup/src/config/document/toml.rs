//! TOML, from the parser's own tree, which has positions.

use serde_json::Number;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::{ConfigNode, ConfigValue, DocumentError, TextPosition};

/// Our keys have two levels. Deeper tables are an error already.
const MAX_DEPTH: usize = 8;

/// Parses a whole document.
pub(in crate::config) fn read(text: &str) -> Result<ConfigNode, DocumentError> {
    let lines = LineOffsets::of(text);
    let table = DeTable::parse(text).map_err(|error| DocumentError {
        position: error.span().map(|span| lines.position(text, span.start)),
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    Ok(ConfigNode { line: Some(1), value: convert_table(table.get_ref(), &lines, MAX_DEPTH) })
}

fn convert_table(table: &DeTable<'_>, lines: &LineOffsets, depth: usize) -> ConfigValue {
    let Some(depth) = depth.checked_sub(1) else { return ConfigValue::Table(Vec::new()) };
    let mut entries = Vec::with_capacity(table.len());
    for (name, value) in table {
        let line = Some(lines.line(name.span().start));
        let value = convert_value(value.get_ref(), lines, depth);
        entries.push((name.get_ref().to_string(), ConfigNode { line, value }));
    }
    // The parser sorts by name; people read from the top.
    entries.sort_by_key(|(_, node)| node.line);
    ConfigValue::Table(entries)
}

fn convert_value(value: &DeValue<'_>, lines: &LineOffsets, depth: usize) -> ConfigValue {
    match value {
        DeValue::String(text) => ConfigValue::Text(text.to_string()),
        DeValue::Integer(number) => convert_integer(number),
        DeValue::Float(number) => convert_float(number),
        DeValue::Boolean(value) => ConfigValue::Bool(*value),
        DeValue::Datetime(time) => ConfigValue::Other(time.to_string()),
        DeValue::Array(_) => ConfigValue::List,
        DeValue::Table(table) => convert_table(table, lines, depth),
    }
}

fn convert_integer(number: &DeInteger<'_>) -> ConfigValue {
    i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
        |_| ConfigValue::Other(number.to_string()),
        |value| ConfigValue::Number(value.into()),
    )
}

fn convert_float(number: &DeFloat<'_>) -> ConfigValue {
    let value = number.as_str().parse().ok().and_then(Number::from_f64);
    value.map_or_else(|| ConfigValue::Other(number.to_string()), ConfigValue::Number)
}

/// Start offsets of the lines, computed once, so that positions in a long file are cheap.
struct LineOffsets(Vec<usize>);

impl LineOffsets {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn line(&self, offset: usize) -> u64 {
        self.0.partition_point(|start| *start <= offset) as u64 + 1
    }

    fn position(&self, text: &str, offset: usize) -> TextPosition {
        let line = self.0.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).map_or(0, |previous| self.0[previous]);
        let before = text.get(start..offset).unwrap_or_default();
        TextPosition { line: line as u64 + 1, column: before.chars().count() as u64 + 1 }
    }
}
