//! The name of a credential (`dbPassword`, `AWS_SECRET_ACCESS_KEY`, `client-secret`), the value behind
//! it, and the decision whether that is a literal: code passes variables, templates have
//! placeholders, prose goes on with a sentence.

use std::ops::Range;

use super::word_form::{self, PasswordLikeness, looks_generated, looks_random};
use super::words::{self, is_word};

/// Longest name; a longer one is something else, or hostile.
const LONGEST_NAME: usize = 64;
/// Two letters occur in any noise, and at the end of other words.
const SHORTEST: &[u8] = b"pw";
/// Longest value; the rest of a longer one is cut.
const LONGEST_VALUE: usize = 512;
/// Bytes of a value that are judged: its beginning tells what it is.
const ENOUGH: usize = 128;

/// Certainty that the value of a name is a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameStrength {
    /// A credential: any literal behind it is one.
    Sure,
    /// `token`: the value must look like a credential itself.
    Maybe,
    /// `pass`: the value must look like a password.
    Chosen,
    /// `SUBSCRIPTION_KEY`: the value must be a generator's.
    Generated,
}

impl NameStrength {
    fn of(plain: &[u8]) -> Option<Self> {
        let sure = words::ends_with_word(words::SURE, plain).then_some(Self::Sure);
        let maybe = || words::ends_with_word(words::MAYBE, plain).then_some(Self::Maybe);
        let chosen = || words::ends_with_word(words::CHOSEN, plain).then_some(Self::Chosen);
        let generated =
            || words::ends_with_word(words::GENERATED, plain).then_some(Self::Generated);
        let strength = sure.or_else(maybe).or_else(chosen).or_else(generated);
        strength.filter(|_| !words::ends_with_word(words::NEVER, plain))
    }
}

/// A name that may belong to a credential.
#[derive(Debug, Clone)]
pub(super) struct CredentialName {
    pub(super) range: Range<usize>,
    pub(super) strength: NameStrength,
    /// In lower case, without separators and trailing digits.
    pub(super) plain: Vec<u8>,
}

impl CredentialName {
    /// The name at `range`, if it ends like one of a credential.
    pub(super) fn read(text: &[u8], range: Range<usize>) -> Option<Self> {
        // `Service::ApiKey` is the name of a type.
        if text[..range.start].ends_with(b"::") {
            return None;
        }
        let mut plain = lowercase_alphanumerics(&text[range.clone()]);
        while plain.last().is_some_and(u8::is_ascii_digit) {
            plain.pop();
        }
        let strength = NameStrength::of(&plain)?;
        if plain.ends_with(SHORTEST) {
            // It must be the last word, and a blank, a quote or a separator stand before the name.
            let last = text[range.clone()].rsplit(|&byte| !byte.is_ascii_alphanumeric()).next()?;
            let letters = last.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let before = range.start.checked_sub(1).map_or(b' ', |at| text[at]);
            if !last[..letters].eq_ignore_ascii_case(SHORTEST)
                || !(before.is_ascii_whitespace() || b"\"'`,;{(&?<>/[#".contains(&before))
            {
                return None;
            }
        }
        Some(Self { range, strength, plain })
    }

    /// True if the value only repeats the name, as in `password: password`; a variable may say more
    /// (`password: new_password`).
    pub(super) fn is_repeated_by(&self, value: &[u8], variable: bool) -> bool {
        let value = lowercase_alphanumerics(value);
        let longer = variable && value.ends_with(&self.plain);
        !value.is_empty() && (longer || self.plain.ends_with(&value))
    }
}

/// Range of the name around `at`.
pub(super) fn name_range(text: &[u8], at: usize) -> Range<usize> {
    let part = |&&byte: &&u8| is_word(byte) || byte == b'-' || byte == b'.';
    let before = text[..at].iter().rev().take(LONGEST_NAME).take_while(part).count();
    let after = text[at..].iter().take(LONGEST_NAME).take_while(part).count();
    // A full stop or dash behind a name is punctuation.
    let end = at + after;
    let tail = text[at..end].iter().rev().take_while(|byte| b"-.".contains(byte)).count();
    at - before..end - tail
}

pub(super) fn lowercase_alphanumerics(name: &[u8]) -> Vec<u8> {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(u8::to_ascii_lowercase).collect()
}

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
        let rest = text.get(at..text.len().min(at + LONGEST_VALUE))?;
        let escapes = rest.iter().take_while(|&&byte| byte == b'\\').count().min(7);
        // The letter of `b"…"`, `f'…'` and the like.
        let prefix = match rest[escapes..] {
            [b'b' | b'r' | b'f' | b'u' | b'B' | b'L' | b'@' | b'$', b'"' | b'\'', ..] => {
                escapes + 1
            }
            [b'b', b'r', b'"', ..] => escapes + 2,
            _ => escapes,
        };
        let (start, quote) = match rest.get(prefix) {
            Some(&quote @ (b'"' | b'\'' | b'`')) => (prefix + 1, Some(quote)),
            _ => (0, None),
        };
        let body = &rest[start..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b",;&\"'`<>|\\".contains(byte);
        let len = match quote {
            // Up to the closing quote with at most as many backslashes as the opening one.
            Some(quote) => {
                let mut slashes = 0;
                body.iter().enumerate().find_map(|(at, &byte)| match byte {
                    b'\n' => Some(at),
                    _ if byte == quote && slashes <= escapes => Some(at - slashes),
                    _ => {
                        slashes = if byte == b'\\' { slashes + 1 } else { 0 };
                        None
                    }
                })
            }
            None => body.iter().position(ends),
        };
        let len = len.unwrap_or(body.len());
        Some(Self { range: at + start..at + start + len, quote })
    }
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
        if literal.len() < 3 || foreign || word_form::is_placeholder(literal) || is_place(literal) {
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
        let label = word_form::is_label(literal)
            && (literal[0].is_ascii_uppercase()
                || value.quote.is_none() && self.link == ValueLink::Colon);
        // `secret: db-credentials` names an object that holds the secret.
        let words = || literal.split(|byte| b"-_.".contains(byte));
        let letters =
            words().all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic));
        let named = || self.name.plain.ends_with(b"secret") || words().any(word_form::is_label);
        if label
            || self.name.is_repeated_by(literal, value.quote.is_none())
            || letters && words().count() > 1 && named()
        {
            return false;
        }
        let plausible = match value.quote {
            // In a shell, a command whose output is the value.
            Some(b'`') if literal.contains(&b' ') => false,
            // It stands between two strings: `has("password=") && has("…`.
            Some(_) if b")]},; \\".contains(&literal[0]) => false,
            Some(_) => !word_form::is_prose(literal),
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
            return !typed && !word_form::is_sentence(literal, behind);
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

/// True for paths, addresses and places in a vault: the place of a secret, not the secret.
pub(super) fn is_place(literal: &[u8]) -> bool {
    let path = literal.starts_with(b"/")
        && literal.iter().all(|&byte| is_word(byte) || b"/.-".contains(&byte));
    // `"auth-token": "^6.0.0"`: the version of a package.
    let version = literal.contains(&b'.')
        && literal.iter().all(|byte| byte.is_ascii_digit() || b"^~>=<.* |v".contains(byte));
    version
        || words::starts_with_word(words::PLACES, literal)
        || words::ends_with_word(words::FILES, literal)
        || path && !literal.split(|&byte| byte == b'/').any(looks_random)
}

/// True for calls, members, generics and references, which only code has.
pub(super) fn is_code(literal: &[u8], behind: &[u8]) -> bool {
    let starts = literal.first().is_some_and(|byte| b"([{&*$<@!#%:=|/^~".contains(byte));
    let identifier = literal.iter().take_while(|&&byte| is_word(byte)).count();
    let path = literal.iter().take_while(|&&byte| is_word(byte) || byte == b'.').count();
    let call = literal[0].is_ascii_alphabetic() && literal.get(path) == Some(&b'(');
    let next = literal.get(identifier).or(behind.first());
    let after = match next {
        Some(b'(' | b'[' | b'<' | b'{' | b'?') => identifier > 0,
        Some(b'.') => {
            literal
                .get(identifier + 1)
                .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                && !has_digit(&literal[..identifier])
        }
        Some(b':') => literal[identifier..].starts_with(b"::"),
        Some(b'-') => literal[identifier..].starts_with(b"->"),
        Some(b'!') => matches!(literal.get(identifier + 1), Some(b'(' | b'[' | b'{')),
        Some(b')' | b']' | b'}') => !has_digit(&literal[..identifier]),
        _ => false,
    };
    starts || call || after
}

/// `f(password=word, …)`: strings are quoted there, so it is a variable.
pub(super) fn in_arguments(behind: &[u8]) -> bool {
    matches!(behind, [b',' | b')', ..])
}

pub(super) fn is_last_on_line(behind: &[u8]) -> bool {
    matches!(behind, [] | [b'\n' | b'\r' | b'"', ..] | [b'\\', b'n', ..] | [b' ', b'#', ..])
}

/// `String`, `SecretStr`, `u8`, `int64`, `varchar`.
pub(super) fn is_type(literal: &[u8]) -> bool {
    let name = literal.trim_ascii_start();
    // `String!)`, as a query language has it.
    let name = name.trim_ascii_end();
    let end = name.iter().rposition(|byte| !b"!)]".contains(byte)).map_or(0, |at| at + 1);
    let name = &name[..end];
    let name = &name[name.iter().take_while(|&&byte| byte == b'_').count()..];
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let sized =
        matches!(&name[..letters], b"u" | b"i" | b"f" | b"int" | b"uint" | b"float" | b"bytes")
            && matches!(&name[letters..], b"8" | b"16" | b"32" | b"64" | b"128");
    let upper = name.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let camel = name.first().is_some_and(u8::is_ascii_uppercase) && upper < name.len();
    sized || camel && !has_digit(name)
}

pub(super) fn has_digit(literal: &[u8]) -> bool {
    literal.iter().any(u8::is_ascii_digit)
}
