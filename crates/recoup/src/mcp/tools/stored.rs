//! Encoding of stored results: a text stays a text, and JSON keeps its digits and the order of its
//! fields.

use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;
use serde_json::value::RawValue;

/// Encodes a result, always as JSON, because `recoup cache` reads it too.
pub(super) fn encode_result(result: &Value) -> Result<Vec<u8>> {
    serde_json::to_vec(result).map_err(|error| {
        Error::new(ErrorKind::Invalid, "the result can't be written").with_source(error)
    })
}

/// Decodes a stored result into its text and its value.
pub(super) fn decode_result(bytes: &[u8]) -> Result<(String, Value)> {
    let unreadable =
        |error| Error::new(ErrorKind::Corrupt, "the stored result is not JSON").with_source(error);
    let raw: &RawValue = serde_json::from_slice(bytes).map_err(unreadable)?;
    let value: Value = serde_json::from_str(raw.get()).map_err(unreadable)?;
    Ok(match value {
        Value::String(text) => (text.clone(), Value::String(text)),
        value if keeps_its_digits(raw.get()) => (raw.get().to_owned(), value),
        // A number that would lose digits is safe only in a text.
        _ => (raw.get().to_owned(), Value::String(raw.get().to_owned())),
    })
}

/// True if each number of a JSON text survives parsing.
fn keeps_its_digits(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(inside) = rest.strip_prefix('"') {
            rest = &inside[text_length(inside)..];
            continue;
        }
        let in_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let (number, after) = rest.split_at(rest.find(|c| !in_number(c)).unwrap_or(rest.len()));
        if !is_exact(number) {
            return false;
        }
        rest = after;
    }
    true
}

/// Length of a string up to and including its closing quote.
fn text_length(inside: &str) -> usize {
    let mut escaped = false;
    let end = inside.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    end.map_or(inside.len(), |end| end + 1)
}

/// True for integers of 64 bits, numbers of up to 15 digits, and those that we would write the
/// same.
fn is_exact(number: &str) -> bool {
    let same = |read: serde_json::Number| read.to_string() == number;
    if serde_json::from_str(number).is_ok_and(same) {
        return true;
    }
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    let digits = digits.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit);
    digits.count() <= 15
}
