//! A strict reader of JSON text, in one pass from left to right.
//!
//! A reader of our own, because a number's digits must be seen before they
//! become a double, and member names before a map swallows one of two.

use std::borrow::Cow;

use super::fault::Fault;
use super::write::{Members, Writer, is_escaped};

/// JSON text, and how far it has been read: always up to a whole character.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads one value and the end of the text.
    pub(super) fn document(mut self, out: &mut Writer) -> Result<(), Fault> {
        self.value(out)?;
        self.skip_space();
        if self.at < self.text.len() { Err(self.expected("the end of the text")) } else { Ok(()) }
    }

    fn value(&mut self, out: &mut Writer) -> Result<(), Fault> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(out),
            Some(b'[') => self.array(out),
            Some(b'"') => {
                out.string(&self.string()?);
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => self.number(out),
            _ => self.word(out),
        }
    }

    fn object(&mut self, out: &mut Writer) -> Result<(), Fault> {
        self.at += 1;
        let mut members = Members::open(out)?;
        while self.another(members.is_empty(), b'}', "',' or '}'")? {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a member name in double quotes"));
            }
            let name = self.string()?;
            self.skip_space();
            if !self.eat(b':') {
                return Err(self.expected("':'"));
            }
            members.add(out, name, |out| self.value(out))?;
        }
        members.close(out)
    }

    fn array(&mut self, out: &mut Writer) -> Result<(), Fault> {
        self.at += 1;
        out.open_array()?;
        let mut index = 0;
        while self.another(index == 0, b']', "',' or ']'")? {
            out.item(index, |out| self.value(out))?;
            index += 1;
        }
        out.close_array();
        Ok(())
    }

    /// True if another item follows. Consumes the comma before it, or the closing bracket.
    fn another(&mut self, first: bool, bracket: u8, either: &str) -> Result<bool, Fault> {
        self.skip_space();
        if self.eat(bracket) {
            Ok(false)
        } else if first || self.eat(b',') {
            Ok(true)
        } else {
            Err(self.expected(either))
        }
    }

    fn word(&mut self, out: &mut Writer) -> Result<(), Fault> {
        let rest = &self.text[self.at..];
        let word = ["null", "true", "false"].into_iter().find(|word| rest.starts_with(word));
        let word = word.ok_or_else(|| self.expected("a value"))?;
        self.at += word.len();
        out.word(word);
        Ok(())
    }

    fn number(&mut self, out: &mut Writer) -> Result<(), Fault> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        let integer_end = self.at;
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let literal = &self.text[start..self.at];
        if self.at == integer_end {
            return out.integer(literal.parse().ok(), &literal);
        }
        let value = literal.parse().expect("Rust reads every number that JSON can write");
        out.float(value, &literal)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    /// Borrowed from the text, unless it has escapes.
    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            text += self.unescaped();
            if self.eat(b'"') {
                return Ok(text);
            } else if self.eat(b'\\') {
                text.to_mut().push(self.escape()?);
            } else {
                return Err(self.expected("'\"' or an escaped character"));
            }
        }
    }

    /// Reads the part of a string up to the next escape.
    fn unescaped(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let run = &rest[..rest.bytes().position(is_escaped).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.expected("an escape such as \\n or \\u00e9")),
        };
        self.at += 1;
        Ok(character)
    }

    /// `uXXXX`, and its second half when that is only the first of a pair.
    fn unicode(&mut self) -> Result<char, Fault> {
        let unit = self.unit()?;
        if let Some(character) = char::from_u32(unit) {
            return Ok(character);
        }
        if unit < 0xdc00 && self.eat(b'\\') && self.peek() == Some(b'u') {
            let second = self.unit()?;
            if (0xdc00..=0xdfff).contains(&second) {
                let pair = 0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(pair).ok_or_else(|| Fault::surrogate(unit));
            }
        }
        Err(Fault::surrogate(unit))
    }

    fn unit(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| self.expected("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(unit)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expected(&self, what: &str) -> Fault {
        let (before, after) = self.text.split_at(self.at);
        let found = after.chars().next().map_or("nothing more".to_owned(), |c| format!("{c:?}"));
        let line = before.split('\n').count();
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Fault::syntax(&format!("expected {what}, found {found} on line {line}, column {column},"))
    }
}
