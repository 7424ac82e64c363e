//! TOML in the data model of JSON, in which settings are compared.

use serde_json::{Map, Value};
use toml_edit::{Item, Table, Value as Inline};

/// Converts a table or a value of TOML.
pub(crate) fn toml_item_to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => toml_to_json(value),
        Item::Table(table) => Value::Object(
            table.iter().map(|(name, it)| (name.to_owned(), toml_item_to_json(it))).collect(),
        ),
        Item::ArrayOfTables(tables) => {
            let fields = |table: &Table| {
                let fields =
                    table.iter().map(|(name, item)| (name.to_owned(), toml_item_to_json(item)));
                Value::Object(fields.collect::<Map<_, _>>())
            };
            tables.iter().map(fields).collect()
        }
    }
}

/// Converts a value of TOML.
pub(crate) fn toml_to_json(value: &Inline) -> Value {
    match value {
        Inline::String(text) => text.value().as_str().into(),
        Inline::Integer(number) => (*number.value()).into(),
        Inline::Float(number) => (*number.value()).into(),
        Inline::Boolean(truth) => (*truth.value()).into(),
        Inline::Datetime(time) => time.value().to_string().into(),
        Inline::Array(items) => items.iter().map(toml_to_json).collect(),
        Inline::InlineTable(table) => Value::Object(
            table.iter().map(|(name, it)| (name.to_owned(), toml_to_json(it))).collect(),
        ),
    }
}
