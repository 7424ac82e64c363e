//! Daily budget of tokens.

use serde::{Deserialize, Serialize};

use super::not_asked;
use crate::base::clock::Timestamp;
use crate::error::Result;

const DAY: i64 = 86_400;
/// More than any limit, and far from an overflow.
const UNKNOWN: u64 = 1 << 62;

/// Tokens of one day (UTC).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DailyBudget {
    /// Days since 1970.
    day: i64,
    tokens: u64,
    questions: u64,
}

impl DailyBudget {
    /// A day of which nothing is left, whatever the limit.
    pub(super) fn spent(now: Timestamp) -> Self {
        Self { day: day_of(now), tokens: UNKNOWN, questions: 0 }
    }

    /// Begins a new day if the date has changed. A clock that was set back by some hours begins
    /// none; a day that is further ahead comes from another clock.
    pub(super) fn begin_day_if_new(&mut self, now: Timestamp) {
        let today = day_of(now);
        if self.day < today || self.day > today + 1 {
            *self = Self { day: today, ..Self::default() };
        }
    }

    /// Checks that there is room for `tokens`; an error says why not.
    pub(super) fn check_room(&self, tokens: u64, limit: u64) -> Result<()> {
        if self.tokens.saturating_add(tokens) > limit {
            let used = self.tokens(limit);
            return Err(not_asked(format!(
                "the model is not asked before tomorrow (UTC): {used} of {limit} tokens are spent, and this \
                 could take {tokens}; judge.daily_tokens is the limit"
            )));
        }
        Ok(())
    }

    /// Takes tokens for one question.
    pub(super) fn take(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.questions += 1;
    }

    /// Replaces the tokens taken on `day` by their actual cost, unless another day has begun.
    pub(super) fn settle(&mut self, day: i64, taken: u64, cost: u64) {
        if self.day == day {
            self.tokens = self.tokens.saturating_sub(taken).saturating_add(cost);
        }
    }

    pub(super) fn day(&self) -> i64 {
        self.day
    }

    /// Spent tokens; the whole limit if that is not known.
    pub(super) fn tokens(&self, limit: u64) -> u64 {
        if self.tokens >= UNKNOWN { limit } else { self.tokens }
    }

    pub(super) fn questions(&self) -> u64 {
        self.questions
    }
}

fn day_of(now: Timestamp) -> i64 {
    now.as_seconds().div_euclid(DAY)
}
