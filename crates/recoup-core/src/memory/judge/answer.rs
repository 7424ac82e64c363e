//! Parser of a model's answer: one JSON object, and nothing else.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// Returns the array `name` of the answer's object. A fence around it is ignored: some models
/// always write one. Anything else around it makes the answer invalid, because it could be text
/// that the model only quotes.
pub(super) fn items(answer: &str, name: &str, most: usize) -> Result<Vec<Value>> {
    let json: Value = serde_json::from_str(unfenced(answer))
        .map_err(|error| wrong("is not one JSON object").with_source(error))?;
    let Value::Object(mut object) = json else {
        return Err(wrong("is not one JSON object"));
    };
    let Some(Value::Array(items)) = object.remove(name) else {
        return Err(wrong(&format!("has no array {name:?}")));
    };
    if items.len() > most {
        let items = items.len();
        return Err(wrong(&format!("has {items} items where {most} are the most")));
    }
    Ok(items)
}

fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(answer, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}

/// Makes an error without the model's words: errors may be kept for longer than these.
fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("the model's answer {what}"))
}
