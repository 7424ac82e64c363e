//! Layouts of JSON texts: tokens stay as they are, only the space between them changes. So numbers, escapes and
//! the order of names come back as they went in.

use std::fmt::Write as _;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Deepest nesting that is laid out; what is deeper is text.
const DEEPEST: usize = 100;
/// Longest list or object on one line of a file.
const LINE_WIDTH: usize = 100;

/// Space between the tokens of a JSON text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JsonLayout {
    /// None.
    #[default]
    Compact,
    /// Behind commas and colons, as Python writes it.
    Spaced,
    /// Two spaces for each level.
    Indented,
    /// As [`Self::Indented`], with a newline at the end.
    IndentedLine,
}

impl JsonLayout {
    const ALL: [Self; 4] = [Self::Compact, Self::Spaced, Self::Indented, Self::IndentedLine];

    /// The layout of a text; none if it is not JSON, or laid out otherwise.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let parsed = JsonTokens::parse(text)?;
        Self::ALL.into_iter().find(|layout| parsed.to_text(*layout) == text)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn is_compact(&self) -> bool {
        *self == Self::Compact
    }
}

/// A JSON text as its tokens.
#[derive(Debug)]
pub(crate) enum JsonTokens<'a> {
    Scalar(&'a str),
    List(Vec<Self>),
    /// Names with their quotes.
    Object(Vec<(&'a str, Self)>),
}

impl<'a> JsonTokens<'a> {
    /// Reads a text; none if it is not JSON, or nested too deeply.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str::<IgnoredAny>(text).ok()?;
        Self::read(&mut text.trim_ascii(), 0)
    }

    /// Takes a value from the beginning of a text that is known to be JSON.
    fn read(rest: &mut &'a str, depth: usize) -> Option<Self> {
        if depth > DEEPEST {
            return None;
        }
        match rest.as_bytes().first()? {
            b'[' => {
                let mut items = Vec::new();
                skip(rest, 1);
                while !rest.starts_with(']') {
                    items.push(Self::read(rest, depth + 1)?);
                    skip(rest, usize::from(rest.starts_with(',')));
                }
                skip(rest, 1);
                Some(Self::List(items))
            }
            b'{' => {
                let mut fields = Vec::new();
                skip(rest, 1);
                while !rest.starts_with('}') {
                    let name = take(rest, string_len(rest)?);
                    skip(rest, 1);
                    fields.push((name, Self::read(rest, depth + 1)?));
                    skip(rest, usize::from(rest.starts_with(',')));
                }
                skip(rest, 1);
                Some(Self::Object(fields))
            }
            b'"' => Some(Self::Scalar(take(rest, string_len(rest)?))),
            _ => {
                let is_end = |it: char| matches!(it, ',' | ']' | '}') || it.is_ascii_whitespace();
                Some(Self::Scalar(take(rest, rest.find(is_end).unwrap_or(rest.len()))))
            }
        }
    }

    pub(crate) fn to_text(&self, layout: JsonLayout) -> String {
        let mut text = String::new();
        match layout {
            JsonLayout::Compact => self.write_line(&mut text, ""),
            JsonLayout::Spaced => self.write_line(&mut text, " "),
            JsonLayout::Indented => self.write_lines(&mut text, 0, 0),
            JsonLayout::IndentedLine => {
                self.write_lines(&mut text, 0, 0);
                text.push('\n');
            }
        }
        text
    }

    /// The text for people and for files: indented, and on one line where it fits.
    pub(crate) fn to_readable(&self) -> String {
        let mut text = String::new();
        self.write_lines(&mut text, 0, LINE_WIDTH);
        text
    }

    fn write_line(&self, text: &mut String, space: &str) {
        match self {
            Self::Scalar(token) => text.push_str(token),
            Self::List(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    separate(text, at, space);
                    item.write_line(text, space);
                }
                text.push(']');
            }
            Self::Object(fields) => {
                text.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    separate(text, at, space);
                    // Writing to a String can't fail.
                    let _ = write!(text, "{name}:{space}");
                    value.write_line(text, space);
                }
                text.push('}');
            }
        }
    }

    /// Writes on several lines what is longer than `width`. A list of numbers stays on one.
    fn write_lines(&self, text: &mut String, level: usize, width: usize) {
        let is_scalar =
            |item: &Self| matches!(item, Self::Scalar(token) if !token.starts_with('"'));
        let (open, close, count) = match self {
            Self::Scalar(_) => return self.write_line(text, " "),
            Self::List(items) if width > 0 && items.iter().all(is_scalar) => {
                return self.write_line(text, " ");
            }
            Self::List(items) => ('[', ']', items.len()),
            Self::Object(fields) => ('{', '}', fields.len()),
        };
        if count == 0 || (width > 0 && 2 * level + self.line_len() <= width) {
            return self.write_line(text, " ");
        }
        text.push(open);
        for at in 0..count {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            text.extend(std::iter::repeat_n("  ", level + 1));
            let value = match self {
                Self::List(items) => &items[at],
                Self::Object(fields) => {
                    let _ = write!(text, "{}: ", fields[at].0);
                    &fields[at].1
                }
                Self::Scalar(_) => continue,
            };
            value.write_lines(text, level + 1, width);
        }
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", level));
        text.push(close);
    }

    /// Bytes on one line; stops to count where it is too much for any.
    fn line_len(&self) -> usize {
        let mut len = 2;
        match self {
            Self::Scalar(token) => return token.len(),
            Self::List(items) => {
                for item in items {
                    len += 2 + item.line_len();
                    if len > LINE_WIDTH {
                        break;
                    }
                }
            }
            Self::Object(fields) => {
                for (name, value) in fields {
                    len += 4 + name.len() + value.line_len();
                    if len > LINE_WIDTH {
                        break;
                    }
                }
            }
        }
        len
    }
}

fn separate(text: &mut String, at: usize, space: &str) {
    if at > 0 {
        text.push(',');
        text.push_str(space);
    }
}

/// Drops some bytes, and the space behind them.
fn skip(rest: &mut &str, bytes: usize) {
    *rest = rest[bytes..].trim_ascii_start();
}

/// Takes some bytes, and drops the space behind them.
fn take<'a>(rest: &mut &'a str, bytes: usize) -> &'a str {
    let taken = &rest[..bytes];
    skip(rest, bytes);
    taken
}

/// Length of the string with which a text begins, quotes included.
fn string_len(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_recognised_and_come_back() {
        for (text, expected) in [
            (r#"{"a":[1.0,2e5,{}],"a":"\u00fc\"\\"}"#, Some(JsonLayout::Compact)),
            (r#"{"a": [1, "b"], "c": {}}"#, Some(JsonLayout::Spaced)),
            ("{\n  \"a\": [\n    1\n  ],\n  \"b\": []\n}", Some(JsonLayout::Indented)),
            ("{\n  \"a\": 1\n}\n", Some(JsonLayout::IndentedLine)),
            ("{\"a\":1 }", None),
            ("{\"a\":1}\n", None),
            ("{\"a\":", None),
            ("-1.50", Some(JsonLayout::Compact)),
            (&format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)), None),
        ] {
            assert_eq!(JsonLayout::of(text), expected, "{text}");
        }
    }

    #[test]
    fn files_break_lines_only_where_they_are_long() {
        let text = format!(
            r#"{{"a":{{"b":[1,2]}},"long":["{}","x"],"numbers":[{}0]}}"#,
            "y".repeat(90),
            "0.125,".repeat(40)
        );
        let readable = JsonTokens::parse(&text).expect("JSON").to_readable();
        assert_eq!(readable.lines().count(), 8, "{readable}");
        assert_eq!(JsonTokens::parse(&readable).expect("JSON").to_text(JsonLayout::Compact), text);
    }
}
