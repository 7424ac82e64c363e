//! A model's answer: one JSON object, and nothing else.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// The array `name` of the one object that `answer` is. A fence around it is passed over:
/// some models can't do without. Anything else around it makes it no answer, because then
/// it could be text that the model only quotes.
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

/// None of its words: errors are kept for longer than the user may want what was said.
fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("the model's answer {what}"))
}
