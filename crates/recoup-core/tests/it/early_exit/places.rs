//! Where sessions are kept, one fresh place for each test.

use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::SystemClock;
use recoup_core::base::name::SafeName;
use recoup_core::early_exit::{
    DirSessions, EarlyExit, ElectionBid, ElectionOutcome, RedisSessions, SESSION_RETENTION,
};
use tempfile::TempDir;

use crate::redis_server::{Server, fresh_prefix, shared, shared_valkey};

/// Makes places. Those of one are the same to all who open it, as to processes.
pub(super) trait Place: Send + Sync {
    fn new() -> Self;
    /// The same place each time, opened anew.
    fn kept_for(&self, kept: Duration) -> EarlyExit;

    fn open(&self) -> EarlyExit {
        self.kept_for(SESSION_RETENTION)
    }
}

pub(super) struct Dir(TempDir);

impl Place for Dir {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn kept_for(&self, kept: Duration) -> EarlyExit {
        let dir = self.0.path().join("sessions");
        EarlyExit::new(Arc::new(DirSessions::with_retention(&dir, Arc::new(SystemClock), kept)))
    }
}

pub(super) struct OnRedis(String);
pub(super) struct OnValkey(String);

impl Place for OnRedis {
    fn new() -> Self {
        Self(fresh_prefix())
    }

    fn kept_for(&self, kept: Duration) -> EarlyExit {
        on(shared(), &self.0, kept)
    }
}

impl Place for OnValkey {
    fn new() -> Self {
        Self(fresh_prefix())
    }

    fn kept_for(&self, kept: Duration) -> EarlyExit {
        on(shared_valkey(), &self.0, kept)
    }
}

fn on(server: &Server, prefix: &str, kept: Duration) -> EarlyExit {
    EarlyExit::new(Arc::new(RedisSessions::with_retention(server.target(prefix), kept)))
}

pub(super) fn name(text: &str) -> SafeName {
    SafeName::parse("name", text).unwrap()
}

/// `signal SESSION AGENT`, with a lease in milliseconds and a result, or without.
pub(super) fn signal(
    sessions: &EarlyExit,
    session: &str,
    agent: &str,
    lease: Option<u64>,
    result: Option<&str>,
) -> ElectionOutcome {
    let agent = name(agent);
    let bid = ElectionBid { agent: &agent, lease, result: result.map(str::as_bytes) };
    sessions.signal(&name(session), bid).unwrap()
}

pub(super) fn lost(to: &str) -> ElectionOutcome {
    ElectionOutcome::Lost(name(to))
}

/// Who has won, and with what.
pub(super) fn answer(sessions: &EarlyExit, session: &str) -> Option<(String, Option<String>)> {
    let answer = sessions.answer(&name(session)).unwrap()?;
    let result = answer.result.map(|result| String::from_utf8(result).unwrap());
    Some((answer.agent.to_string(), result))
}

/// What [`answer`] is expected to be.
#[expect(clippy::unnecessary_wraps, reason = "it is compared with that")]
pub(super) fn won(agent: &str, result: Option<&str>) -> Option<(String, Option<String>)> {
    Some((agent.to_owned(), result.map(str::to_owned)))
}
