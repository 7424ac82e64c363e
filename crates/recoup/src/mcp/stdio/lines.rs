//! Lines of bounded length. Of a longer one only the id of its request is kept, so that it can be
//! answered.

use std::io::{self, BufRead, BufReader, Read};

use rmcp::model::RequestId;

use super::id;

/// Limit of a message in bytes.
pub(super) const MOST: usize = crate::mcp::LONGEST_MESSAGE;

/// One line, without its end.
#[derive(Debug)]
pub(super) enum InputLine {
    Whole(Vec<u8>),
    /// Too long, with its id if it had one.
    TooLong(Option<RequestId>),
}

impl InputLine {
    /// Number of bytes kept.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(line) => line.len(),
            Self::TooLong(_) => 0,
        }
    }
}

pub(super) struct LineReader<R> {
    input: BufReader<R>,
    most: usize,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self::with_limit(input, MOST)
    }

    fn with_limit(input: R, most: usize) -> Self {
        Self { input: BufReader::with_capacity(64 * 1024, input), most }
    }

    /// Returns the next line; none at the end. The last line needs no line end.
    pub(super) fn next(&mut self) -> Option<InputLine> {
        let mut line = Vec::new();
        let mut limited = (&mut self.input).take(self.most as u64 + 1);
        // A read error counts as the end.
        let read = limited.read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read > self.most {
            return Some(InputLine::TooLong(self.skip(&line)));
        }
        Some(InputLine::Whole(line))
    }

    /// Skips the rest of a line, and returns only its id.
    fn skip(&mut self, start: &[u8]) -> Option<RequestId> {
        let mut rest = LineRemainder { input: &mut self.input, ended: false };
        let id = id::find_id(start.chain(&mut rest));
        let _ = io::copy(&mut rest, &mut io::sink());
        id
    }
}

/// The unread rest of a line.
struct LineRemainder<'a, R> {
    input: &'a mut BufReader<R>,
    ended: bool,
}

impl<R: Read> Read for LineRemainder<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let there = self.input.fill_buf()?;
        let there = &there[..there.len().min(buffer.len())];
        let end = there.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(there.len());
        buffer[..taken].copy_from_slice(&there[..taken]);
        let consumed = taken + usize::from(end.is_some());
        self.ended = end.is_some() || there.is_empty();
        self.input.consume(consumed);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, most: usize) -> Vec<String> {
        let mut lines = LineReader::with_limit(text.as_bytes(), most);
        let shown = |line| match line {
            InputLine::Whole(line) => String::from_utf8(line).expect("text"),
            InputLine::TooLong(id) => {
                format!("too long: {}", serde_json::to_string(&id).expect("an id is JSON"))
            }
        };
        std::iter::from_fn(|| lines.next()).map(shown).collect()
    }

    #[test]
    fn each_line_is_one_also_the_last() {
        assert_eq!(lines("a\n\nb\r\nc", 10), ["a", "", "b\r", "c"]);
        assert!(lines("", 10).is_empty());
    }

    #[test]
    fn of_a_line_that_is_too_long_the_id_is_known_wherever_it_stands() {
        let long = "x".repeat(100);
        let text = format!(
            "{{\"id\":7,\"p\":\"{long}\"}}\n{{\"p\":\"{long}\",\"id\":\"a\"}}\n{long}\nshort\n"
        );
        let expected = ["too long: 7", "too long: \"a\"", "too long: null", "short"];
        assert_eq!(lines(&text, 20), expected);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit() {
        assert_eq!(lines("12345\n123456\n1", 5), ["12345", "too long: null", "1"]);
    }
}
