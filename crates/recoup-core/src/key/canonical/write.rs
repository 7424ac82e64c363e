//! The writer of canonical JSON, which is where RFC 8785 lives: no white space,
//! numbers as ECMAScript prints them, few escapes, members in UTF-16 order.
//!
//! Everything goes straight to the output. Members are put in order when their
//! object ends, and only if they were not in order already.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{Display, Write as _};
use std::ops::Range;

use super::fault::CanonicalError;

/// Enough for any sane document, and little enough for any stack.
pub(super) const MAX_DEPTH: usize = 128;

/// Up to here a double holds every integer; beyond, neighbours share one.
const MAX_INTEGER: u64 = 1 << 53;

/// Reason why writing to the output can't fail.
const STRINGS_GROW: &str = "a String takes any text";

/// Canonical text under construction.
#[derive(Debug)]
pub(super) struct CanonicalWriter {
    text: String,
    depth: usize,
}

impl CanonicalWriter {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), depth: 0 }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// `null`, `true` or `false`.
    pub(super) fn write_word(&mut self, word: &str) {
        self.text.push_str(word);
    }

    /// An integer, `None` when not even 64 bits hold it; `literal` is how it was written.
    pub(super) fn write_integer(
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
    pub(super) fn write_float(
        &mut self,
        value: f64,
        literal: &impl Display,
    ) -> Result<(), CanonicalError> {
        if !value.is_finite() {
            return Err(CanonicalError::number(literal, "is beyond the range of a double"));
        }
        self.text.push_str(ryu_js::Buffer::new().format_finite(value));
        Ok(())
    }

    pub(super) fn write_string(&mut self, text: &str) {
        self.text.push('"');
        let mut rest = text;
        while let Some(at) = rest.bytes().position(is_escaped) {
            self.text.push_str(&rest[..at]);
            self.write_escape(rest.as_bytes()[at]);
            rest = &rest[at + 1..];
        }
        self.text.push_str(rest);
        self.text.push('"');
    }

    fn write_escape(&mut self, byte: u8) {
        match byte {
            b'"' => self.text.push_str("\\\""),
            b'\\' => self.text.push_str("\\\\"),
            0x08 => self.text.push_str("\\b"),
            b'\t' => self.text.push_str("\\t"),
            b'\n' => self.text.push_str("\\n"),
            0x0c => self.text.push_str("\\f"),
            b'\r' => self.text.push_str("\\r"),
            _ => write!(self.text, "\\u{byte:04x}").expect(STRINGS_GROW),
        }
    }

    /// Begins an array.
    pub(super) fn open_array(&mut self) -> Result<(), CanonicalError> {
        self.open('[')
    }

    /// One item of an array, written by `value`.
    pub(super) fn write_item(
        &mut self,
        index: usize,
        value: impl FnOnce(&mut Self) -> Result<(), CanonicalError>,
    ) -> Result<(), CanonicalError> {
        if index > 0 {
            self.text.push(',');
        }
        value(self).map_err(|fault| fault.at_item(index))
    }

    pub(super) fn close_array(&mut self) {
        self.close(']');
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
pub(super) struct ObjectMembers<'a> {
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
    pub(super) fn open(out: &mut CanonicalWriter) -> Result<Self, CanonicalError> {
        out.open('{')?;
        Ok(Self { start: out.text.len(), list: Vec::new() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One member, its value written by `value`.
    pub(super) fn add(
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
        value(out).map_err(|fault| fault.at_member(&name))?;
        self.list.push(ObjectMember { name, text: start..out.text.len() });
        Ok(())
    }

    /// Ends the object, with its members in order and no name twice.
    pub(super) fn close(mut self, out: &mut CanonicalWriter) -> Result<(), CanonicalError> {
        if !self.list.is_sorted_by(|a, b| utf16_order(a, b).is_lt()) {
            self.list.sort_unstable_by(utf16_order);
            if let Some(twice) =
                self.list.windows(2).find(|pair| utf16_order(&pair[0], &pair[1]).is_eq())
            {
                return Err(CanonicalError::duplicate(&twice[0].name));
            }
            self.write_in_order(out);
        }
        out.close('}');
        Ok(())
    }

    fn write_in_order(&self, out: &mut CanonicalWriter) {
        let unordered = out.text.split_off(self.start);
        for (index, member) in self.list.iter().enumerate() {
            if index > 0 {
                out.text.push(',');
            }
            let text = member.text.start - self.start..member.text.end - self.start;
            out.text.push_str(&unordered[text]);
        }
    }
}

/// By UTF-16 code units, which is not the order of UTF-8 beyond U+FFFF.
fn utf16_order(a: &ObjectMember<'_>, b: &ObjectMember<'_>) -> Ordering {
    a.name.encode_utf16().cmp(b.name.encode_utf16())
}

/// True for a byte that a string holds only behind a backslash.
pub(super) fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}
