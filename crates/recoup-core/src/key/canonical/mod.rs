//! Canonical JSON (RFC 8785): one text for all ways to write the same value, so that its hash can be
//! a key.
//!
//! Two sources, JSON text ([`canonical`]) and values ([`canonical_value`]), feed one writer. What it
//! can't represent exactly is an error: a guess could give two values the same key. Everything goes
//! straight to the output. Members are put in order when their object ends, and only if they were not
//! in order already.

mod read;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{Display, Write as _};
use std::ops::Range;

use serde_json::Value;

use crate::base::text::shorten_text;
use crate::error::{Error, ErrorKind, Result};
use read::JsonReader;

/// Enough for any sane document, and little enough for any stack.
const MAX_DEPTH: usize = 128;
/// Up to here a double holds every integer; beyond, neighbours share one.
const MAX_INTEGER: u64 = 1 << 53;
/// Reason why writing to the output can't fail.
const STRINGS_GROW: &str = "a String takes any text";
/// 2^53. From here on a float may be an integer that lost its last digits.
const MAY_BE_ROUNDED: f64 = 9_007_199_254_740_992.0;
/// Hostile input must not make endless messages.
const MAX_NAME: usize = 64;
const MAX_PATH: usize = 1_000;

/// The canonical form of the JSON in `text`.
///
/// Refused, with [`ErrorKind::Invalid`] and the path
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
    Ok(out.text)
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
    Ok(out.text)
}

/// Canonical text under construction.
#[derive(Debug)]
struct CanonicalWriter {
    text: String,
    depth: usize,
}

impl CanonicalWriter {
    fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), depth: 0 }
    }

    /// `null`, `true` or `false`.
    fn write_word(&mut self, word: &str) {
        self.text.push_str(word);
    }

    /// An integer, `None` when not even 64 bits hold it; `literal` is how it was written.
    fn write_integer(
        &mut self,
        value: Option<i64>,
        literal: &impl Display,
    ) -> Result<(), CanonicalError> {
        match value {
            Some(value) if value.unsigned_abs() <= MAX_INTEGER => {
                write!(self.text, "{value}").expect(STRINGS_GROW);
                Ok(())
            }
            _ => Err(CanonicalError::number(literal, "is an integer beyond ±2^53")),
        }
    }

    /// Any other number; `literal` is how it was written.
    fn write_float(&mut self, value: f64, literal: &impl Display) -> Result<(), CanonicalError> {
        if !value.is_finite() {
            return Err(CanonicalError::number(literal, "is beyond the range of a double"));
        }
        self.text.push_str(ryu_js::Buffer::new().format_finite(value));
        Ok(())
    }

    fn write_string(&mut self, text: &str) {
        self.text.push('"');
        let mut rest = text;
        while let Some(at) = rest.bytes().position(is_escaped) {
            self.text.push_str(&rest[..at]);
            match rest.as_bytes()[at] {
                b'"' => self.text.push_str("\\\""),
                b'\\' => self.text.push_str("\\\\"),
                0x08 => self.text.push_str("\\b"),
                b'\t' => self.text.push_str("\\t"),
                b'\n' => self.text.push_str("\\n"),
                0x0c => self.text.push_str("\\f"),
                b'\r' => self.text.push_str("\\r"),
                byte => write!(self.text, "\\u{byte:04x}").expect(STRINGS_GROW),
            }
            rest = &rest[at + 1..];
        }
        self.text.push_str(rest);
        self.text.push('"');
    }

    /// One item of an array, written by `value`.
    fn write_item(
        &mut self,
        index: usize,
        value: impl FnOnce(&mut Self) -> Result<(), CanonicalError>,
    ) -> Result<(), CanonicalError> {
        if index > 0 {
            self.text.push(',');
        }
        value(self).map_err(|mut fault| {
            fault.steps.push(format!("[{index}]"));
            fault
        })
    }

    fn open(&mut self, bracket: char) -> Result<(), CanonicalError> {
        if self.depth == MAX_DEPTH {
            return Err(CanonicalError::depth());
        }
        self.depth += 1;
        self.text.push(bracket);
        Ok(())
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        self.text.push(bracket);
    }
}

/// An object under construction: the place of each member's text, until all are known.
#[derive(Debug)]
struct ObjectMembers<'a> {
    start: usize,
    list: Vec<ObjectMember<'a>>,
}

#[derive(Debug)]
struct ObjectMember<'a> {
    name: Cow<'a, str>,
    text: Range<usize>,
}

impl<'a> ObjectMembers<'a> {
    /// Begins an object.
    fn open(out: &mut CanonicalWriter) -> Result<Self, CanonicalError> {
        out.open('{')?;
        Ok(Self { start: out.text.len(), list: Vec::new() })
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One member, its value written by `value`.
    fn add(
        &mut self,
        out: &mut CanonicalWriter,
        name: Cow<'a, str>,
        value: impl FnOnce(&mut CanonicalWriter) -> Result<(), CanonicalError>,
    ) -> Result<(), CanonicalError> {
        if !self.is_empty() {
            out.text.push(',');
        }
        let start = out.text.len();
        out.write_string(&name);
        out.text.push(':');
        value(out).map_err(|mut fault| {
            let is_plain = name.starts_with(|c: char| !c.is_ascii_digit())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            fault.steps.push(if is_plain {
                format!(".{}", shorten_text(&name, MAX_NAME))
            } else {
                format!("[{}]", quote_name(&name))
            });
            fault
        })?;
        self.list.push(ObjectMember { name, text: start..out.text.len() });
        Ok(())
    }

    /// Ends the object, with its members in order and no name twice.
    fn close(mut self, out: &mut CanonicalWriter) -> Result<(), CanonicalError> {
        if !self.list.is_sorted_by(|a, b| utf16_order(a, b).is_lt()) {
            self.list.sort_unstable_by(utf16_order);
            if let Some(twice) =
                self.list.windows(2).find(|pair| utf16_order(&pair[0], &pair[1]).is_eq())
            {
                return Err(CanonicalError::duplicate(&twice[0].name));
            }
            let unordered = out.text.split_off(self.start);
            for (index, member) in self.list.iter().enumerate() {
                if index > 0 {
                    out.text.push(',');
                }
                let text = member.text.start - self.start..member.text.end - self.start;
                out.text.push_str(&unordered[text]);
            }
        }
        out.close('}');
        Ok(())
    }
}

/// By UTF-16 code units, which is not the order of UTF-8 beyond U+FFFF.
fn utf16_order(a: &ObjectMember<'_>, b: &ObjectMember<'_>) -> Ordering {
    a.name.encode_utf16().cmp(b.name.encode_utf16())
}

/// True for a byte that a string holds only behind a backslash.
fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn write_value(out: &mut CanonicalWriter, value: &Value) -> Result<(), CanonicalError> {
    match value {
        Value::Null => out.write_word("null"),
        Value::Bool(true) => out.write_word("true"),
        Value::Bool(false) => out.write_word("false"),
        Value::Number(number) if !number.is_f64() => out.write_integer(number.as_i64(), number)?,
        Value::Number(number) => match number.as_f64() {
            Some(value) if value.abs() < MAY_BE_ROUNDED => out.write_float(value, number)?,
            _ => {
                let why = "may be an integer beyond ±2^53 that was rounded";
                return Err(CanonicalError::number(number, why));
            }
        },
        Value::String(text) => out.write_string(text),
        Value::Array(items) => {
            out.open('[')?;
            for (index, item) in items.iter().enumerate() {
                out.write_item(index, |out| write_value(out, item))?;
            }
            out.close(']');
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

/// An error, and the steps that lead to its place, innermost first.
#[derive(Debug)]
struct CanonicalError {
    what: String,
    fix: &'static str,
    steps: Vec<String>,
}

impl CanonicalError {
    fn new(what: String, fix: &'static str) -> Self {
        Self { what, fix, steps: Vec::new() }
    }

    /// Text that breaks JSON's grammar.
    fn syntax(what: &str) -> Self {
        Self::new(format!("not JSON: {what}"), "correct the text")
    }

    /// A number whose digits would be lost; `why` says how.
    fn number(literal: &impl Display, why: &str) -> Self {
        let literal = literal.to_string();
        let literal = shorten_text(&literal, MAX_NAME);
        let what = format!("canonical JSON cannot represent the number {literal}, which {why},");
        Self::new(what, "write it as a string")
    }

    /// Half of a surrogate pair.
    fn surrogate(unit: u32) -> Self {
        let what = format!("canonical JSON cannot represent the lone surrogate \\u{unit:04x}");
        Self::new(what, "complete the pair or leave it out")
    }

    /// A member name that occurs twice in one object.
    fn duplicate(name: &str) -> Self {
        let what = format!("the member name {} occurs twice in the object", quote_name(name));
        Self::new(what, "keep one of the two")
    }

    /// Brackets within brackets within brackets.
    fn depth() -> Self {
        Self::new(format!("more than {MAX_DEPTH} levels of nesting"), "make the value flatter")
    }
}

impl From<CanonicalError> for Error {
    fn from(fault: CanonicalError) -> Self {
        let CanonicalError { what, fix, steps } = fault;
        let steps: String = steps.iter().rev().map(String::as_str).collect();
        let path = format!("${steps}");
        let path = shorten_text(&path, MAX_PATH);
        Error::new(ErrorKind::Invalid, format!("{what} at {path}; {fix}"))
    }
}

/// A name as JSON writes it.
fn quote_name(name: &str) -> String {
    Value::from(shorten_text(name, MAX_NAME)).to_string()
}
