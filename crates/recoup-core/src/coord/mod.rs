//! Early exit: several agents work on one question, the first to answer wins, and
//! the others are told to stop.
//!
//! A session has at most one winner, elected in one step. A winner that has no
//! result yet holds on to that for the time of its lease; then it is as if nobody
//! had won, until its result comes after all or another takes its place.
//! [`EarlyExit`] is what callers use; where sessions are kept is behind [`Sessions`].

mod dir;
mod poll;
mod redis;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::{Clock, Timestamp};
use crate::base::name::Name;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;
use crate::store::StoreUrl;

pub use dir::DirSessions;
pub use redis::RedisSessions;

/// How long a winner may take for its result, unless told otherwise.
pub const LEASE: Duration = Duration::from_mins(10);
/// How long a session is kept after the last that happened in it.
pub const KEPT: Duration = Duration::from_hours(24);
/// Who wins where nobody says a name.
pub const UNKNOWN: &str = "unknown";

/// Who has won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winner {
    /// By name.
    pub agent: Name,
    /// Whether its result is there.
    pub has_result: bool,
}

/// Who has won, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// By name.
    pub agent: Name,
    /// Since when; none where another tool did not say.
    pub at: Option<Timestamp>,
    /// None while it is not there yet.
    pub result: Option<Vec<u8>>,
}

/// How an election ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elected {
    /// The caller has won.
    Won,
    /// This one had won before.
    Lost(Name),
}

/// Who wants to win, and how.
#[derive(Debug, Clone, Copy)]
pub struct Bid<'a> {
    /// Its name.
    pub agent: &'a Name,
    /// For how many milliseconds it may be without a result; none is for ever.
    pub lease: Option<u64>,
    /// What appears together with the winner.
    pub result: Option<&'a [u8]>,
}

/// What there is in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Who has won.
    pub winner: Option<Name>,
    /// Who takes part, in order.
    pub agents: Vec<Name>,
    /// Who has a result, in order.
    pub results: Vec<Name>,
}

/// A place for sessions. Names are validated, so none can leave it.
pub trait Sessions: Send + Sync + fmt::Debug {
    /// Who has won: nobody whose lease ran out before there was a result.
    fn winner(&self, session: &Name) -> Result<Option<Winner>>;

    /// The same with the result.
    fn answer(&self, session: &Name) -> Result<Option<Answer>>;

    /// Makes the caller the winner, unless there is one. Its name, and its result if
    /// one is given, are there for every reader from the same moment on.
    fn elect(&self, session: &Name, bid: Bid<'_>) -> Result<Elected>;

    /// Notes that an agent takes part.
    fn register(&self, session: &Name, agent: &Name) -> Result<()>;

    /// Keeps an agent's result, whether it has won or not.
    fn write_result(&self, session: &Name, agent: &Name, result: &[u8]) -> Result<()>;

    /// What there is; none where there is no such session.
    fn status(&self, session: &Name) -> Result<Option<Status>>;

    /// All sessions, in order.
    fn list(&self) -> Result<Vec<Name>>;

    /// Forgets a session; `false` when there was none.
    fn remove(&self, session: &Name) -> Result<bool>;

    /// A way to wait for what happens in a session.
    fn watch<'a>(&'a self, session: &'a Name) -> Box<dyn Watch + 'a>;
}

/// Waits for something to happen.
pub trait Watch: fmt::Debug {
    /// What happens from now on ends the next wait.
    fn arm(&mut self);

    /// Returns when something may have happened, or `at_most` has passed.
    fn wait(&mut self, at_most: Duration);
}

/// Early exit over some sessions: what may be kept, and waiting.
#[derive(Debug, Clone)]
pub struct EarlyExit {
    sessions: Arc<dyn Sessions>,
}

impl EarlyExit {
    /// Over these sessions.
    pub fn new(sessions: Arc<dyn Sessions>) -> Self {
        Self { sessions }
    }

    /// On the server where `store` is one, else in the directory `dir`. Nothing is
    /// read, asked or created before it is needed.
    pub fn open(store: &StoreUrl, dir: &Path, clock: Arc<dyn Clock>) -> Self {
        match store {
            StoreUrl::Redis(target) => Self::new(Arc::new(RedisSessions::at((**target).clone()))),
            StoreUrl::Sqlite(_) | StoreUrl::File(_) | StoreUrl::Dir(_) => {
                Self::new(Arc::new(DirSessions::at(dir, clock)))
            }
        }
    }

    /// Who has won.
    pub fn winner(&self, session: &Name) -> Result<Option<Winner>> {
        self.sessions.winner(session)
    }

    /// Who has won, and with what.
    pub fn answer(&self, session: &Name) -> Result<Option<Answer>> {
        self.sessions.answer(session)
    }

    /// Makes the caller the winner, unless there is one.
    pub fn signal(&self, session: &Name, bid: Bid<'_>) -> Result<Elected> {
        bid.result.map_or(Ok(()), refuse_secrets)?;
        self.sessions.elect(session, bid)
    }

    /// Notes that an agent takes part.
    pub fn register(&self, session: &Name, agent: &Name) -> Result<()> {
        self.sessions.register(session, agent)
    }

    /// Keeps an agent's result; gives who has won, if that is another.
    pub fn write_result(
        &self,
        session: &Name,
        agent: &Name,
        result: &[u8],
    ) -> Result<Option<Name>> {
        refuse_secrets(result)?;
        self.sessions.write_result(session, agent, result)?;
        let winner = self.sessions.winner(session)?;
        Ok(winner.map(|winner| winner.agent).filter(|winner| winner != agent))
    }

    /// What there is; none where there is no such session.
    pub fn status(&self, session: &Name) -> Result<Option<Status>> {
        self.sessions.status(session)
    }

    /// All sessions, in order.
    pub fn list(&self) -> Result<Vec<Name>> {
        self.sessions.list()
    }

    /// Forgets a session; `false` when there was none.
    pub fn remove(&self, session: &Name) -> Result<bool> {
        self.sessions.remove(session)
    }

    /// Waits until there is a winner with a result; none when the time is up.
    pub fn poll(&self, session: &Name, within: Duration) -> Result<Option<Answer>> {
        poll::poll(&*self.sessions, session, within)
    }
}

/// Results are read by others, so they are held to what entries are held to.
fn refuse_secrets(result: &[u8]) -> Result<()> {
    match secrets::detect(result) {
        None => Ok(()),
        Some(rule) => Err(Error::new(
            ErrorKind::Invalid,
            format!("Secret patterns detected in content - refusing to keep the result ({rule})"),
        )),
    }
}
