//! Back-off after faults: a pause that grows with each fault in a row; then one process asks, and
//! the others wait for the result.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{FaultSort, JudgeTerms, not_asked};
use crate::base::clock::Timestamp;
use crate::error::Result;

/// Pause after the first fault, and the longest one, in milliseconds.
const FIRST: u64 = 15_000;
const LONGEST: u64 = 3_600_000;

/// Most fingerprints that are remembered: few people use more than one.
const MOST: usize = 8;

/// Faults by the fingerprint of the terms: with others, be it another key alone, a model may be
/// asked at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct BackOff(BTreeMap<String, FaultStreak>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FaultStreak {
    /// Number of faults in a row.
    count: u32,
    /// End of the pause.
    until: Timestamp,
}

impl FaultStreak {
    /// End of the pause, if it lasts. One that is too long comes from another clock.
    fn pausing_until(&self, now: Timestamp) -> Option<Timestamp> {
        let pausing = now < self.until && self.until.millis_since(now) <= LONGEST;
        pausing.then_some(self.until)
    }
}

impl BackOff {
    /// Checks whether a model may be asked now. After a pause one caller is admitted, and the
    /// others wait until it is known how that ended.
    pub(super) fn admit(&mut self, terms: &JudgeTerms, now: Timestamp) -> Result<()> {
        if let Some(until) = self.paused_until(terms, now).filter(|_| !terms.insists) {
            return Err(not_asked(format!(
                "the model is not asked before {}, after a fault (`recoup judge status` tells which, \
                 `recoup judge test` asks at once)",
                until.to_second_string()
            )));
        }
        if let Some(faults) = self.0.get_mut(&terms.fingerprint) {
            let trial = millis(terms.deadline).saturating_add(1_000).min(LONGEST);
            faults.until = now.plus_millis(trial);
        }
        Ok(())
    }

    /// End of the pause for these terms.
    pub(super) fn paused_until(&self, terms: &JudgeTerms, now: Timestamp) -> Option<Timestamp> {
        self.0.get(&terms.fingerprint)?.pausing_until(now)
    }

    /// Records a fault.
    pub(super) fn record_fault(&mut self, sort: FaultSort, terms: &JudgeTerms, now: Timestamp) {
        let before = self.0.get(&terms.fingerprint).map_or(0, |faults| faults.count);
        let pause = match sort {
            FaultSort::Lasting => LONGEST,
            FaultSort::Passing(said) => pause(before, said),
        };
        let faults = FaultStreak { count: before.saturating_add(1), until: now.plus_millis(pause) };
        self.0.insert(terms.fingerprint.clone(), faults);
        while self.0.len() > MOST {
            let oldest = self.0.iter().min_by_key(|(_, faults)| faults.until);
            let Some(oldest) = oldest.map(|(who, _)| who.clone()) else { break };
            self.0.remove(&oldest);
        }
    }

    /// Forgets the faults after an answer.
    pub(super) fn clear(&mut self, terms: &JudgeTerms) {
        self.0.remove(&terms.fingerprint);
    }
}

/// Pause after this many earlier faults. Random, so that processes do not come back at the same
/// moment; a longer time that the server asks for is respected.
fn pause(faults: u32, said: Option<u64>) -> u64 {
    let full = FIRST.saturating_mul(1 << faults.min(16)).min(LONGEST);
    let own = full / 2 + fastrand::u64(0..=full / 2);
    let said = said.map_or(0, |said| said.saturating_add(fastrand::u64(0..=said / 10)));
    own.max(said).min(LONGEST)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Parses a `Retry-After` header, which has seconds or a date, into milliseconds from now.
pub fn retry_after(header: &str, now: Timestamp) -> Option<u64> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let moment = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    Some(Timestamp::from_millis(moment.as_millisecond()).millis_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_with_some_chance_in_them_up_to_an_hour() {
        for (faults, most) in [(0, 15_000), (1, 30_000), (4, 240_000), (8, LONGEST), (99, LONGEST)]
        {
            let pauses: Vec<u64> = (0..200).map(|_| pause(faults, None)).collect();
            assert!(pauses.iter().all(|it| (most / 2..=most).contains(it)), "{faults}: {pauses:?}");
            assert!(pauses.iter().any(|it| *it != pauses[0]), "no chance in {faults}");
        }
    }

    #[test]
    fn what_the_server_says_counts_where_it_is_longer_and_not_beyond_an_hour() {
        for _ in 0..200 {
            assert!((100_000..=110_000).contains(&pause(0, Some(100_000))));
            assert!((7_500..=15_000).contains(&pause(0, Some(10))));
            assert_eq!(pause(0, Some(u64::MAX)), LONGEST);
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::from_millis(784_111_770_000);
        assert_eq!(retry_after("120", now), Some(120_000));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(7_000));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(0));
        for nonsense in ["", "-1", "soon", "1e9", "99999999999999999999"] {
            assert_eq!(retry_after(nonsense, now), None, "{nonsense}");
        }
    }
}
