//! The only place that knows the time.
//!
//! Policy asks a [`Clock`] that is handed in, so that a test can move time by
//! hand; waiting uses a [`Deadline`], which only ever runs forward.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A moment, in whole milliseconds since 1970 (UTC).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Later than any expiry.
    pub const MAX: Self = Self(i64::MAX);

    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This moment and `millis` more, stopping at the end of time.
    #[must_use]
    pub const fn plus_millis(self, millis: u64) -> Self {
        let millis = if millis > i64::MAX as u64 { i64::MAX } else { millis.cast_signed() };
        Self(self.0.saturating_add(millis))
    }

    /// The moment so long before this one.
    #[must_use]
    pub fn before(self, age: Duration) -> Self {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.as_millis().saturating_sub(age))
    }

    /// Milliseconds from `earlier` to this; zero when the clock went backwards.
    pub const fn millis_since(self, earlier: Self) -> u64 {
        let gap = self.0.saturating_sub(earlier.0);
        if gap < 0 { 0 } else { gap.cast_unsigned() }
    }

    /// The day alone, in UTC: `2026-11-15`.
    pub fn date(self) -> String {
        self.to_string().chars().take_while(|c| *c != 'T').collect()
    }

    /// ISO 8601 in UTC, to the second that it falls in: `2026-11-15T22:13:26Z`.
    pub fn to_second_string(self) -> String {
        Self::from_seconds(self.as_seconds()).to_string().replace(".000Z", "Z")
    }

    /// The second that it falls in, counted from 1970.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// From seconds since 1970, stopping at the ends of time.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// From ISO 8601 with an offset, as other programs write it; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let moment: jiff::Timestamp = text.parse().ok()?;
        Some(Self(moment.as_millisecond()))
    }
}

/// The date of a day that is counted from 1970: `2026-11-15`.
pub fn day_to_date(day: i64) -> String {
    Timestamp::from_millis(day.saturating_mul(86_400_000)).date()
}

/// Days since 1970 of a date such as `2026-11-15`; `None` if it is invalid.
pub fn date_to_day(date: &str) -> Option<i64> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(start.as_second().div_euclid(86_400))
}

/// ISO 8601 in UTC, to the millisecond: `2026-11-15T22:13:26.042Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// Tells the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that moves only when told to. Its clones share one time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    /// Advances the time.
    pub fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Measures elapsed time, independent of the wall clock.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// The moment after which waiting ends. Independent of the wall clock.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// `wait` from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    pub fn after(wait: Duration) -> Self {
        Self(Instant::now() + wait)
    }

    /// Time left; zero once the deadline has passed.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// True if the deadline has passed.
    pub fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }
}
