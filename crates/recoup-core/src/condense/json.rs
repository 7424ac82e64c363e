//! Partial JSON reading: of a large input only the needed fields are parsed, in place, and numbers
//! stay as they were written. And formatting: with two spaces per level for people, as all our
//! commands print it, and compact for programs and agents.
//!
//! Reading expects text that was validated as JSON before.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// Deeper levels stay on one line: indentation would grow with the square of the depth.
const DEEPEST: usize = 32;

/// True for an object.
pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// True for an array.
pub(super) fn is_list(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

/// True for a string.
pub(super) fn is_string(raw: &RawValue) -> bool {
    raw.get().starts_with('"')
}

/// True for a number.
pub(super) fn is_number(raw: &RawValue) -> bool {
    raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// True for anything but `null` and `false`, which mean nothing in most reports.
pub(super) fn is_meaningful(raw: &RawValue) -> bool {
    !matches!(raw.get(), "null" | "false")
}

/// The first of several candidates that is neither `null` nor `false`.
pub(super) fn first_meaningful<'a>(candidates: &[Option<&'a RawValue>]) -> Option<&'a RawValue> {
    candidates.iter().copied().flatten().find(|raw| is_meaningful(raw))
}

/// The fields with these names; none if the value is not an object. Of repeated names the last
/// counts.
pub(super) fn pick<'a, const N: usize>(
    raw: &'a RawValue,
    names: [&str; N],
) -> [Option<&'a RawValue>; N] {
    let mut found = [None; N];
    if is_object(raw) {
        let mut text = Deserializer::from_str(raw.get());
        // The text was validated before, so there is no error to report.
        let _ = text.deserialize_map(FieldPicker { names: &names, found: &mut found });
    }
    found
}

/// One field.
pub(super) fn field<'a>(raw: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let [value] = pick(raw, [name]);
    value
}

/// The value at a path of names.
pub(super) fn at<'a>(raw: &'a RawValue, path: &[&str]) -> Option<&'a RawValue> {
    path.iter().try_fold(raw, |raw, name| field(raw, name))
}

/// Visits every element of an array; nothing if it is not an array.
pub(super) fn visit_elements<'a>(raw: &'a RawValue, mut visit: impl FnMut(&'a RawValue)) {
    visit_until(raw, |item| {
        visit(item);
        false
    });
}

/// One element of an array.
pub(super) fn element(raw: &RawValue, index: usize) -> Option<&RawValue> {
    let (mut found, mut left) = (None, index);
    visit_until(raw, |item| {
        if left == 0 {
            found = Some(item);
        }
        left = left.wrapping_sub(1);
        found.is_some()
    });
    found
}

/// Visits the elements of an array until `enough` returns true.
fn visit_until<'a>(raw: &'a RawValue, enough: impl FnMut(&'a RawValue) -> bool) {
    if is_list(raw) {
        // Stopping early leaves the rest unread, which serde takes for an error.
        let _ = Deserializer::from_str(raw.get()).deserialize_seq(ElementVisitor(enough));
    }
}

/// The contents of a string, or any other value as it is written. A lone surrogate, which some
/// tools leave when they shorten text, becomes a replacement character.
pub(super) fn text(raw: &RawValue) -> Cow<'_, str> {
    if is_string(raw) { unescaped(raw.get()) } else { Cow::Borrowed(raw.get()) }
}

/// The contents of a string, if it is one.
pub(super) fn string(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    raw.filter(|raw| is_string(raw)).map(text)
}

/// A whole number, if it is one.
pub(super) fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw.and_then(|raw| text(raw).parse().ok())
}

/// The contents of a quoted string.
pub(super) fn unescaped(quoted: &str) -> Cow<'_, str> {
    let inner = &quoted[1..quoted.len() - 1];
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let bytes =
        Deserializer::from_str(quoted).deserialize_bytes(StringBytesVisitor).unwrap_or_default();
    let text = String::from_utf8(bytes).or_else(|error| {
        let mut bytes = error.into_bytes();
        // A lone surrogate and the replacement character both have three bytes.
        for at in 2..bytes.len() {
            if bytes[at - 2] == 0xed && bytes[at - 1] >= 0xa0 {
                bytes[at - 2..=at].copy_from_slice("\u{fffd}".as_bytes());
            }
        }
        String::from_utf8(bytes)
    });
    Cow::Owned(text.unwrap_or_default())
}

/// A value of the result: taken from the input, or derived.
#[derive(Debug, Clone)]
pub(super) enum FieldValue<'a> {
    Json(&'a RawValue),
    Text(Cow<'a, str>),
    Number(u64),
}

impl<'a> FieldValue<'a> {
    /// The value as plain text.
    pub(super) fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Json(raw) => text(raw),
            Self::Text(text) => text.clone(),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

impl<'a, T: Into<Cow<'a, str>>> From<T> for FieldValue<'a> {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(raw) => raw.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_u64(*number),
        }
    }
}

struct FieldPicker<'n, 'f, 'a> {
    names: &'n [&'n str],
    found: &'f mut [Option<&'a RawValue>],
}

impl<'a> Visitor<'a> for FieldPicker<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(known) = map.next_key_seed(KeyMatcher(self.names))? {
            match known {
                Some(index) => self.found[index] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Position of a key among these names. Compared as bytes, because a key with a lone surrogate is
/// not UTF-8.
struct KeyMatcher<'n>(&'n [&'n str]);

impl<'a> DeserializeSeed<'a> for KeyMatcher<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'a>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_bytes(self)
    }
}

impl Visitor<'_> for KeyMatcher<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| name.as_bytes() == key))
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        self.visit_bytes(key.as_bytes())
    }
}

struct ElementVisitor<F>(F);

impl<'a, F: FnMut(&'a RawValue) -> bool> Visitor<'a> for ElementVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(item) = list.next_element()? {
            if (self.0)(item) {
                break;
            }
        }
        Ok(())
    }
}

struct StringBytesVisitor;

impl Visitor<'_> for StringBytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

/// Formats `json` for a place `depth` levels deep, with strings as written; `None` if it is not
/// JSON.
pub fn indented(json: &str, depth: usize) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    Some(format_json(json, depth, |quoted| quoted.into()))
}

/// Removes white space. Strings lose needless escapes.
pub(super) fn compact(json: &str) -> String {
    compact_within(json, usize::MAX).expect("no text is longer than that")
}

/// Like [`compact`], but `None` if the result is longer than `most` bytes. Stops reading there.
pub(super) fn compact_within(json: &str, most: usize) -> Option<String> {
    let mut out = String::new();
    let mut rest = json.trim_ascii_start();
    while let Some(first) = rest.chars().next() {
        let end = if first == '"' { end_of_string(rest) } else { first.len_utf8() };
        let (token, after) = rest.split_at(end);
        out.push_str(&without_needless_escapes(token));
        if out.len() > most {
            return None;
        }
        rest = after.trim_ascii_start();
    }
    Some(out)
}

/// Formats JSON with indentation. Strings lose needless escapes.
pub(super) fn pretty(json: &str) -> String {
    format_json(json, 0, without_needless_escapes)
}

fn format_json(json: &str, depth: usize, string: fn(&str) -> Cow<'_, str>) -> String {
    let mut layout = JsonFormatter { out: String::with_capacity(json.len() * 2), depth, string };
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        rest = layout.write_token(first, rest);
    }
    layout.out
}

/// A string without needless escapes.
fn without_needless_escapes(quoted: &str) -> Cow<'_, str> {
    if !quoted.contains('\\') {
        return quoted.into();
    }
    serde_json::to_string(&unescaped(quoted)).expect("text is always JSON").into()
}

struct JsonFormatter {
    out: String,
    depth: usize,
    /// How strings are written.
    string: fn(&str) -> Cow<'_, str>,
}

impl JsonFormatter {
    /// Writes the first token of `rest`, which begins with `first`, and returns what follows it.
    fn write_token<'a>(&mut self, first: char, rest: &'a str) -> &'a str {
        let after = &rest[first.len_utf8()..];
        match first {
            '{' | '[' => {
                self.out.push(first);
                let after = after.trim_ascii_start();
                if let Some(rest) = after.strip_prefix(['}', ']']) {
                    self.out.push(if first == '{' { '}' } else { ']' });
                    return rest;
                }
                self.depth += 1;
                self.new_line(self.depth);
                after
            }
            '}' | ']' => {
                self.depth -= 1;
                self.new_line(self.depth + 1);
                self.out.push(first);
                after
            }
            ',' => {
                self.out.push(',');
                self.new_line(self.depth);
                after
            }
            ':' => {
                self.out.push_str(": ");
                after
            }
            '"' => {
                let (quoted, after) = rest.split_at(end_of_string(rest));
                self.out.push_str(&(self.string)(quoted));
                after
            }
            _ if first.is_ascii_whitespace() => after,
            _ => {
                self.out.push(first);
                after
            }
        }
    }

    /// Starts a new line, unless `level` is too deep. For a closing bracket, `level` is that of the
    /// contents.
    fn new_line(&mut self, level: usize) {
        if level > DEEPEST {
            return;
        }
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }
}

/// End of the string at the start of `text`.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_made_short_loses_needless_escapes() {
        let text = "{\"\\u0061\\\"b\":[1.0,{}],\"c\":\"\\n\"}";
        let lines = ["{", "  \"a\\\"b\": [", "    1.0,", "    {}", "  ],", "  \"c\": \"\\n\"", "}"];
        assert_eq!(pretty(text), lines.join("\n"));
        let deeper = lines.join("\n  ").replace("a\\\"b", "\\u0061\\\"b");
        assert_eq!(indented(text, 1).unwrap(), deeper);
        assert_eq!(indented("{\"a\":", 0), None);
        let spaced = " {\n \"\\u0061\" : [ 1.0 , {} ],\t\"b \\\" c\": true } ";
        let short = "{\"a\":[1.0,{}],\"b \\\" c\":true}";
        assert_eq!(compact(spaced), short);
        assert_eq!(compact_within(spaced, short.len()).as_deref(), Some(short));
        assert_eq!(compact_within(spaced, short.len() - 1), None);
    }
}
