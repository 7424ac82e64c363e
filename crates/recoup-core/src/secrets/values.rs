//! Values that are secret for where they come from, whatever they look like:
//! what the environment keeps under a credential's name.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;

use super::name::Name;
use super::placeholder;

/// What breaks when one of these values is found.
const RULE: &str = "environment-credential";

/// What is shorter is found in any text.
const SHORTEST: usize = 8;

/// Values that must not be kept. Never shown.
#[derive(Clone, Default)]
pub struct Values(Vec<Vec<u8>>);

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
        let named = |name: &[u8]| Name::read(name, 0..name.len()).is_some();
        let credentials = variables.into_iter().filter(|(name, _)| named(name.as_ref()));
        let values = credentials.map(|(_, value)| value.into());
        Self(values.filter(|value| is_telling(value)).collect())
    }

    /// The same, and as a string of JSON has them.
    #[must_use]
    pub fn in_json(&self) -> Self {
        let escaped = self.0.iter().filter_map(|value| {
            let json = serde_json::to_string(str::from_utf8(value).ok()?).ok()?;
            let inner = json.get(1..json.len() - 1)?.as_bytes().to_vec();
            (inner != *value).then_some(inner)
        });
        Self(self.0.iter().cloned().chain(escaped).collect())
    }

    /// The rule that `text` breaks by holding one of them.
    pub fn detect(&self, text: &[u8]) -> Option<&'static str> {
        let held = |value: &Vec<u8>| memmem::find(text, value).is_some();
        self.0.iter().any(held).then_some(RULE)
    }

    /// `text` without them.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mark = [placeholder::MARK, RULE.as_bytes(), b"]"].concat();
        let mark = String::from_utf8_lossy(&mark);
        let values = self.0.iter().filter_map(|value| str::from_utf8(value).ok());
        values.fold(Cow::Borrowed(text), |text, value| {
            if text.contains(value) { Cow::Owned(text.replace(value, &mark)) } else { text }
        })
    }
}

/// Whether a text that holds it gives it away: words and paths stand in many.
fn is_telling(value: &[u8]) -> bool {
    value.len() >= SHORTEST
        && !value.iter().all(u8::is_ascii_alphabetic)
        && !value.starts_with(b"/")
        && !value.starts_with(b"~")
}
