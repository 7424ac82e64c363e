//! Canonical JSON from a value that is already in memory.

use serde_json::{Number, Value};

use super::fault::Fault;
use super::write::{Members, Writer};

/// 2^53. From here on a float may be an integer that lost its last digits.
const MAY_BE_ROUNDED: f64 = 9_007_199_254_740_992.0;

pub(super) fn write_value(out: &mut Writer, value: &Value) -> Result<(), Fault> {
    match value {
        Value::Null => out.word("null"),
        Value::Bool(true) => out.word("true"),
        Value::Bool(false) => out.word("false"),
        Value::Number(number) => write_number(out, number)?,
        Value::String(text) => out.string(text),
        Value::Array(items) => {
            out.open_array()?;
            for (index, item) in items.iter().enumerate() {
                out.item(index, |out| write_value(out, item))?;
            }
            out.close_array();
        }
        Value::Object(map) => {
            let mut members = Members::open(out)?;
            for (name, value) in map {
                members.add(out, name.into(), |out| write_value(out, value))?;
            }
            members.close(out)?;
        }
    }
    Ok(())
}

fn write_number(out: &mut Writer, number: &Number) -> Result<(), Fault> {
    if !number.is_f64() {
        return out.integer(number.as_i64(), number);
    }
    match number.as_f64() {
        Some(value) if value.abs() < MAY_BE_ROUNDED => out.float(value, number),
        _ => Err(Fault::number(number, "may be an integer beyond ±2^53 that was rounded")),
    }
}
