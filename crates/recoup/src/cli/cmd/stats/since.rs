//! `--since`: a duration back from now, or a date.

use recoup_core::base::clock::{Timestamp, date_to_day};
use recoup_core::cache::Ttl;
use recoup_core::entry::day_number;
use recoup_core::{Error, Result};

const DEFAULT: Ttl = Ttl::days(30);
const DAY: u64 = 86_400_000;

/// Start of the reported period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeriodStart {
    /// So many milliseconds ago.
    Ago(u64),
    /// A day, counted from 1970.
    Day(i64),
    /// The beginning.
    Ever,
}

impl PeriodStart {
    pub(super) fn parse(given: Option<&str>) -> Result<Self> {
        let Some(text) = given else { return Ok(Self::of(DEFAULT)) };
        if let Some(day) = date_to_day(text.trim()) {
            return Ok(Self::Day(day));
        }
        match Ttl::parse_with_unit("--since", text) {
            Ok(Ttl::Off) | Err(_) => Err(Error::usage(format!(
                "invalid --since {text:?}: expected a duration such as 7d, forever, or a date such as 2026-11-01"
            ))),
            Ok(ttl) => Ok(Self::of(ttl)),
        }
    }

    fn of(ttl: Ttl) -> Self {
        ttl.as_millis().map_or(Self::Ever, Self::Ago)
    }

    /// First day to count, as a whole: `7d` are seven days, today included.
    pub(super) fn first_day(self, now: Timestamp) -> i64 {
        match self {
            Self::Day(day) => day,
            Self::Ever => i64::MIN,
            Self::Ago(millis) => {
                let days = i64::try_from(millis.div_ceil(DAY)).unwrap_or(i64::MAX);
                day_number(now).saturating_sub(days.saturating_sub(1))
            }
        }
    }
}
