//! Names of credentials: `dbPassword`, `AWS_SECRET_ACCESS_KEY`, `client-secret`. The end of a name
//! tells what it holds: `password_reset` is no password, and `secret_scanning` no secret.

use std::ops::Range;

use super::boundary::is_word;
use super::words;

/// Longest name; a longer one is something else, or hostile.
const LONGEST: usize = 64;

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
        let plain = normalize_name(&text[range.clone()]);
        let strength = NameStrength::of(&plain)?;
        if plain.ends_with(SHORTEST) && !stands_alone(text, &range) {
            return None;
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

/// Two letters occur in any noise, and at the end of other words.
const SHORTEST: &[u8] = b"pw";

/// True if the last word of a name is [`SHORTEST`], and a blank, a quote or a separator stands
/// before the name.
fn stands_alone(text: &[u8], name: &Range<usize>) -> bool {
    let last = text[name.clone()].rsplit(|&byte| !byte.is_ascii_alphanumeric()).next();
    let is_last = last.is_some_and(|word| {
        let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        word[..letters].eq_ignore_ascii_case(SHORTEST)
    });
    let before = name.start.checked_sub(1).map_or(b' ', |at| text[at]);
    is_last && (before.is_ascii_whitespace() || b"\"'`,;{(&?<>/[#".contains(&before))
}

/// Range of the name around `at`.
pub(super) fn name_range(text: &[u8], at: usize) -> Range<usize> {
    let part = |&&byte: &&u8| is_word(byte) || byte == b'-' || byte == b'.';
    let before = text[..at].iter().rev().take(LONGEST).take_while(part).count();
    let after = text[at..].iter().take(LONGEST).take_while(part).count();
    // A full stop or dash behind a name is punctuation.
    let end = at + after;
    let tail = text[at..end].iter().rev().take_while(|byte| b"-.".contains(byte)).count();
    at - before..end - tail
}

fn normalize_name(name: &[u8]) -> Vec<u8> {
    let mut plain = lowercase_alphanumerics(name);
    while plain.last().is_some_and(u8::is_ascii_digit) {
        plain.pop();
    }
    plain
}

fn lowercase_alphanumerics(name: &[u8]) -> Vec<u8> {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(u8::to_ascii_lowercase).collect()
}
