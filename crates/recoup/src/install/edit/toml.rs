//! TOML: what is in a file, and what is put in and taken out.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, TomlError, Value as Inline};

use super::Fault;

/// The document that a text is.
fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: TomlError| {
        let byte = error.span().map_or(0, |span| span.start);
        let what = error.message().lines().next().unwrap_or("not TOML");
        Fault::at(text, byte, what)
    })
}

/// What it amounts to, as JSON has it: texts, numbers, lists and tables.
pub(crate) fn value(text: &str) -> Result<Value, Fault> {
    Ok(of_item(parse(text)?.as_item()))
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => {
            Value::Object(table.iter().map(|(name, it)| (name.to_owned(), of_item(it))).collect())
        }
        Item::ArrayOfTables(tables) => {
            let fields = |table: &toml_edit::Table| {
                let fields = table.iter().map(|(name, item)| (name.to_owned(), of_item(item)));
                Value::Object(fields.collect::<Map<_, _>>())
            };
            tables.iter().map(fields).collect()
        }
    }
}

fn of_value(value: &Inline) -> Value {
    match value {
        Inline::String(text) => text.value().as_str().into(),
        Inline::Integer(number) => (*number.value()).into(),
        Inline::Float(number) => (*number.value()).into(),
        Inline::Boolean(truth) => (*truth.value()).into(),
        Inline::Datetime(time) => time.value().to_string().into(),
        Inline::Array(items) => items.iter().map(of_value).collect(),
        Inline::InlineTable(table) => {
            Value::Object(table.iter().map(|(name, it)| (name.to_owned(), of_value(it))).collect())
        }
    }
}
