//! The value behind a credential's name, and the decision whether it is a literal: code passes
//! variables, templates have placeholders, prose goes on with a sentence.

use std::ops::Range;

use super::boundary::is_word;
use super::expression::{has_digit, in_arguments, is_code, is_last_on_line, is_place, is_type};
use super::name::{CredentialName, NameStrength};
use super::placeholder;
use super::word_form::{self, PasswordLikeness, looks_generated, looks_random};

/// Longest value; the rest of a longer one is cut.
const LONGEST: usize = 512;

/// Bytes of a value that are judged: its beginning tells what it is.
const ENOUGH: usize = 128;

/// Connection between name and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueLink {
    Equals,
    Colon,
    Flag,
    Tag,
    /// `=` behind a type: an unquoted value is code there.
    Typed,
    /// The value of a pair that has the name in its other half.
    Pair,
    /// An argument of the same call, or of one on the name: `password.equals("…")`.
    Call,
}

/// A value in the text, without its quotes.
#[derive(Debug, Clone)]
pub(super) struct ValueSpan {
    pub(super) range: Range<usize>,
    pub(super) quote: Option<u8>,
}

impl ValueSpan {
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

/// Length up to the closing quote with at most as many backslashes as the opening one.
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

/// A value in its context.
pub(super) struct CredentialContext<'a> {
    pub(super) text: &'a [u8],
    pub(super) name: &'a CredentialName,
    pub(super) link: ValueLink,
}

impl CredentialContext<'_> {
    /// True if `value` is a literal that must not be kept.
    pub(super) fn is_credential(&self, value: &ValueSpan) -> bool {
        let literal = &self.text[value.range.clone()];
        let literal = &literal[..literal.len().min(ENOUGH)];
        // A label of a form, in a script that no password is typed in.
        let foreign = !literal.iter().any(u8::is_ascii_alphanumeric);
        if literal.len() < 3 || foreign || placeholder::is_placeholder(literal) || is_place(literal)
        {
            return false;
        }
        // `docker build --secret id=npm,src=.npmrc` names the place of the secret.
        let mounted = self.name.plain == b"secret"
            && self.text[self.name.range.clone()].starts_with(b"--")
            && [b"id=".as_slice(), b"type=", b"src=", b"source="]
                .iter()
                .any(|option| literal.starts_with(option));
        if mounted {
            return false;
        }
        let label = placeholder::is_label(literal)
            && (literal[0].is_ascii_uppercase()
                || value.quote.is_none() && self.link == ValueLink::Colon);
        if label
            || self.name.is_repeated_by(literal, value.quote.is_none())
            || self.is_reference(literal)
        {
            return false;
        }
        let plausible = match value.quote {
            // In a shell, a command whose output is the value.
            Some(b'`') if literal.contains(&b' ') => false,
            Some(_) => !is_between_quotes(literal) && !placeholder::is_prose(literal),
            None if matches!(self.link, ValueLink::Typed | ValueLink::Call) => false,
            None => self.is_bare_literal(value.range.end, literal),
        };
        plausible && self.is_strong_enough(literal)
    }

    /// True if the value looks as its name demands.
    fn is_strong_enough(&self, literal: &[u8]) -> bool {
        if self.link == ValueLink::Call {
            let generated = looks_generated(literal);
            let chosen = match (self.name.strength, word_form::rate_password(literal)) {
                (NameStrength::Generated, _) | (_, PasswordLikeness::No) => false,
                (NameStrength::Sure, PasswordLikeness::Perhaps) => {
                    literal.len() >= 6 && !word_form::is_identifier(literal)
                }
                (_, chosen) => chosen == PasswordLikeness::Clearly,
            };
            return generated || chosen;
        }
        match self.name.strength {
            NameStrength::Sure => true,
            NameStrength::Maybe => looks_random(literal),
            NameStrength::Chosen => {
                let number = literal.len() >= 8 && literal.iter().all(u8::is_ascii_digit);
                word_form::rate_password(literal) > PasswordLikeness::No
                    || looks_random(literal)
                    || number
            }
            // `deploy --key=V`
            NameStrength::Generated
                if self.link == ValueLink::Equals
                    && self.name.plain == b"key"
                    && self.text[self.name.range.clone()].starts_with(b"--") =>
            {
                let chosen =
                    literal.len() >= 8 && word_form::rate_password(literal) > PasswordLikeness::No;
                (chosen || looks_random(literal)) && !word_form::is_identifier(literal)
            }
            NameStrength::Generated => {
                let long =
                    literal.len() >= 32 && !literal.contains(&b'-') && self.name.plain.len() > 4;
                looks_generated(literal) && literal.len() >= 20
                    || long && word_form::is_hex(literal) && looks_random(literal)
            }
        }
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
            let least = if self.name.strength == NameStrength::Sure { 4 } else { 8 };
            return literal.len() >= least && !literal.starts_with(b"0x");
        }
        let typed = self.link == ValueLink::Colon && behind.starts_with(b" =");
        let untagged = self.link == ValueLink::Tag && !behind.starts_with(b"</");
        // `ninth.Cl0udberry` in settings is no member of anything.
        let settings = self.link == ValueLink::Equals && self.is_tight_assignment()
            || self.link == ValueLink::Colon && self.is_tight_key() && is_last_on_line(behind);
        let dotted = settings
            && literal.iter().all(|&byte| is_word(byte) || byte == b'.' || byte == b'-')
            && (has_digit(literal) || self.is_option(behind));
        let code = self.link != ValueLink::Tag && !dotted && is_code(literal, behind);
        if typed || untagged || code {
            return false;
        }
        if !literal.iter().all(|&byte| is_word(byte) || byte == b'-')
            || has_digit(literal) && !is_type(literal)
        {
            let typed = self.link == ValueLink::Colon && is_type(literal);
            return !typed && !placeholder::is_sentence(literal, behind);
        }
        match self.link {
            ValueLink::Equals => {
                self.is_tight_assignment() && (self.is_option(behind) || !in_arguments(behind))
            }
            ValueLink::Colon => self.is_tight_key() && is_last_on_line(behind) && !is_type(literal),
            ValueLink::Pair => is_last_on_line(behind) && !is_type(literal),
            ValueLink::Tag => true,
            ValueLink::Flag | ValueLink::Typed | ValueLink::Call => false,
        }
    }

    /// `password=word`, as shells, URLs and settings have it; code has blanks.
    fn is_tight_assignment(&self) -> bool {
        self.text.get(self.name.range.end) == Some(&b'=')
            || self.text[self.name.range.clone()].starts_with(b"--")
    }

    /// `user=ada,password=word,uid=1`: options without blanks between them.
    fn is_option(&self, behind: &[u8]) -> bool {
        let before = self.name.range.start.checked_sub(1).map(|at| self.text[at]);
        before == Some(b',') && matches!(behind, [b',', next, ..] if *next != b' ')
    }

    /// `password: word`, as YAML has it: nothing before the name but its indent.
    fn is_tight_key(&self) -> bool {
        let before = &self.text[self.name.range.start.saturating_sub(80)..self.name.range.start];
        let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let unusual = line.iter().any(|byte| !b" \t-+".contains(byte));
        !unusual || before.ends_with(b"\\n")
    }
}

/// True if the supposed value stands between two strings: `has("password=") && has("…`.
fn is_between_quotes(literal: &[u8]) -> bool {
    matches!(literal, [b')' | b']' | b'}' | b',' | b';' | b' ' | b'\\', ..])
}
