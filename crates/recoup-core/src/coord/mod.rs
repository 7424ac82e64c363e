//! Early exit: several agents work on one question, the first to answer wins, and the others are
//! told to stop.
//!
//! A session has at most one winner, elected atomically. A winner without a result keeps its place
//! for the time of its lease; then the place is vacant, until its result arrives after all or
//! another agent is elected. Callers use [`EarlyExit`]; storage is behind [`Sessions`].

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

/// Default time that a winner may take for its result.
pub const LEASE: Duration = Duration::from_mins(10);
/// How long a session is kept after its last activity.
pub const KEPT: Duration = Duration::from_hours(24);
/// Name of a winner that gave none.
pub const UNKNOWN: &str = "unknown";

/// The winner of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winner {
    /// Name of the agent.
    pub agent: Name,
    /// True if its result is there.
    pub has_result: bool,
}

/// The winner of a session, with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Name of the agent.
    pub agent: Name,
    /// Time of the election; `None` if another tool did not record it.
    pub at: Option<Timestamp>,
    /// `None` while it is not there yet.
    pub result: Option<Vec<u8>>,
}

/// Outcome of an election.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elected {
    /// The caller has won.
    Won,
    /// Another agent had won before.
    Lost(Name),
}

/// A candidate in an election.
#[derive(Debug, Clone, Copy)]
pub struct Bid<'a> {
    /// Name of the agent.
    pub agent: &'a Name,
    /// How long it may be without a result, in milliseconds; `None` for ever.
    pub lease: Option<u64>,
    /// A result that becomes visible together with the winner.
    pub result: Option<&'a [u8]>,
}

/// State of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The winner.
    pub winner: Option<Name>,
    /// Registered agents, sorted.
    pub agents: Vec<Name>,
    /// Agents with a result, sorted.
    pub results: Vec<Name>,
}

/// Storage of sessions. Names are validated, so none leads out of it.
pub trait Sessions: Send + Sync + fmt::Debug {
    /// The current winner; `None` if its lease expired without a result.
    fn winner(&self, session: &Name) -> Result<Option<Winner>>;

    /// The current winner, with its result.
    fn answer(&self, session: &Name) -> Result<Option<Answer>>;

    /// Makes the caller the winner, unless there is one. Its name, and its result if one is given,
    /// become visible to readers at the same moment.
    fn elect(&self, session: &Name, bid: Bid<'_>) -> Result<Elected>;

    /// Registers an agent.
    fn register(&self, session: &Name, agent: &Name) -> Result<()>;

    /// Stores an agent's result, whether or not it has won.
    fn write_result(&self, session: &Name, agent: &Name, result: &[u8]) -> Result<()>;

    /// State of a session; `None` if it does not exist.
    fn status(&self, session: &Name) -> Result<Option<Status>>;

    /// All sessions, sorted.
    fn list(&self) -> Result<Vec<Name>>;

    /// Removes a session; returns `false` if there was none.
    fn remove(&self, session: &Name) -> Result<bool>;

    /// A way to wait for events in a session.
    fn watch<'a>(&'a self, session: &'a Name) -> Box<dyn Watch + 'a>;
}

/// Waits for events in a session.
pub trait Watch: fmt::Debug {
    /// Prepares the next wait: events from now on end it.
    fn arm(&mut self);

    /// Returns when something may have happened, or `at_most` has passed.
    fn wait(&mut self, at_most: Duration);
}

/// Early exit over a session store, with secret checks and waiting.
#[derive(Debug, Clone)]
pub struct EarlyExit {
    sessions: Arc<dyn Sessions>,
}

impl EarlyExit {
    /// Early exit over these sessions.
    pub fn new(sessions: Arc<dyn Sessions>) -> Self {
        Self { sessions }
    }

    /// Early exit on the server of `store`, or else in the directory `dir`. Nothing is read,
    /// connected or created before the first use.
    pub fn open(store: &StoreUrl, dir: &Path, clock: Arc<dyn Clock>) -> Self {
        match store {
            StoreUrl::Redis(target) => Self::new(Arc::new(RedisSessions::at((**target).clone()))),
            StoreUrl::Sqlite(_) | StoreUrl::File(_) | StoreUrl::Dir(_) => {
                Self::new(Arc::new(DirSessions::at(dir, clock)))
            }
        }
    }

    /// The current winner.
    pub fn winner(&self, session: &Name) -> Result<Option<Winner>> {
        self.sessions.winner(session)
    }

    /// The current winner, with its result.
    pub fn answer(&self, session: &Name) -> Result<Option<Answer>> {
        self.sessions.answer(session)
    }

    /// Makes the caller the winner, unless there is one.
    pub fn signal(&self, session: &Name, bid: Bid<'_>) -> Result<Elected> {
        bid.result.map_or(Ok(()), refuse_secrets)?;
        self.sessions.elect(session, bid)
    }

    /// Registers an agent.
    pub fn register(&self, session: &Name, agent: &Name) -> Result<()> {
        self.sessions.register(session, agent)
    }

    /// Stores an agent's result. Returns the winner if that is another agent.
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

    /// State of a session; `None` if it does not exist.
    pub fn status(&self, session: &Name) -> Result<Option<Status>> {
        self.sessions.status(session)
    }

    /// All sessions, sorted.
    pub fn list(&self) -> Result<Vec<Name>> {
        self.sessions.list()
    }

    /// Removes a session; returns `false` if there was none.
    pub fn remove(&self, session: &Name) -> Result<bool> {
        self.sessions.remove(session)
    }

    /// Waits for a winner with a result; `None` when the time is up.
    pub fn poll(&self, session: &Name, within: Duration) -> Result<Option<Answer>> {
        poll::poll(&*self.sessions, session, within)
    }
}

/// Results are read by others, so they must not contain secrets, like entries.
fn refuse_secrets(result: &[u8]) -> Result<()> {
    match secrets::detect(result) {
        None => Ok(()),
        Some(rule) => Err(Error::new(
            ErrorKind::Invalid,
            format!("Secret patterns detected in content - refusing to keep the result ({rule})"),
        )),
    }
}
