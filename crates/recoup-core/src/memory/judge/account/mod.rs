//! What asking costs and whether it may be asked, for all processes of a machine: tokens
//! by the day, and a pause after faults. One small file that is changed under a lock.
//!
//! Tokens are taken before a question is sent, as many as it can cost, and settled when
//! it has been answered. Whoever dies in between has spent them.

mod backoff;
mod budget;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::clock::{Clock, Deadline, Timestamp};
use crate::base::fsx::{self, FileLock};
use crate::base::text::shortened;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;

use backoff::BackOff;
pub use backoff::retry_after;
use budget::Budget;

/// How long we wait for others to change the file, which takes them a millisecond.
const WAIT: Duration = Duration::from_secs(2);
const MAX_LEN: u64 = 16 << 10;
/// The most of an error's words that is kept.
const MAX_WORDS: usize = 300;

/// What may be spent, and on whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Tokens for each day (UTC).
    pub daily_tokens: u64,
    /// Who is asked, with what: another one has not refused us yet.
    pub fingerprint: String,
    /// How long one question may take.
    pub deadline: Duration,
    /// A person asks, who knows of the pause and wants to see whether it is needed.
    pub insists: bool,
}

/// Why a question was not answered.
#[derive(Debug)]
pub struct Fault {
    /// What is to be done about it.
    pub sort: FaultSort,
    /// What happened.
    pub error: Error,
    /// Whether it may have cost something all the same.
    pub may_have_cost: bool,
}

/// What a fault means for those who ask next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultSort {
    /// It may be over soon, after this many milliseconds if that was said.
    Passing(Option<u64>),
    /// It will be the same until somebody changes something: the key, the model, the address.
    Lasting,
}

/// The file that all processes share.
#[derive(Debug)]
pub struct Account {
    file: PathBuf,
    clock: Arc<dyn Clock>,
}

/// How things stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The day that is counted, in UTC: `2026-11-15`.
    pub day: String,
    /// Tokens of that day.
    pub tokens: u64,
    /// Questions of that day.
    pub questions: u64,
    /// Nothing is asked before that.
    pub paused_until: Option<Timestamp>,
    /// When it last went wrong, and how.
    pub last_failure: Option<(Timestamp, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    budget: Budget,
    back_off: BackOff,
    last_failure: Option<(Timestamp, String)>,
}

/// Tokens that are taken for one question. Dropped without a word they are spent.
#[derive(Debug)]
#[must_use = "what is not settled is spent"]
pub struct Reservation<'a> {
    account: &'a Account,
    terms: &'a Terms,
    day: i64,
    tokens: u64,
}

impl Account {
    /// The account in `file`, made when it is first needed.
    pub fn at(file: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { file: file.into(), clock }
    }

    /// Takes `tokens` for a question; an error says why it must not be asked now.
    pub fn reserve<'a>(&'a self, terms: &'a Terms, tokens: u64) -> Result<Reservation<'a>> {
        self.change(|state, now| {
            // Whoever the budget refuses is not the one whom the others wait for.
            state.budget.demand_room(tokens, terms.daily_tokens)?;
            state.back_off.admit(terms, now)?;
            state.budget.take(tokens);
            let day = state.budget.day();
            Ok(Reservation { account: self, terms, day, tokens })
        })
    }

    /// How things stand with those who ask on these terms.
    pub fn standing(&self, terms: &Terms) -> Result<Standing> {
        let now = self.clock.now();
        let mut state = self.known(self.read()?.as_deref(), now);
        state.budget.turn(now);
        Ok(Standing {
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

    /// What a file says. One that is damaged does not say what was spent, so that it can't be
    /// less than everything.
    fn known(&self, json: Option<&[u8]>, now: Timestamp) -> State {
        let Some(json) = json else { return State::default() };
        serde_json::from_slice(json).unwrap_or_else(|_| State {
            budget: Budget::spent(now),
            last_failure: Some((now, format!("{} was damaged", self.file.display()))),
            ..State::default()
        })
    }

    /// Changes the file, alone. Where it can't be written nothing may be done.
    fn change<T>(&self, act: impl FnOnce(&mut State, Timestamp) -> Result<T>) -> Result<T> {
        let counting = |error: Error| error.context("counting what a model costs");
        fsx::ensure_dir(fsx::parent(&self.file)).map_err(counting)?;
        let lock = lock_of(&self.file);
        let _held = FileLock::acquire(&lock, Deadline::after(WAIT)).map_err(counting)?;
        let now = self.clock.now();
        let before = self.read().map_err(counting)?;
        let mut state = self.known(before.as_deref(), now);
        state.budget.turn(now);
        let done = act(&mut state, now);
        let after = serde_json::to_vec(&state).expect("text and numbers always serialize");
        if before.as_deref() != Some(&*after) {
            fsx::write_atomic(&self.file, &after).map_err(counting)?;
        }
        done
    }
}

impl Reservation<'_> {
    /// It was answered, and cost so many tokens, if that was said: else as many as it could.
    /// The answer may be of no use, for a reason that is kept.
    pub fn answered(self, cost: Option<u64>, failure: Option<&Error>) -> Result<()> {
        self.account.change(|state, now| {
            state.budget.settle(self.day, self.tokens, cost.unwrap_or(self.tokens));
            state.back_off.clear(self.terms);
            if let Some(error) = failure {
                state.last_failure = Some((now, words_of(error)));
            }
            Ok(())
        })
    }

    /// It was not.
    pub fn failed(self, fault: &Fault) -> Result<()> {
        self.account.change(|state, now| {
            let cost = if fault.may_have_cost { self.tokens } else { 0 };
            state.budget.settle(self.day, self.tokens, cost);
            state.back_off.note(fault.sort, self.terms, now);
            state.last_failure = Some((now, words_of(&fault.error)));
            Ok(())
        })
    }
}

fn words_of(error: &Error) -> String {
    shortened(&secrets::redact(&error.to_string()), MAX_WORDS).into_owned()
}

fn lock_of(file: &Path) -> PathBuf {
    fsx::with_suffix(file, ".lock")
}

fn not_asked(why: String) -> Error {
    Error::new(ErrorKind::Unavailable, why)
}
