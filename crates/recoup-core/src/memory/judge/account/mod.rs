//! Accounting of model calls, for all processes of a machine: tokens per day, and a pause after
//! faults. One small file that is changed under a lock.
//!
//! Tokens are taken before a question is sent, as many as it can cost, and settled when it has been
//! answered. If the process dies in between they are spent.

mod backoff;
mod budget;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::clock::{Clock, Deadline, Timestamp};
use crate::base::fsx::{self, FileLock};
use crate::base::text::shorten_text;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;

use backoff::BackOff;
pub use backoff::retry_after;
use budget::DailyBudget;

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
    back_off: BackOff,
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
            state.budget.check_room(tokens, terms.daily_tokens)?;
            state.back_off.admit(terms, now)?;
            state.budget.take(tokens);
            let day = state.budget.day();
            Ok(TokenReservation { account: self, terms, day, tokens })
        })
    }

    /// State of the account for these terms.
    pub fn status(&self, terms: &JudgeTerms) -> Result<AccountStatus> {
        let now = self.clock.now();
        let mut state = self.known(self.read()?.as_deref(), now);
        state.budget.begin_day_if_new(now);
        Ok(AccountStatus {
            day: crate::base::clock::day_to_date(state.budget.day()),
            tokens: state.budget.tokens(terms.daily_tokens),
            questions: state.budget.questions(),
            paused_until: state.back_off.paused_until(terms, now),
            last_failure: state.last_failure,
        })
    }

    fn read(&self) -> Result<Option<Vec<u8>>> {
        fsx::read_regular(&self.file, MAX_LEN)
    }

    /// Parses the file. If it is damaged, all tokens count as spent.
    fn known(&self, json: Option<&[u8]>, now: Timestamp) -> AccountState {
        let Some(json) = json else { return AccountState::default() };
        serde_json::from_slice(json).unwrap_or_else(|_| AccountState {
            budget: DailyBudget::spent(now),
            last_failure: Some((now, format!("{} was damaged", self.file.display()))),
            ..AccountState::default()
        })
    }

    /// Changes the file under its lock. If it can't be written, nothing may be asked.
    fn change<T>(&self, act: impl FnOnce(&mut AccountState, Timestamp) -> Result<T>) -> Result<T> {
        let counting = |error: Error| error.context("counting what a model costs");
        fsx::ensure_dir(fsx::parent(&self.file)).map_err(counting)?;
        let lock = lock_of(&self.file);
        let _held = FileLock::acquire(&lock, Deadline::after(WAIT)).map_err(counting)?;
        let now = self.clock.now();
        let before = self.read().map_err(counting)?;
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
            state.back_off.clear(self.terms);
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
            state.back_off.record_fault(fault.sort, self.terms, now);
            state.last_failure = Some((now, words_of(&fault.error)));
            Ok(())
        })
    }
}

fn words_of(error: &Error) -> String {
    shorten_text(&secrets::redact(&error.to_string()), MAX_WORDS).into_owned()
}

fn lock_of(file: &Path) -> PathBuf {
    fsx::with_suffix(file, ".lock")
}

fn not_asked(why: String) -> Error {
    Error::new(ErrorKind::Unavailable, why)
}
