//! The value behind a credential's name, and whether it is a literal: code
//! passes variables, templates hold places, prose goes on with a sentence.

use std::ops::Range;

use super::boundary::is_word;
use super::expression::{has_digit, in_arguments, is_code, is_last_on_line, is_place, is_type};
use super::name::{Name, Strength};
use super::placeholder;

/// What is longer than this is cut there: found is found.
const LONGEST: usize = 512;

/// What is judged of a value: its beginning tells what it is.
const ENOUGH: usize = 128;

/// What stands between name and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Equals,
    Colon,
    Flag,
    Tag,
    /// `=` behind a type: what is not quoted there is code.
    Typed,
}

/// A value as it stands in the text, without its quotes.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) quote: Option<u8>,
}

impl Value {
    /// The value that begins at `at`: up to its quote, or as far as a word goes.
    pub(super) fn read(text: &[u8], at: usize) -> Option<Self> {
        let rest = text.get(at..text.len().min(at + LONGEST))?;
        let escapes = rest.iter().take_while(|&&byte| byte == b'\\').count().min(7);
        let prefix = escapes + string_prefix(&rest[escapes..]);
        let (start, quote) = match rest.get(prefix) {
            Some(&quote @ (b'"' | b'\'' | b'`')) => (prefix + 1, Some(quote)),
            _ => (0, None),
        };
        let body = &rest[start..];
        let len = match quote {
            Some(quote) => quoted_len(body, quote, escapes),
            None => bare_len(body),
        };
        Some(Self { range: at + start..at + start + len, quote })
    }
}

/// The letter of `b"…"`, `f'…'` and the like.
fn string_prefix(rest: &[u8]) -> usize {
    match rest {
        [b'b' | b'r' | b'f' | b'u' | b'B' | b'L' | b'@' | b'$', b'"' | b'\'', ..] => 1,
        [b'b', b'r', b'"', ..] => 2,
        _ => 0,
    }
}

/// Up to the closing quote with at most as many backslashes as the opening one.
fn quoted_len(body: &[u8], quote: u8, escapes: usize) -> usize {
    let mut slashes = 0;
    for (at, &byte) in body.iter().enumerate() {
        match byte {
            b'\\' => slashes += 1,
            b'\n' => return at,
            _ if byte == quote && slashes <= escapes => return at - slashes,
            _ => slashes = 0,
        }
    }
    body.len()
}

fn bare_len(body: &[u8]) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",;&\"'`<>|\\".contains(byte);
    body.iter().position(ends).unwrap_or(body.len())
}

/// A value in its surroundings.
pub(super) struct Context<'a> {
    pub(super) text: &'a [u8],
    pub(super) name: &'a Name,
    pub(super) link: Link,
}

impl Context<'_> {
    /// Whether `value` is a literal that must not be kept.
    pub(super) fn is_credential(&self, value: &Value) -> bool {
        let literal = &self.text[value.range.clone()];
        let literal = &literal[..literal.len().min(ENOUGH)];
        if literal.len() < 3 || placeholder::is_placeholder(literal) || is_place(literal) {
            return false;
        }
        let label = placeholder::is_label(literal)
            && (literal[0].is_ascii_uppercase()
                || value.quote.is_none() && self.link == Link::Colon);
        if label
            || self.name.is_said_by(literal, value.quote.is_none())
            || self.is_reference(literal)
        {
            return false;
        }
        let plausible = match value.quote {
            // In a shell, a command whose output is the value.
            Some(b'`') if literal.contains(&b' ') => false,
            Some(_) => !is_between_quotes(literal) && !placeholder::is_prose(literal),
            None if self.link == Link::Typed => false,
            None => self.is_bare_literal(value.range.end, literal),
        };
        plausible && (self.name.strength == Strength::Sure || looks_random(literal))
    }

    /// `secret: db-credentials` names an object that holds the secret.
    fn is_reference(&self, literal: &[u8]) -> bool {
        let words = || literal.split(|byte| b"-_.".contains(byte));
        let letters =
            words().all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic));
        let named = self.name.plain.ends_with(b"secret") || words().any(placeholder::is_label);
        letters && named && words().count() > 1
    }

    fn is_bare_literal(&self, end: usize, literal: &[u8]) -> bool {
        let behind = &self.text[end..];
        let number = literal.iter().all(|byte| byte.is_ascii_digit() || b".-+_".contains(byte))
            || literal.starts_with(b"0x") && literal.len() < 20;
        if number {
            return literal.len() >= 4 && self.name.strength == Strength::Sure;
        }
        let typed = self.link == Link::Colon && behind.starts_with(b" =");
        let untagged = self.link == Link::Tag && !behind.starts_with(b"</");
        let code = self.link != Link::Tag && is_code(literal, behind);
        if typed || untagged || code {
            return false;
        }
        if !literal.iter().all(|&byte| is_word(byte) || byte == b'-')
            || has_digit(literal) && !is_type(literal)
        {
            return !placeholder::is_sentence(literal, behind);
        }
        match self.link {
            Link::Equals => self.is_tight() && !in_arguments(behind),
            Link::Colon => self.is_tight_key() && is_last_on_line(behind) && !is_type(literal),
            Link::Tag => true,
            Link::Flag | Link::Typed => false,
        }
    }

    /// `password=word`, as shells, URLs and settings have it; code has blanks.
    fn is_tight(&self) -> bool {
        self.text.get(self.name.range.end) == Some(&b'=')
    }

    /// `password: word`, as YAML has it: nothing before the name but its indent.
    fn is_tight_key(&self) -> bool {
        let before = &self.text[self.name.range.start.saturating_sub(80)..self.name.range.start];
        let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let unusual = line.iter().any(|byte| !b" \t-+".contains(byte));
        !unusual || before.ends_with(b"\\n")
    }
}

/// What was taken for a value stands between two strings: `has("password=") && has("…`.
fn is_between_quotes(literal: &[u8]) -> bool {
    matches!(literal, [b')' | b']' | b'}' | b',' | b';' | b' ' | b'\\', ..])
}

/// At least 16 characters of two kinds, and varied: what generators make.
pub(super) fn looks_random(literal: &[u8]) -> bool {
    let digits = literal.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = literal.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let token = literal.iter().all(|&byte| is_word(byte) || b"-.+/=~:".contains(&byte));
    token && literal.len() >= 16 && digits >= 2 && letters >= 4 && !placeholder::is_dull(literal)
}
