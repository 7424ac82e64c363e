//! Words for JSON schemas, so that each tool's reads like a list of its fields.

use serde_json::{Map, Value, json};

/// An object with these fields and no others.
pub(super) fn closed(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let mut schema = open(fields, required);
    schema["additionalProperties"] = Value::Bool(false);
    schema
}

/// An object with these fields; more may come with a later version.
pub(super) fn open(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// A text.
pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// What happened, in a sentence.
pub(super) fn message() -> (&'static str, Value) {
    (super::MESSAGE, text("What that means, and what to do or to tell the user"))
}

/// A text, or none.
pub(super) fn maybe_text(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

/// One of some words.
pub(super) fn one_of(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

/// Yes or no.
pub(super) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// A whole number from `least` on.
pub(super) fn count(least: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": description })
}

/// No path is longer, and no item of a list need be.
pub(super) const LONGEST: u64 = 4_096;

/// Nobody names more in one call: a directory or a glob stands for any number of files.
const MOST_ITEMS: u64 = 1_000;

/// Texts, of which one may come alone.
pub(super) fn texts(description: &str) -> Value {
    texts_of(LONGEST, description)
}

/// Such texts of at most so many characters each.
pub(super) fn texts_of(most: u64, description: &str) -> Value {
    let one = json!({ "type": "string", "maxLength": most });
    let several = json!({ "type": "array", "items": one, "maxItems": MOST_ITEMS });
    json!({ "anyOf": [several, one], "description": description })
}

/// A text of at most so many characters.
pub(super) fn short_text(most: u64, description: &str) -> Value {
    json!({ "type": "string", "maxLength": most, "description": description })
}

/// A time in words, or in milliseconds.
pub(super) fn duration(description: &str) -> Value {
    json!({
        "anyOf": [{ "type": "string" }, { "type": "number", "minimum": 0 }],
        "description": description,
    })
}

/// A list of what `item` says.
pub(super) fn list(item: &Value, description: &str) -> Value {
    json!({ "type": "array", "items": item, "description": description })
}

/// Which project is meant.
pub(super) fn project() -> Value {
    text("Another project's id. Leave it out for the project at hand.")
}
