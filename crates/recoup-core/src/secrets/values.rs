//! Values that are secret for where they come from, whatever they look like:
//! what the environment keeps under a credential's name.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;

use super::name::{Name, Strength};
use super::placeholder::{self, is_placeholder};
use super::words;

/// What breaks when one of these values is found.
const RULE: &str = "environment-credential";

/// What is shorter is found in any text.
const SHORTEST: usize = 8;

/// Letters alone are found in any text, unless there are so many of them.
const LONG: usize = 16;

/// Values that must not be kept. Never shown.
#[derive(Clone, Default)]
pub struct Values(Vec<Value>);

#[derive(Clone, PartialEq, Eq)]
struct Value {
    bytes: Vec<u8>,
    /// It might be a part of other words: only where it stands alone is it this value.
    is_word: bool,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values", self.0.len())
    }
}

impl Values {
    /// Those of the variables whose names are a credential's.
    pub fn of_credentials<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: AsRef<[u8]>,
        V: Into<Vec<u8>>,
    {
        let named = |name: &[u8]| {
            let strength = Name::read(name, 0..name.len()).map(|name| name.strength);
            strength.is_some_and(|strength| strength != Strength::Generated) && !is_directory(name)
        };
        let credentials = variables.into_iter().filter(|(name, _)| named(name.as_ref()));
        Self(credentials.filter_map(|(_, value)| Value::telling(value.into())).collect())
    }

    /// The same, and as a string of JSON has them.
    #[must_use]
    pub fn in_json(&self) -> Self {
        let escaped = self.0.iter().filter_map(|value| {
            let json = serde_json::to_string(str::from_utf8(&value.bytes).ok()?).ok()?;
            let inner = json.get(1..json.len() - 1)?.as_bytes().to_vec();
            (inner != value.bytes).then_some(Value { bytes: inner, is_word: value.is_word })
        });
        Self(self.0.iter().cloned().chain(escaped).collect())
    }

    /// The rule that `text` breaks by holding one of them.
    pub fn detect(&self, text: &[u8]) -> Option<&'static str> {
        self.0.iter().any(|value| value.places(text).next().is_some()).then_some(RULE)
    }

    /// `text` without them.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mark = [placeholder::REDACTED.as_bytes(), RULE.as_bytes(), b"]"].concat();
        let mark = String::from_utf8_lossy(&mark);
        let values = self.0.iter().filter(|value| str::from_utf8(&value.bytes).is_ok());
        values.fold(Cow::Borrowed(text), |text, value| value.replaced(text, &mark))
    }
}

impl Value {
    /// None for what gives nothing away: what is short, what everybody writes, and paths.
    fn telling(bytes: Vec<u8>) -> Option<Self> {
        let letters = bytes.iter().all(u8::is_ascii_alphabetic);
        let mixed = bytes[1.min(bytes.len())..].iter().any(u8::is_ascii_uppercase)
            && bytes.iter().any(u8::is_ascii_lowercase);
        let common = letters && (is_placeholder(&bytes) || words::has(words::DEFAULTS, &bytes));
        if bytes.len() < SHORTEST || common || is_path(&bytes) {
            return None;
        }
        let is_word = letters && !mixed && bytes.len() < LONG;
        Some(Self { bytes, is_word })
    }

    /// Where it stands in a text.
    fn places<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let found = memmem::find_iter(text, &self.bytes);
        found.filter(|at| !self.is_word || stands_alone(text, *at, self.bytes.len()))
    }

    fn replaced<'a>(&self, text: Cow<'a, str>, mark: &str) -> Cow<'a, str> {
        let places: Vec<usize> = self.places(text.as_bytes()).collect();
        if places.is_empty() {
            return text;
        }
        let (mut clean, mut from) = (String::with_capacity(text.len()), 0);
        for at in places {
            clean.push_str(&text[from..at]);
            clean.push_str(mark);
            from = at + self.bytes.len();
        }
        clean.push_str(&text[from..]);
        Cow::Owned(clean)
    }
}

/// Whether what stands there is no part of a longer word. A flag may be joined with its
/// value: `-pVALUE`.
fn stands_alone(text: &[u8], at: usize, len: usize) -> bool {
    let letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let inside = |at: usize| at.checked_sub(1).is_some_and(letter);
    let after_flag =
        || at >= 2 && text[at - 2] == b'-' && text[at - 1].is_ascii_alphabetic() && !inside(at - 2);
    (!inside(at) || after_flag()) && !letter(at + len)
}

/// Variables of a shell that are called like a password and hold where it is.
fn is_directory(name: &[u8]) -> bool {
    name == b"PWD" || name == b"OLDPWD"
}

/// A file that holds a credential, and not the credential: that may begin with a slash, but
/// then it has what no name of a file has.
fn is_path(value: &[u8]) -> bool {
    let random = |part: &[u8]| {
        let has = |is: fn(&u8) -> bool| part.iter().any(is);
        part.len() >= 10
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
    };
    let looks = value.starts_with(b"/") || value.starts_with(b"~/");
    let coded = value.iter().any(|byte| b"+=".contains(byte));
    looks && !coded && !value.split(|byte| *byte == b'/').any(random)
}
