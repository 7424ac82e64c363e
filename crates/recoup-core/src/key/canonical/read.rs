//! A strict reader of JSON text, in one pass from left to right.
//!
//! A reader of our own, because a number's digits must be seen before they
//! become a double, and member names before a map swallows one of two.

use std::borrow::Cow;

use super::{CanonicalError, CanonicalWriter, ObjectMembers, is_escaped};

/// JSON text, and how far it has been read: always up to a whole character.
#[derive(Debug)]
pub(super) struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads one value and the end of the text.
    pub(super) fn read_document(mut self, out: &mut CanonicalWriter) -> Result<(), CanonicalError> {
        self.read_value(out)?;
        self.skip_space();
        if self.at < self.text.len() {
            Err(self.syntax_error("the end of the text"))
        } else {
            Ok(())
        }
    }

    fn read_value(&mut self, out: &mut CanonicalWriter) -> Result<(), CanonicalError> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.read_object(out),
            Some(b'[') => {
                self.at += 1;
                out.open('[')?;
                let mut index = 0;
                while self.has_another_item(index == 0, b']', "',' or ']'")? {
                    out.write_item(index, |out| self.read_value(out))?;
                    index += 1;
                }
                out.close(']');
                Ok(())
            }
            Some(b'"') => {
                out.write_string(&self.read_string()?);
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => self.read_number(out),
            _ => {
                let rest = &self.text[self.at..];
                let words = ["null", "true", "false"];
                let word = words.into_iter().find(|word| rest.starts_with(word));
                let word = word.ok_or_else(|| self.syntax_error("a value"))?;
                self.at += word.len();
                out.write_word(word);
                Ok(())
            }
        }
    }

    fn read_object(&mut self, out: &mut CanonicalWriter) -> Result<(), CanonicalError> {
        self.at += 1;
        let mut members = ObjectMembers::open(out)?;
        while self.has_another_item(members.is_empty(), b'}', "',' or '}'")? {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.syntax_error("a member name in double quotes"));
            }
            let name = self.read_string()?;
            self.skip_space();
            if !self.eat(b':') {
                return Err(self.syntax_error("':'"));
            }
            members.add(out, name, |out| self.read_value(out))?;
        }
        members.close(out)
    }

    /// True if another item follows. Consumes the comma before it, or the closing bracket.
    fn has_another_item(
        &mut self,
        first: bool,
        bracket: u8,
        either: &str,
    ) -> Result<bool, CanonicalError> {
        self.skip_space();
        if self.eat(bracket) {
            Ok(false)
        } else if first || self.eat(b',') {
            Ok(true)
        } else {
            Err(self.syntax_error(either))
        }
    }

    fn read_number(&mut self, out: &mut CanonicalWriter) -> Result<(), CanonicalError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.read_digits()?;
        }
        let integer_end = self.at;
        if self.eat(b'.') {
            self.read_digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.read_digits()?;
        }
        let literal = &self.text[start..self.at];
        if self.at == integer_end {
            return out.write_integer(literal.parse().ok(), &literal);
        }
        let value = literal.parse().expect("Rust reads every number that JSON can write");
        out.write_float(value, &literal)
    }

    fn read_digits(&mut self) -> Result<(), CanonicalError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.syntax_error("a digit")) } else { Ok(()) }
    }

    /// Borrowed from the text, unless it has escapes.
    fn read_string(&mut self) -> Result<Cow<'a, str>, CanonicalError> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = &self.text[self.at..];
            let plain = &rest[..rest.bytes().position(is_escaped).unwrap_or(rest.len())];
            self.at += plain.len();
            text += plain;
            if self.eat(b'"') {
                return Ok(text);
            } else if self.eat(b'\\') {
                let character = match self.peek() {
                    Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
                    Some(b'b') => '\u{8}',
                    Some(b'f') => '\u{c}',
                    Some(b'n') => '\n',
                    Some(b'r') => '\r',
                    Some(b't') => '\t',
                    Some(b'u') => {
                        text.to_mut().push(self.read_unicode_escape()?);
                        continue;
                    }
                    _ => return Err(self.syntax_error("an escape such as \\n or \\u00e9")),
                };
                self.at += 1;
                text.to_mut().push(character);
            } else {
                return Err(self.syntax_error("'\"' or an escaped character"));
            }
        }
    }

    /// `uXXXX`, and its second half when that is only the first of a pair.
    fn read_unicode_escape(&mut self) -> Result<char, CanonicalError> {
        let unit = self.read_utf16_unit()?;
        if let Some(character) = char::from_u32(unit) {
            return Ok(character);
        }
        if unit < 0xdc00 && self.eat(b'\\') && self.peek() == Some(b'u') {
            let second = self.read_utf16_unit()?;
            if (0xdc00..=0xdfff).contains(&second) {
                let pair = 0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(pair).ok_or_else(|| CanonicalError::surrogate(unit));
            }
        }
        Err(CanonicalError::surrogate(unit))
    }

    fn read_utf16_unit(&mut self) -> Result<u32, CanonicalError> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| self.syntax_error("four hexadecimal digits"))?;
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

    fn syntax_error(&self, what: &str) -> CanonicalError {
        let (before, after) = self.text.split_at(self.at);
        let found =
            after.chars().next().map_or("the end of the text".to_owned(), |c| format!("{c:?}"));
        let line = before.split('\n').count();
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        CanonicalError::syntax(&format!(
            "expected {what}, found {found} on line {line}, column {column},"
        ))
    }
}
