//! JSON with line breaks and two spaces, every number, string and the order of
//! fields as they were written.

use serde::de::IgnoredAny;

/// What is nested deeper stays on one line: indentation would grow with the square of
/// the depth.
const DEEPEST: usize = 32;

/// `text` as it stands `depth` levels deep; none where it is no JSON.
pub(super) fn indented(text: &str, depth: usize) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut written = Written { text: String::with_capacity(text.len() * 2), depth };
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        match c {
            '"' => {
                let end = string_end(text, start);
                written.text.push_str(&text[start..end]);
                while rest.next_if(|(at, _)| *at < end).is_some() {}
            }
            '{' | '[' => {
                written.text.push(c);
                while rest.next_if(|(_, c)| c.is_ascii_whitespace()).is_some() {}
                match rest.next_if(|(_, c)| matches!(c, '}' | ']')) {
                    Some((_, end)) => written.text.push(end),
                    None => written.deeper(),
                }
            }
            '}' | ']' => written.shallower(c),
            ',' => written.next(),
            ':' => written.text.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => written.text.push(c),
        }
    }
    Some(written.text)
}

struct Written {
    text: String,
    depth: usize,
}

impl Written {
    /// A line at the depth of what it is in; none among what is nested too deep.
    fn break_line(&mut self, inside: usize) {
        if inside <= DEEPEST {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", self.depth));
        }
    }

    fn deeper(&mut self) {
        self.depth += 1;
        self.break_line(self.depth);
    }

    fn shallower(&mut self, end: char) {
        let inside = self.depth;
        self.depth = self.depth.saturating_sub(1);
        self.break_line(inside);
        self.text.push(end);
    }

    fn next(&mut self) {
        self.text.push(',');
        self.break_line(self.depth);
    }
}

/// Where the string ends that begins at `start`, its quotes included.
fn string_end(text: &str, start: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(start + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
