//! JSON formatting: with two spaces per level for people, as all our commands print it, and compact
//! for programs and agents. Numbers and the order of fields stay as they were written.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::json;

/// Deeper levels stay on one line: indentation would grow with the square of the depth.
const DEEPEST: usize = 32;

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
    serde_json::to_string(&json::unescaped(quoted)).expect("text is always JSON").into()
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
            '{' | '[' => self.open(first, after),
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
            '"' => self.string(rest),
            _ if first.is_ascii_whitespace() => after,
            _ => {
                self.out.push(first);
                after
            }
        }
    }

    fn open<'a>(&mut self, bracket: char, after: &'a str) -> &'a str {
        self.out.push(bracket);
        let after = after.trim_ascii_start();
        if let Some(rest) = after.strip_prefix(['}', ']']) {
            self.out.push(if bracket == '{' { '}' } else { ']' });
            return rest;
        }
        self.depth += 1;
        self.new_line(self.depth);
        after
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

    fn string<'a>(&mut self, rest: &'a str) -> &'a str {
        let (quoted, after) = rest.split_at(end_of_string(rest));
        self.out.push_str(&(self.string)(quoted));
        after
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
