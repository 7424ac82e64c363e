//! Canonical JSON from a value that is already in memory.

use serde_json::{Number, Value};

use super::fault::CanonicalError;
use super::write::{CanonicalWriter, ObjectMembers};

/// 2^53. From here on a float may be an integer that lost its last digits.
const MAY_BE_ROUNDED: f64 = 9_007_199_254_740_992.0;

pub(super) fn write_value(out: &mut CanonicalWriter, value: &Value) -> Result<(), CanonicalError> {
    match value {
        Value::Null => out.write_word("null"),
        Value::Bool(true) => out.write_word("true"),
        Value::Bool(false) => out.write_word("false"),
        Value::Number(number) => write_number(out, number)?,
        Value::String(text) => out.write_string(text),
        Value::Array(items) => {
            out.open_array()?;
            for (index, item) in items.iter().enumerate() {
                out.write_item(index, |out| write_value(out, item))?;
            }
            out.close_array();
        }
        Value::Object(map) => {
            let mut members = ObjectMembers::open(out)?;
            for (name, value) in map {
                members.add(out, name.into(), |out| write_value(out, value))?;
            }
            members.close(out)?;
        }
    }
    Ok(())
}

fn write_number(out: &mut CanonicalWriter, number: &Number) -> Result<(), CanonicalError> {
    if !number.is_f64() {
        return out.write_integer(number.as_i64(), number);
    }
    match number.as_f64() {
        Some(value) if value.abs() < MAY_BE_ROUNDED => out.write_float(value, number),
        _ => Err(CanonicalError::number(number, "may be an integer beyond ±2^53 that was rounded")),
    }
}
