//! Canonical JSON (RFC 8785): one text for all ways to write the same value,
//! so that its hash can be a key.
//!
//! Two sources, JSON text ([`canonical`]) and values ([`canonical_value`]), feed one writer. What
//! it can't represent exactly is an error: a guess could give two values the same key.

mod fault;
mod read;
mod value;
mod write;

use serde_json::Value;

use self::read::JsonReader;
use self::value::write_value;
use self::write::CanonicalWriter;
use crate::error::Result;

/// The canonical form of the JSON in `text`.
///
/// Refused, with [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) and the path
/// of the fault: what is not JSON, duplicate member names, lone surrogates, more
/// than 128 levels, numbers beyond a double's range, and integers beyond ±2^53.
/// An integer is a literal of digits alone; a literal with a fraction or an
/// exponent means the nearest double, as the RFC has it.
///
/// ```
/// use recoup_core::key::canonical::canonical;
///
/// assert_eq!(canonical(r#"{ "b": 1.0, "a": [1E30, "\u20ac"] }"#)?, r#"{"a":[1e+30,"€"],"b":1}"#);
/// assert!(canonical("9007199254740993").is_err());
/// # Ok::<(), recoup_core::Error>(())
/// ```
///
/// Canonical text is its own canonical form, but for one case: the RFC writes
/// floats between 2^53 and 10^21 without an exponent (`1e20` becomes 1 and twenty
/// zeros), and such digits are refused when they come in.
pub fn canonical(text: &str) -> Result<String> {
    let mut out = CanonicalWriter::with_capacity(text.len());
    JsonReader::new(text).read_document(&mut out)?;
    Ok(out.finish())
}

/// The canonical form of `value`.
///
/// As [`canonical`], with one more refusal: floats of magnitude 2^53 and above. `serde_json` turns
/// an integer too long for 64 bits into such a float, which can't be told from one that was meant.
/// Floats are taken as they are; where every digit of the source counts, give its text to
/// [`canonical`].
pub fn canonical_value(value: &Value) -> Result<String> {
    let mut out = CanonicalWriter::with_capacity(0);
    write_value(&mut out, value)?;
    Ok(out.finish())
}
