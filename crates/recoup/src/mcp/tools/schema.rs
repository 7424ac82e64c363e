//! Builders for JSON schemas, so that each tool's reads like a list of its fields.

use serde_json::{Map, Value, json};

/// An object with these fields and no others.
pub(super) fn closed(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let mut schema = open(fields, required);
    schema["additionalProperties"] = Value::Bool(false);
    schema
}

/// An object with these fields; later versions may add more.
pub(super) fn open(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Marks a field that few need, or that exists for compatibility: only complete schemas have it.
pub(super) fn rare(mut field: Value) -> Value {
    field[COMMENT] = RARE.into();
    field
}

/// Keyword for remarks that validators ignore.
const COMMENT: &str = "$comment";
const RARE: &str = "rarely used";

/// Reduces a schema to what a model needs: the usual fields, their types and meaning. Bounds,
/// alternative forms and rare fields are left out; they apply all the same.
pub(super) fn shortened(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut short = Map::new();
    for (name, value) in schema {
        match (name.as_str(), value) {
            (
                "additionalProperties"
                | "default"
                | "maximum"
                | "maxItems"
                | "maxLength"
                | "minimum",
                _,
            ) => {}
            ("anyOf", Value::Array(forms)) => {
                if let Some(Value::Object(first)) = forms.first().map(shortened) {
                    short.extend(first);
                }
            }
            ("properties", Value::Object(fields)) => {
                let usual = fields.iter().filter(|(_, field)| field[COMMENT] != RARE);
                let fields: Map<_, _> =
                    usual.map(|(name, field)| (name.clone(), shortened(field))).collect();
                short.insert(name.clone(), fields.into());
            }
            ("items", item) => {
                short.insert(name.clone(), shortened(item));
            }
            _ => {
                short.insert(name.clone(), value.clone());
            }
        }
    }
    short.into()
}

pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// The field for a message.
pub(super) fn message() -> (&'static str, Value) {
    (super::MESSAGE, text("What the result means, and what to do or tell the user"))
}

/// A string or null.
pub(super) fn maybe_text(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

/// One of some words.
pub(super) fn one_of(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

pub(super) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// An integer from `least` on.
pub(super) fn count(least: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": description })
}

/// Limit of a path, and of any item of a list.
pub(super) const LONGEST: u64 = 4_096;

/// Limit of a list: a directory or a glob stands for any number of files.
const MOST_ITEMS: u64 = 1_000;

/// One string or several.
pub(super) fn texts(description: &str) -> Value {
    texts_of(LONGEST, description)
}

/// One string or several, of at most `most` characters each.
pub(super) fn texts_of(most: u64, description: &str) -> Value {
    let one = json!({ "type": "string", "maxLength": most });
    let several = json!({ "type": "array", "items": one, "maxItems": MOST_ITEMS });
    json!({ "anyOf": [several, one], "description": description })
}

/// A string of at most `most` characters.
pub(super) fn short_text(most: u64, description: &str) -> Value {
    json!({ "type": "string", "maxLength": most, "description": description })
}

/// A duration with its unit, or 0. Other numbers are refused: some models mean seconds, some
/// milliseconds.
pub(super) fn duration(description: &str) -> Value {
    json!({
        "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0, "maximum": 0 }],
        "description": description,
    })
}

pub(super) fn list(item: &Value, description: &str) -> Value {
    json!({ "type": "array", "items": item, "description": description })
}

/// Id of a project other than the current one.
pub(super) fn project() -> Value {
    json!({ "type": "string" })
}
