//! Sessions in a directory, for the agents of one machine.
//!
//! ```text
//! DIR/S/.recoup-session      that we made it
//! DIR/S/WINNER/winner.json   who has won, when, and until when it may be without a result
//! DIR/S/winner_agent         a copy of the name, for other tools
//! DIR/S/signal_time          when, in seconds since 1970, likewise
//! DIR/S/agents/A             who takes part, and since when
//! DIR/S/results/A.json       what each has to say
//! DIR/+locks/S               held by whoever changes a session
//! DIR/+tmp/                  what is being written, and what is being removed
//! ```
//! `WINNER` is prepared aside and renamed into place, so that it never is without
//! the name; what is read together is in one file. Readers take no lock. A `+` is in
//! no session's name. No link below the directory is followed, and a directory that
//! holds anything else is no session: it is not written to, and not removed. Only what
//! has our mark is listed, and removed when its time is up.

mod change;
mod layout;
mod shape;
mod sweep;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{Answer, Bid, Elected, KEPT, Sessions, Status, Watch, Winner};
use crate::base::clock::Clock;
use crate::base::fsx;
use crate::base::name::Name;
use crate::error::Result;
use layout::{Layout, Record};
use shape::Whose;

/// Sessions in one directory.
#[derive(Debug)]
pub struct DirSessions {
    layout: Layout,
    clock: Arc<dyn Clock>,
    kept: Duration,
}

impl DirSessions {
    /// Those in `dir`, which is made when it is first needed.
    pub fn at(dir: &Path, clock: Arc<dyn Clock>) -> Self {
        Self::kept_for(dir, clock, KEPT)
    }

    /// The same with sessions that expire that long after the last that happened.
    pub fn kept_for(dir: &Path, clock: Arc<dyn Clock>, kept: Duration) -> Self {
        Self { layout: Layout::at(dir), clock, kept }
    }

    /// The winner that counts at this moment, and whether its result is there.
    fn standing(&self, session: &Name) -> Result<Option<(Record, bool)>> {
        let Some(record) = self.layout.winner(session)? else { return Ok(None) };
        if self.has_expired(session)? {
            return Ok(None);
        }
        let has_result = self.layout.has_result(session, &record.agent)?;
        let in_time = record.until.is_none_or(|until| self.clock.now() < until);
        Ok((has_result || in_time).then_some((record, has_result)))
    }

    fn has_expired(&self, session: &Name) -> Result<bool> {
        let last = self.layout.last_activity(session)?;
        let kept = u64::try_from(self.kept.as_millis()).unwrap_or(u64::MAX);
        Ok(last.is_some_and(|last| self.clock.now().millis_since(last) >= kept))
    }

    /// Whether there is such a session, of ours or of another tool, and its time is not up.
    fn is_there(&self, session: &Name) -> Result<bool> {
        if !self.layout.is_there(session)? || self.has_expired(session)? {
            return Ok(false);
        }
        let dir = self.layout.session(session);
        Ok(shape::is_ours(&dir)
            || shape::session_in(&dir).is_ok_and(|whose| whose == Whose::Theirs))
    }
}

impl Sessions for DirSessions {
    fn winner(&self, session: &Name) -> Result<Option<Winner>> {
        let standing = self.standing(session)?;
        Ok(standing.map(|(record, has_result)| Winner { agent: record.agent, has_result }))
    }

    fn answer(&self, session: &Name) -> Result<Option<Answer>> {
        let Some((record, has_result)) = self.standing(session)? else { return Ok(None) };
        let Record { agent, at, .. } = record;
        let result = if has_result { self.layout.result(session, &agent)? } else { None };
        Ok(Some(Answer { agent, at, result }))
    }

    fn elect(&self, session: &Name, bid: Bid<'_>) -> Result<Elected> {
        // Most who come too late find out without waiting for a lock.
        if let Some((winner, _)) = self.standing(session)? {
            return Ok(Elected::Lost(winner.agent));
        }
        let elected = self.change(session)?.elect(bid)?;
        self.sweep();
        Ok(elected)
    }

    fn register(&self, session: &Name, agent: &Name) -> Result<()> {
        self.change(session)?.register(agent)?;
        self.sweep();
        Ok(())
    }

    fn write_result(&self, session: &Name, agent: &Name, result: &[u8]) -> Result<()> {
        self.change(session)?.write_result(agent, result)
    }

    fn status(&self, session: &Name) -> Result<Option<Status>> {
        if !self.is_there(session)? {
            return Ok(None);
        }
        Ok(Some(Status {
            winner: self.standing(session)?.map(|(winner, _)| winner.agent),
            agents: self.layout.agents(session)?,
            results: self.layout.results(session)?,
        }))
    }

    fn list(&self) -> Result<Vec<Name>> {
        let mut sessions = Vec::new();
        for session in self.layout.sessions()? {
            // What is no session, or no longer there, is nobody's to be told about.
            if self.is_there(&session).unwrap_or(false) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    fn remove(&self, session: &Name) -> Result<bool> {
        if !self.layout.is_there(session)? {
            return Ok(false);
        }
        let gone = self.layout.lock(session)?.discard()?;
        gone.as_deref().map_or(Ok(()), fsx::remove_tree)?;
        Ok(gone.is_some())
    }

    fn watch<'a>(&'a self, session: &'a Name) -> Box<dyn Watch + 'a> {
        Box::new(watch::DirWatch::new(self.layout.watched(session)))
    }
}
