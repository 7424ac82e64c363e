//! Values that are secret by their origin, whatever they look like: those of environment variables
//! with a credential's name.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;

use super::value::{CredentialName, NameStrength};
use super::word_form::{self, is_placeholder};
use super::words;

/// Name of the rule for these values.
const RULE: &str = "environment-credential";

/// Shortest value: shorter ones occur in any text.
const SHORTEST: usize = 8;

/// Length from which letters alone count: fewer occur in any text.
const LONG: usize = 16;

/// Values that must not be kept. Never shown.
#[derive(Clone, Default)]
pub struct SecretValues(Vec<SecretValue>);

#[derive(Clone, PartialEq, Eq)]
struct SecretValue {
    bytes: Vec<u8>,
    /// True if it may be part of other words: then it counts only on its own.
    is_word: bool,
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values", self.0.len())
    }
}

impl SecretValues {
    /// The values of the variables that have a credential's name.
    pub fn of_credentials<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: AsRef<[u8]>,
        V: Into<Vec<u8>>,
    {
        let named = |name: &[u8]| {
            let strength = CredentialName::read(name, 0..name.len()).map(|name| name.strength);
            strength.is_some_and(|strength| strength != NameStrength::Generated)
                // Named like a password, but a directory.
                && name != b"PWD"
                && name != b"OLDPWD"
        };
        let credentials = variables.into_iter().filter(|(name, _)| named(name.as_ref()));
        Self(
            credentials
                .filter_map(|(_, value)| SecretValue::if_distinctive(value.into()))
                .collect(),
        )
    }

    /// These values, if they give something away, whatever their names are.
    pub fn of_values<V: Into<Vec<u8>>>(values: impl IntoIterator<Item = V>) -> Self {
        let distinctive = |value: V| SecretValue::if_distinctive(value.into());
        Self(values.into_iter().filter_map(distinctive).collect())
    }

    /// Both lists of values.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Adds the values as a string of JSON has them.
    #[must_use]
    pub fn in_json(&self) -> Self {
        let escaped = self.0.iter().filter_map(|value| {
            let json = serde_json::to_string(str::from_utf8(&value.bytes).ok()?).ok()?;
            let inner = json.get(1..json.len() - 1)?.as_bytes().to_vec();
            (inner != value.bytes).then_some(SecretValue { bytes: inner, is_word: value.is_word })
        });
        Self(self.0.iter().cloned().chain(escaped).collect())
    }

    /// Name of the rule that `text` breaks by holding one of the values.
    pub fn detect(&self, text: &[u8]) -> Option<&'static str> {
        self.0.iter().any(|value| value.positions(text).next().is_some()).then_some(RULE)
    }

    /// Returns `text` without the values.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mark = [word_form::REDACTED.as_bytes(), RULE.as_bytes(), b"]"].concat();
        let mark = String::from_utf8_lossy(&mark);
        let mut text = Cow::Borrowed(text);
        for value in self.0.iter().filter(|value| str::from_utf8(&value.bytes).is_ok()) {
            let places: Vec<usize> = value.positions(text.as_bytes()).collect();
            if places.is_empty() {
                continue;
            }
            let (mut clean, mut from) = (String::with_capacity(text.len()), 0);
            for at in places {
                clean.push_str(&text[from..at]);
                clean.push_str(&mark);
                from = at + value.bytes.len();
            }
            clean.push_str(&text[from..]);
            text = Cow::Owned(clean);
        }
        text
    }
}

impl SecretValue {
    /// `None` for what gives nothing away: short or common values, and paths.
    fn if_distinctive(bytes: Vec<u8>) -> Option<Self> {
        let letters = bytes.iter().all(u8::is_ascii_alphabetic);
        let mixed = bytes[1.min(bytes.len())..].iter().any(u8::is_ascii_uppercase)
            && bytes.iter().any(u8::is_ascii_lowercase);
        let common =
            letters && (is_placeholder(&bytes) || words::contains_word(words::DEFAULTS, &bytes));
        // The path of a file that holds a credential. A credential may begin with a slash too, but
        // has parts that no file name has.
        let random = |part: &[u8]| {
            let has = |is: fn(&u8) -> bool| part.iter().any(is);
            part.len() >= 10
                && has(u8::is_ascii_digit)
                && has(u8::is_ascii_uppercase)
                && has(u8::is_ascii_lowercase)
        };
        let is_path = (bytes.starts_with(b"/") || bytes.starts_with(b"~/"))
            && !bytes.iter().any(|byte| b"+=".contains(byte))
            && !bytes.split(|byte| *byte == b'/').any(random);
        if bytes.len() < SHORTEST || common || is_path {
            return None;
        }
        let is_word = letters && !mixed && bytes.len() < LONG;
        Some(Self { bytes, is_word })
    }

    /// Positions of the value in a text.
    fn positions<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let found = memmem::find_iter(text, &self.bytes);
        // Not part of a longer word. A flag may be joined with its value: `-pVALUE`.
        let letter = move |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
        let inside = move |at: usize| at.checked_sub(1).is_some_and(letter);
        let after_flag = move |at: usize| {
            at >= 2 && text[at - 2] == b'-' && text[at - 1].is_ascii_alphabetic() && !inside(at - 2)
        };
        found.filter(move |&at| {
            !self.is_word || (!inside(at) || after_flag(at)) && !letter(at + self.bytes.len())
        })
    }
}
