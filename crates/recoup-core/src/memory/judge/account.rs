//! Accounting of model calls, for all processes of a machine: tokens per day, and a pause after
//! faults. One small file that is changed under a lock.
//!
//! Tokens are taken before a question is sent, as many as it can cost, and settled when it has been
//! answered. If the process dies in between they are spent. The pause grows with each fault in a row;
//! then one process asks, and the others wait for the result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::clock::{Clock, Deadline, Timestamp, day_to_date};
use crate::base::fsx::{self, FileLock};
use crate::base::text::shorten_text;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;

/// How long to wait for other processes to change the file, which takes them a millisecond.
const WAIT: Duration = Duration::from_secs(2);
const MAX_LEN: u64 = 16 << 10;
/// Most of an error's text that is kept.
const MAX_WORDS: usize = 300;

/// Limits for a question, and the model that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeTerms {
    /// Tokens for each day (UTC).
    pub daily_tokens: u64,
    /// Identifies the model, its address and the key: another one has not refused us yet.
    pub fingerprint: String,
    /// Time limit of one question.
    pub deadline: Duration,
    /// True if a person asks, who knows of the pause and wants to see whether it is needed.
    pub insists: bool,
}

/// Failure of a question.
#[derive(Debug)]
pub struct JudgeFault {
    /// Consequence for later questions.
    pub sort: FaultSort,
    /// The error.
    pub error: Error,
    /// True if it may have cost something all the same.
    pub may_have_cost: bool,
}

/// Consequence of a fault for later questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultSort {
    /// May be over soon, after this many milliseconds if the server says so.
    Passing(Option<u64>),
    /// Lasts until somebody changes something: the key, the model, the address.
    Lasting,
}

/// Account of a machine, in a file that all processes share.
#[derive(Debug)]
pub struct JudgeAccount {
    file: PathBuf,
    clock: Arc<dyn Clock>,
}

/// State of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatus {
    /// The day that is counted, in UTC: `2026-11-15`.
    pub day: String,
    /// Tokens of that day.
    pub tokens: u64,
    /// Questions of that day.
    pub questions: u64,
    /// End of the pause.
    pub paused_until: Option<Timestamp>,
    /// Time and text of the last failure.
    pub last_failure: Option<(Timestamp, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct AccountState {
    budget: DailyBudget,
    /// Faults by the fingerprint of the terms: with others, be it another key alone, a model may be
    /// asked at once.
    back_off: BTreeMap<String, FaultStreak>,
    last_failure: Option<(Timestamp, String)>,
}

/// Tokens that are taken for one question. Spent if it is dropped.
#[derive(Debug)]
#[must_use = "what is not settled is spent"]
pub struct TokenReservation<'a> {
    account: &'a JudgeAccount,
    terms: &'a JudgeTerms,
    day: i64,
    tokens: u64,
}

impl JudgeAccount {
    /// The account in `file`, made when it is first needed.
    pub fn at(file: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { file: file.into(), clock }
    }

    /// Takes `tokens` for a question; an error says why it must not be asked now.
    pub fn reserve<'a>(
        &'a self,
        terms: &'a JudgeTerms,
        tokens: u64,
    ) -> Result<TokenReservation<'a>> {
        self.change(|state, now| {
            // A caller without budget must not become the one that the others wait for.
            let limit = terms.daily_tokens;
            if state.budget.tokens.saturating_add(tokens) > limit {
                let used = state.budget.tokens(limit);
                return Err(not_asked(format!(
                    "the model is not asked before tomorrow (UTC): {used} of {limit} tokens are \
                     used, and this request could take {tokens}; judge.daily_tokens sets the limit"
                )));
            }
            state.admit(terms, now)?;
            state.budget.tokens = state.budget.tokens.saturating_add(tokens);
            state.budget.questions += 1;
            Ok(TokenReservation { account: self, terms, day: state.budget.day, tokens })
        })
    }

    /// State of the account for these terms.
    pub fn status(&self, terms: &JudgeTerms) -> Result<AccountStatus> {
        let now = self.clock.now();
        let mut state = self.known(fsx::read_regular(&self.file, MAX_LEN)?.as_deref(), now);
        state.budget.begin_day_if_new(now);
        Ok(AccountStatus {
            day: day_to_date(state.budget.day),
            tokens: state.budget.tokens(terms.daily_tokens),
            questions: state.budget.questions,
            paused_until: state.paused_until(terms, now),
            last_failure: state.last_failure,
        })
    }

    /// Parses the file. If it is damaged, all tokens count as spent.
    fn known(&self, json: Option<&[u8]>, now: Timestamp) -> AccountState {
        let Some(json) = json else { return AccountState::default() };
        serde_json::from_slice(json).unwrap_or_else(|_| AccountState {
            budget: DailyBudget { day: day_of(now), tokens: UNKNOWN_TOKENS, questions: 0 },
            last_failure: Some((now, format!("{} was damaged", self.file.display()))),
            ..AccountState::default()
        })
    }

    /// Changes the file under its lock. If it can't be written, nothing may be asked.
    fn change<T>(&self, act: impl FnOnce(&mut AccountState, Timestamp) -> Result<T>) -> Result<T> {
        let counting = |error: Error| error.context("cannot record the model's token usage");
        fsx::ensure_dir(fsx::parent(&self.file)).map_err(counting)?;
        let lock = fsx::with_suffix(&self.file, ".lock");
        let _held = FileLock::acquire(&lock, Deadline::after(WAIT)).map_err(counting)?;
        let now = self.clock.now();
        let before = fsx::read_regular(&self.file, MAX_LEN).map_err(counting)?;
        let mut state = self.known(before.as_deref(), now);
        state.budget.begin_day_if_new(now);
        let done = act(&mut state, now);
        let after = serde_json::to_vec(&state).expect("text and numbers always serialize");
        if before.as_deref() != Some(&*after) {
            fsx::write_atomic(&self.file, &after).map_err(counting)?;
        }
        done
    }
}

impl TokenReservation<'_> {
    /// Settles an answered question: it cost this many tokens, or all that were taken if that is
    /// not known. `failure` is recorded if the answer was of no use.
    pub fn settle_answered(self, cost: Option<u64>, failure: Option<&Error>) -> Result<()> {
        self.account.change(|state, now| {
            state.budget.settle(self.day, self.tokens, cost.unwrap_or(self.tokens));
            state.back_off.remove(&self.terms.fingerprint);
            if let Some(error) = failure {
                state.last_failure = Some((now, words_of(error)));
            }
            Ok(())
        })
    }

    /// Settles a failed question.
    pub fn settle_failed(self, fault: &JudgeFault) -> Result<()> {
        self.account.change(|state, now| {
            let cost = if fault.may_have_cost { self.tokens } else { 0 };
            state.budget.settle(self.day, self.tokens, cost);
            state.record_fault(fault.sort, self.terms, now);
            state.last_failure = Some((now, words_of(&fault.error)));
            Ok(())
        })
    }
}

fn words_of(error: &Error) -> String {
    shorten_text(&secrets::redact(&error.to_string()), MAX_WORDS).into_owned()
}

fn not_asked(why: String) -> Error {
    Error::new(ErrorKind::Unavailable, why)
}

const DAY_SECONDS: i64 = 86_400;
/// More than any limit, and far from an overflow.
const UNKNOWN_TOKENS: u64 = 1 << 62;

/// Tokens of one day (UTC).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DailyBudget {
    /// Days since 1970.
    day: i64,
    tokens: u64,
    questions: u64,
}

impl DailyBudget {
    /// Begins a new day if the date has changed. A clock that was set back by some hours begins
    /// none; a day that is further ahead comes from another clock.
    fn begin_day_if_new(&mut self, now: Timestamp) {
        let today = day_of(now);
        if self.day < today || self.day > today + 1 {
            *self = Self { day: today, ..Self::default() };
        }
    }

    /// Replaces the tokens taken on `day` by their actual cost, unless another day has begun.
    fn settle(&mut self, day: i64, taken: u64, cost: u64) {
        if self.day == day {
            self.tokens = self.tokens.saturating_sub(taken).saturating_add(cost);
        }
    }

    /// Spent tokens; the whole limit if that is not known.
    fn tokens(&self, limit: u64) -> u64 {
        if self.tokens >= UNKNOWN_TOKENS { limit } else { self.tokens }
    }
}

fn day_of(now: Timestamp) -> i64 {
    now.as_seconds().div_euclid(DAY_SECONDS)
}

/// Pause after the first fault, and the longest one, in milliseconds.
const FIRST_PAUSE: u64 = 15_000;
const LONGEST_PAUSE: u64 = 3_600_000;

/// Most fingerprints that are remembered: few people use more than one.
const MOST_FINGERPRINTS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FaultStreak {
    /// Number of faults in a row.
    count: u32,
    /// End of the pause.
    until: Timestamp,
}

impl AccountState {
    /// Checks whether a model may be asked now. After a pause one caller is admitted, and the
    /// others wait until it is known how that ended.
    fn admit(&mut self, terms: &JudgeTerms, now: Timestamp) -> Result<()> {
        if let Some(until) = self.paused_until(terms, now).filter(|_| !terms.insists) {
            return Err(not_asked(format!(
                "the model is not asked before {}, after an error (`recoup judge status` shows \
                 it, `recoup judge test` retries now)",
                until.to_second_string()
            )));
        }
        if let Some(faults) = self.back_off.get_mut(&terms.fingerprint) {
            let trial = u64::try_from(terms.deadline.as_millis())
                .unwrap_or(u64::MAX)
                .saturating_add(1_000)
                .min(LONGEST_PAUSE);
            faults.until = now.plus_millis(trial);
        }
        Ok(())
    }

    /// End of the pause for these terms.
    fn paused_until(&self, terms: &JudgeTerms, now: Timestamp) -> Option<Timestamp> {
        let FaultStreak { until, .. } = self.back_off.get(&terms.fingerprint)?;
        // One that is too long comes from another clock.
        let is_pausing = now < *until && until.millis_since(now) <= LONGEST_PAUSE;
        is_pausing.then_some(*until)
    }

    /// Records a fault.
    fn record_fault(&mut self, sort: FaultSort, terms: &JudgeTerms, now: Timestamp) {
        let before = self.back_off.get(&terms.fingerprint).map_or(0, |faults| faults.count);
        let pause = match sort {
            FaultSort::Lasting => LONGEST_PAUSE,
            FaultSort::Passing(said) => pause(before, said),
        };
        let faults = FaultStreak { count: before.saturating_add(1), until: now.plus_millis(pause) };
        self.back_off.insert(terms.fingerprint.clone(), faults);
        while self.back_off.len() > MOST_FINGERPRINTS {
            let oldest = self.back_off.iter().min_by_key(|(_, faults)| faults.until);
            let Some(oldest) = oldest.map(|(who, _)| who.clone()) else { break };
            self.back_off.remove(&oldest);
        }
    }
}

/// Pause after this many earlier faults. Random, so that processes do not come back at the same
/// moment; a longer time that the server asks for is respected.
fn pause(faults: u32, said: Option<u64>) -> u64 {
    let full = FIRST_PAUSE.saturating_mul(1 << faults.min(16)).min(LONGEST_PAUSE);
    let own = full / 2 + fastrand::u64(0..=full / 2);
    let said = said.map_or(0, |said| said.saturating_add(fastrand::u64(0..=said / 10)));
    own.max(said).min(LONGEST_PAUSE)
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
    fn what_the_server_says_counts_where_it_is_longer_and_not_beyond_an_hour() {
        for _ in 0..200 {
            assert!((100_000..=110_000).contains(&pause(0, Some(100_000))));
            assert!((7_500..=15_000).contains(&pause(0, Some(10))));
            assert_eq!(pause(0, Some(u64::MAX)), LONGEST_PAUSE);
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
