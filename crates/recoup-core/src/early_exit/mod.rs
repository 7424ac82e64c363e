//! Early exit: several agents work on one question, the first to answer wins, and the others are
//! told to stop.
//!
//! A session has at most one winner, elected atomically. A winner without a result keeps its place
//! for the time of its lease; then the place is vacant, until its result arrives after all or
//! another agent is elected. Callers use [`EarlyExit`]; storage is behind [`SessionStore`].

mod dir;
#[cfg(feature = "redis")]
mod redis;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::{Clock, Deadline, Timestamp};
use crate::base::name::SafeName;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;
use crate::store::StoreUrl;

pub use dir::DirSessions;
#[cfg(feature = "redis")]
pub use redis::RedisSessions;

/// Default time that a winner may take for its result.
pub const DEFAULT_LEASE: Duration = Duration::from_mins(10);
/// How long a session is kept after its last activity.
pub const SESSION_RETENTION: Duration = Duration::from_hours(24);
/// Longer than any caller waits.
const LONGEST_WAIT: Duration = Duration::from_hours(24 * 365);
/// Name of a winner that gave none.
pub const UNKNOWN_AGENT: &str = "unknown";

/// The winner of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionWinner {
    /// Name of the agent.
    pub agent: SafeName,
    /// True if its result is there.
    pub has_result: bool,
}

/// The winner of a session, with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WinnerAnswer {
    /// Name of the agent.
    pub agent: SafeName,
    /// Time of the election; `None` if another tool did not record it.
    pub at: Option<Timestamp>,
    /// `None` while it is not there yet.
    pub result: Option<Vec<u8>>,
}

/// Outcome of an election.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElectionOutcome {
    /// The caller has won.
    Won,
    /// Another agent had won before.
    Lost(SafeName),
}

/// A candidate in an election.
#[derive(Debug, Clone, Copy)]
pub struct ElectionBid<'a> {
    /// Name of the agent.
    pub agent: &'a SafeName,
    /// How long it may be without a result, in milliseconds; `None` for ever.
    pub lease: Option<u64>,
    /// A result that becomes visible together with the winner.
    pub result: Option<&'a [u8]>,
}

/// State of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStatus {
    /// The winner.
    pub winner: Option<SafeName>,
    /// Registered agents, sorted.
    pub agents: Vec<SafeName>,
    /// Agents with a result, sorted.
    pub results: Vec<SafeName>,
}

/// Storage of sessions. Names are validated, so none leads out of it.
pub trait SessionStore: Send + Sync + fmt::Debug {
    /// The current winner; `None` if its lease expired without a result.
    fn winner(&self, session: &SafeName) -> Result<Option<SessionWinner>>;

    /// The current winner, with its result.
    fn answer(&self, session: &SafeName) -> Result<Option<WinnerAnswer>>;

    /// Makes the caller the winner, unless there is one. Its name, and its result if one is given,
    /// become visible to readers at the same moment.
    fn elect(&self, session: &SafeName, bid: ElectionBid<'_>) -> Result<ElectionOutcome>;

    /// Registers an agent.
    fn register(&self, session: &SafeName, agent: &SafeName) -> Result<()>;

    /// Stores an agent's result, whether or not it has won.
    fn write_result(&self, session: &SafeName, agent: &SafeName, result: &[u8]) -> Result<()>;

    /// State of a session; `None` if it does not exist.
    fn status(&self, session: &SafeName) -> Result<Option<SessionStatus>>;

    /// All sessions, sorted.
    fn list(&self) -> Result<Vec<SafeName>>;

    /// Removes a session; returns `false` if there was none.
    fn remove(&self, session: &SafeName) -> Result<bool>;

    /// A way to wait for events in a session.
    fn watch<'a>(&'a self, session: &'a SafeName) -> Box<dyn SessionWatch + 'a>;
}

/// Waits for events in a session.
pub trait SessionWatch: fmt::Debug {
    /// Prepares the next wait: events from now on end it.
    fn arm(&mut self);

    /// Returns when something may have happened, or `at_most` has passed.
    fn wait(&mut self, at_most: Duration);
}

/// Early exit over a session store, with secret checks and waiting.
#[derive(Debug, Clone)]
pub struct EarlyExit {
    sessions: Arc<dyn SessionStore>,
}

impl EarlyExit {
    /// Early exit over these sessions.
    pub fn new(sessions: Arc<dyn SessionStore>) -> Self {
        Self { sessions }
    }

    /// Early exit on the server of `store`, or else in the directory `dir`. Nothing is read,
    /// connected or created before the first use.
    pub fn open(store: &StoreUrl, dir: &Path, clock: Arc<dyn Clock>) -> Self {
        match store {
            #[cfg(feature = "redis")]
            StoreUrl::Redis(target) => Self::new(Arc::new(RedisSessions::at((**target).clone()))),
            StoreUrl::Sqlite(_) | StoreUrl::File(_) | StoreUrl::Dir(_) => {
                Self::new(Arc::new(DirSessions::at(dir, clock)))
            }
        }
    }

    /// The current winner.
    pub fn winner(&self, session: &SafeName) -> Result<Option<SessionWinner>> {
        self.sessions.winner(session)
    }

    /// The current winner, with its result.
    pub fn answer(&self, session: &SafeName) -> Result<Option<WinnerAnswer>> {
        self.sessions.answer(session)
    }

    /// Makes the caller the winner, unless there is one.
    pub fn signal(&self, session: &SafeName, bid: ElectionBid<'_>) -> Result<ElectionOutcome> {
        bid.result.map_or(Ok(()), refuse_secrets)?;
        self.sessions.elect(session, bid)
    }

    /// Registers an agent.
    pub fn register(&self, session: &SafeName, agent: &SafeName) -> Result<()> {
        self.sessions.register(session, agent)
    }

    /// Stores an agent's result. Returns the winner if that is another agent.
    pub fn write_result(
        &self,
        session: &SafeName,
        agent: &SafeName,
        result: &[u8],
    ) -> Result<Option<SafeName>> {
        refuse_secrets(result)?;
        self.sessions.write_result(session, agent, result)?;
        let winner = self.sessions.winner(session)?;
        Ok(winner.map(|winner| winner.agent).filter(|winner| winner != agent))
    }

    /// State of a session; `None` if it does not exist.
    pub fn status(&self, session: &SafeName) -> Result<Option<SessionStatus>> {
        self.sessions.status(session)
    }

    /// All sessions, sorted.
    pub fn list(&self) -> Result<Vec<SafeName>> {
        self.sessions.list()
    }

    /// Removes a session; returns `false` if there was none.
    pub fn remove(&self, session: &SafeName) -> Result<bool> {
        self.sessions.remove(session)
    }

    /// Returns as soon as both winner and result are there; `None` when the time is up. A server
    /// that becomes unavailable may come back in time; one that never answered is an error at once.
    pub fn poll(&self, session: &SafeName, within: Duration) -> Result<Option<WinnerAnswer>> {
        let deadline = Deadline::after(within.min(LONGEST_WAIT));
        let mut watch = self.sessions.watch(session);
        let mut answered = false;
        loop {
            watch.arm();
            // Before the look-up, so that the last one is not before the deadline.
            let last = deadline.has_passed();
            let fault = match self.sessions.answer(session) {
                Ok(Some(answer)) if answer.result.is_some() => return Ok(Some(answer)),
                Ok(_) => None,
                Err(error) if answered && error.kind() == ErrorKind::Unavailable => Some(error),
                Err(error) => return Err(error),
            };
            answered = true;
            if last {
                return fault.map_or(Ok(None), Err);
            }
            watch.wait(deadline.remaining());
        }
    }
}

/// Results are read by others, so they must not contain secrets, like entries.
fn refuse_secrets(result: &[u8]) -> Result<()> {
    match secrets::detect_secret(result) {
        None => Ok(()),
        Some(rule) => Err(Error::new(
            ErrorKind::Invalid,
            format!("Secret patterns detected in content - refusing to keep the result ({rule})"),
        )),
    }
}
