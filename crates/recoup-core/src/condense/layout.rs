//! Compact JSON, laid out as all our commands print it: two spaces for each
//! level. Numbers keep their digits, and strings lose needless escapes.

use super::json;

/// What is nested deeper stays on one line: indentation would grow with the
/// square of the depth.
const DEEPEST: usize = 32;

/// Lays out text that is JSON.
pub(super) fn pretty(json: &str) -> String {
    let mut layout = Layout { out: String::with_capacity(json.len() * 2), depth: 0 };
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        rest = layout.token(first, rest);
    }
    layout.out
}

struct Layout {
    out: String,
    depth: usize,
}

impl Layout {
    /// Writes the first token of `rest`, which begins with `first`, and returns
    /// what comes after it.
    fn token<'a>(&mut self, first: char, rest: &'a str) -> &'a str {
        let after = &rest[first.len_utf8()..];
        match first {
            '{' | '[' => self.open(first, after),
            '}' | ']' => {
                self.depth -= 1;
                self.line(self.depth + 1);
                self.out.push(first);
                after
            }
            ',' => {
                self.out.push(',');
                self.line(self.depth);
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
        self.line(self.depth);
        after
    }

    /// A new line, or a space where the levels are too many. A bracket that closes
    /// stands where the one that it belongs to opened, so `level` is the inner one.
    fn line(&mut self, level: usize) {
        if level > DEEPEST {
            return;
        }
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }

    fn string<'a>(&mut self, rest: &'a str) -> &'a str {
        let (quoted, after) = rest.split_at(end_of_string(rest));
        if quoted.contains('\\') {
            let text = json::unescaped(quoted);
            self.out.push_str(&serde_json::to_string(&text).expect("text is always JSON"));
        } else {
            self.out.push_str(quoted);
        }
        after
    }
}

/// Where the string ends with which `text` begins.
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
