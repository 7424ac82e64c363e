//! Time to live of cached responses: the one parser, for flags, front matter and configuration.
//!
//! Nothing is guessed and nothing is rounded: decimals are worked out digit by
//! digit, cut to whole milliseconds, and what is not in the grammar is an error
//! that names the place it came from.

use std::fmt;
use std::num::NonZeroU64;

use serde_json::Value;

use crate::base::text::shorten_text;
use crate::error::{Error, Result};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The units that are always exact, largest first.
const UNITS: [(&str, u64); 6] =
    [("w", 7 * DAY), ("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("ms", 1)];

/// Parsed but never printed, as no month or year is just that long.
const NOMINAL_UNITS: [(&str, u64); 2] = [("mo", 30 * DAY), ("y", 365 * DAY)];

/// Maximum in milliseconds: a timestamp is an `i64` of them.
const MAX_MILLIS: u64 = i64::MAX.cast_unsigned();

/// Most characters of a value that an error repeats.
const MAX_SHOWN: usize = 80;

/// Time to live of a cached response. Ordered from the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ttl {
    /// Not cached.
    Off,
    /// For this long.
    For(TtlMillis),
    /// Until it is evicted or dropped.
    Forever,
}

/// Duration of 1 to [`i64::MAX`] milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TtlMillis(NonZeroU64);

impl TtlMillis {
    /// `None` for 0, and beyond [`i64::MAX`].
    pub const fn new(millis: u64) -> Option<Self> {
        match NonZeroU64::new(millis) {
            Some(some) if millis <= MAX_MILLIS => Some(Self(some)),
            _ => None,
        }
    }

    /// The number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl Ttl {
    /// This many seconds; none of them is [`Ttl::Off`].
    pub const fn seconds(count: u32) -> Self {
        Self::times(count, SECOND)
    }

    /// This many hours; none of them is [`Ttl::Off`].
    pub const fn hours(count: u32) -> Self {
        Self::times(count, HOUR)
    }

    /// This many days; none of them is [`Ttl::Off`].
    pub const fn days(count: u32) -> Self {
        Self::times(count, DAY)
    }

    const fn times(count: u32, unit: u64) -> Self {
        Self::from_millis(count as u64 * unit).expect("a u32 of days is far below the maximum")
    }

    /// This many milliseconds, 0 being [`Ttl::Off`]; `None` beyond [`i64::MAX`].
    pub const fn from_millis(millis: u64) -> Option<Self> {
        match TtlMillis::new(millis) {
            Some(millis) => Some(Self::For(millis)),
            None if millis == 0 => Some(Self::Off),
            None => None,
        }
    }

    /// Milliseconds: 0 for [`Ttl::Off`], `None` for [`Ttl::Forever`].
    pub const fn as_millis(self) -> Option<u64> {
        match self {
            Self::Off => Some(0),
            Self::For(millis) => Some(millis.get()),
            Self::Forever => None,
        }
    }

    /// Reads `off`, `forever`, a number of milliseconds, or numbers with units
    /// (`ms s m h d w mo y`, the larger before the smaller: `1h30m`). `place` names where the
    /// text was given, for the error. For other programs' files; what people type is read by
    /// [`Ttl::parse_with_unit`].
    ///
    /// ```
    /// use recoup_core::base::ttl::Ttl;
    ///
    /// assert_eq!(Ttl::parse("cache.ttl", "1.5d")?, Ttl::hours(36));
    /// assert_eq!(Ttl::parse("cache.ttl", "60000")?, Ttl::seconds(60));
    /// # Ok::<(), recoup_core::Error>(())
    /// ```
    pub fn parse(place: &str, text: &str) -> Result<Self> {
        Self::parse_optional(text)
            .ok_or_else(|| invalid_ttl_error(place, &Value::from(text).to_string()))
    }

    /// Like [`Ttl::parse`], without bare numbers other than 0: `30` may mean seconds or minutes,
    /// and hardly ever milliseconds.
    ///
    /// ```
    /// use recoup_core::base::ttl::Ttl;
    ///
    /// assert_eq!(Ttl::parse_with_unit("--ttl", "1h30m")?, Ttl::seconds(5400));
    /// assert!(Ttl::parse_with_unit("--ttl", "30").is_err());
    /// # Ok::<(), recoup_core::Error>(())
    /// ```
    pub fn parse_with_unit(place: &str, text: &str) -> Result<Self> {
        let word = text.trim();
        if is_bare_number(word) {
            let is_zero = word.bytes().all(|byte| matches!(byte, b'0' | b'.'));
            return if is_zero { Ok(Self::Off) } else { Err(missing_unit_error(place, word)) };
        }
        Self::parse_optional(text).ok_or_else(|| {
            let given = Value::from(text).to_string();
            Error::usage(format!(
                "{place}: expected off, forever or a duration such as 30s, 12h or 1h30m (got {})",
                shorten_text(&given, MAX_SHOWN)
            ))
        })
    }

    fn parse_optional(text: &str) -> Option<Self> {
        let word = text.trim();
        if word.eq_ignore_ascii_case("off") {
            return Some(Self::Off);
        }
        if word.eq_ignore_ascii_case("forever") {
            return Some(Self::Forever);
        }
        // `\d+(\.\d+)?` and a unit or none, in milliseconds; or several with units, each smaller
        // than the one before.
        let (mut sum, mut rest, mut above) = (0_u64, word, u64::MAX);
        loop {
            let (whole, fraction, behind) = split_number(rest)?;
            let unit = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, next) = behind.split_at(unit);
            // A number without a unit stands alone.
            let size = if unit.is_empty() {
                (rest.len() == word.len()).then_some(1)
            } else {
                let mut known = UNITS.into_iter().chain(NOMINAL_UNITS);
                known.find(|(name, _)| unit.eq_ignore_ascii_case(name)).map(|(_, size)| size)
            };
            let size = size.filter(|size| *size < above)?;
            let whole = whole.bytes().try_fold(0_u64, |sum, digit| {
                sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
            })?;
            // Exact for any number of digits: from the last one up, what each division cuts off
            // could never carry into the next.
            let fraction = fraction
                .bytes()
                .rev()
                .fold(0, |below, digit| (u64::from(digit - b'0') * size + below) / 10);
            sum = sum.checked_add(whole.checked_mul(size)?.checked_add(fraction)?)?;
            if next.is_empty() {
                return Self::from_millis(sum);
            }
            (rest, above) = (next, size);
        }
    }

    /// A number of milliseconds, cut to whole ones.
    pub fn from_number(place: &str, millis: f64) -> Result<Self> {
        truncate_millis(millis)
            .and_then(Self::from_millis)
            .ok_or_else(|| invalid_ttl_error(place, ryu_js::Buffer::new().format(millis)))
    }

    /// A string as [`Ttl::parse`] reads it, or a number of milliseconds.
    pub fn from_json(place: &str, value: &Value) -> Result<Self> {
        let ttl = match value {
            Value::String(text) => return Self::parse(place, text),
            Value::Number(number) => match number.as_u64() {
                Some(millis) => Self::from_millis(millis),
                None => number.as_f64().and_then(truncate_millis).and_then(Self::from_millis),
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        ttl.ok_or_else(|| invalid_ttl_error(place, &value.to_string()))
    }

    /// A string as [`Ttl::parse_with_unit`] reads it, or the number 0.
    pub fn from_json_with_unit(place: &str, value: &Value) -> Result<Self> {
        match value {
            Value::String(text) => Self::parse_with_unit(place, text),
            Value::Number(number) if number.as_f64() == Some(0.0) => Ok(Self::Off),
            Value::Number(number) if is_bare_number(&number.to_string()) => {
                Err(missing_unit_error(place, &number.to_string()))
            }
            // Never a duration; the words of the error are the same.
            _ => Self::parse_with_unit(place, &value.to_string()),
        }
    }
}

/// The shortest exact form, which parses back to the same value: `off`, `30d`, `1500ms`.
impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = match self {
            Self::Off => return f.write_str("off"),
            Self::Forever => return f.write_str("forever"),
            Self::For(millis) => millis.get(),
        };
        let exact = UNITS.into_iter().find(|(_, size)| millis.is_multiple_of(*size));
        let (name, size) = exact.expect("a whole number of milliseconds divides by one");
        write!(f, "{}{name}", millis / size)
    }
}

/// Digits, digits behind a point if there is one, and what follows.
fn split_number(text: &str) -> Option<(&str, &str, &str)> {
    let (whole, rest) = split_digits(text)?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest)?,
        None => ("", rest),
    };
    Some((whole, fraction, rest))
}

/// True for a number and nothing behind it.
fn is_bare_number(text: &str) -> bool {
    split_number(text).is_some_and(|(_, _, rest)| rest.is_empty())
}

/// The leading ASCII digits, at least one, and what follows them.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| text.split_at(end))
}

fn truncate_millis(millis: f64) -> Option<u64> {
    // 2^63, which unlike `i64::MAX` is a float.
    let too_many = 9_223_372_036_854_775_808.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range, and cutting is what is asked for"
    )]
    (0.0..too_many).contains(&millis).then_some(millis as u64)
}

fn missing_unit_error(place: &str, number: &str) -> Error {
    let number = shorten_text(number, MAX_SHOWN);
    Error::usage(format!(
        "{place}: {number} has no unit: write {number}s for seconds, {number}m for minutes or \
         {number}ms for milliseconds"
    ))
}

/// `given` is JSON, or as near to it as the value comes.
fn invalid_ttl_error(place: &str, given: &str) -> Error {
    let given = shorten_text(given, MAX_SHOWN);
    Error::usage(format!(
        "{place}: cache duration must be 'off', 'forever', a number of milliseconds or a \
         duration such as 5m, 2h or 1d (got {given})"
    ))
}
