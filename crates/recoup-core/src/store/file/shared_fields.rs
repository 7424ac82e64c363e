//! The fields that every program of the format reads: the value and its expiry.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{self, Deserializer, Error as _, Unexpected, Visitor};

use crate::base::clock::Timestamp;

/// Rounded up, so that nothing expires too early. At least 1, because 0 means never.
pub(super) fn whole_seconds(at: Timestamp) -> i64 {
    let millis = at.as_millis();
    (millis.div_euclid(1_000) + i64::from(millis.rem_euclid(1_000) > 0)).max(1)
}

/// The fields that every program reads.
#[derive(Debug, Deserialize)]
pub(super) struct SharedFields<'a> {
    #[serde(borrow)]
    pub(super) value: Cow<'a, str>,
    #[serde(deserialize_with = "moment")]
    expires_at: Timestamp,
    #[serde(default)]
    expires_at_ms: Option<i64>,
}

impl<'a> SharedFields<'a> {
    /// `None` if the file is not in the format.
    pub(super) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    pub(super) fn expires(&self) -> Option<Timestamp> {
        expiry(self.expires_at, self.expires_at_ms)
    }
}

/// The exact expiry counts only if it agrees with `expires_at`: another program may have changed
/// that one alone.
pub(super) fn expiry(at: Timestamp, exact: Option<i64>) -> Option<Timestamp> {
    if at == Timestamp::default() {
        return None;
    }
    let exact = exact.map(Timestamp::from_millis);
    let agrees = |exact: &Timestamp| at.as_millis() / 1_000 == whole_seconds(*exact);
    Some(exact.filter(agrees).unwrap_or(at))
}

/// Seconds since 1970, with a fraction in some programs' files.
pub(super) fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    struct SecondsVisitor;
    impl Visitor<'_> for SecondsVisitor {
        type Value = Timestamp;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("seconds since 1970")
        }

        fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timestamp, E> {
            Ok(Timestamp::from_millis(seconds.saturating_mul(1_000)))
        }

        fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Timestamp, E> {
            self.visit_i64(i64::try_from(seconds).unwrap_or(i64::MAX))
        }

        #[expect(clippy::cast_possible_truncation, reason = "it stops at the ends of time")]
        fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Timestamp, E> {
            Ok(Timestamp::from_millis((seconds * 1_000.0).ceil() as i64))
        }
    }
    deserializer.deserialize_any(SecondsVisitor)
}

/// A number as a string of fixed width (`tail.rs` says why).
pub(super) fn digits<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr,
{
    let text = <&str>::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(text), &"a number"))
}
