//! Connection pool with a deadline on everything: name resolution, connecting, the handshake, and
//! the whole answer, whichever cluster nodes are involved.
//!
//! An established connection to a single server enforces the deadline itself, and is used in place.
//! Everything else runs on a thread: what can hang there (a name server, the nodes of a cluster one
//! after the other) cannot be interrupted, but can be abandoned. A thread for every request would
//! double the cost of a look-up.

use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use redis::{Cmd, ErrorKind as Redis, RedisError, RedisResult, ServerErrorKind, Value};

use super::fault;
use super::link::Link;
use super::target::Target;
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, Result};

/// Maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// Connection pool of a server, shared by all callers.
pub(crate) struct Line {
    target: Arc<Target>,
    idle: Mutex<Vec<Link>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line").field(&self.target).finish()
    }
}

impl Line {
    pub(crate) fn new(target: Target) -> Self {
        Self { target: Arc::new(target), idle: Mutex::default() }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the answers to all commands, in order; the first error fails all.
    pub(super) fn ask(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        let answers = self.ask_each(doing, commands)?;
        let sound = answers.into_iter().map(Value::extract_error).collect::<RedisResult<_>>();
        sound.map_err(|error| {
            if error.kind() == Redis::Server(ServerErrorKind::ReadOnly) {
                // The server was the primary when we connected; its name may now resolve to the new
                // one.
                self.idle().clear();
            }
            fault::explain(&error, doing, self.target.password.as_deref())
        })
    }

    /// Returns the answers to writes, which must be integers: a server that says `OK` to everything
    /// has stored nothing.
    pub(crate) fn ask_numbers(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<i64>> {
        let number = |answer| match answer {
            Value::Int(number) => Ok(number),
            _ => Err(Self::not_redis(doing)),
        };
        self.ask(doing, commands)?.into_iter().map(number).collect()
    }

    /// The error for an answer that no Redis server gives to such a command.
    pub(crate) fn not_redis(doing: &str) -> Error {
        let message = "what answers there is no Redis: its answer is none that Redis gives";
        Error::new(ErrorKind::Unavailable, format!("{doing}: {message}"))
    }

    /// Like [`Self::ask`], with errors among the answers.
    pub(super) fn ask_each(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        self.with_link(doing, move |link, deadline| link.run(&commands, deadline))
    }

    /// Returns the answer to one command.
    pub(crate) fn ask_one(&self, doing: &str, command: Cmd) -> Result<Value> {
        let nothing = || Error::new(ErrorKind::Unavailable, format!("{doing}: no answer"));
        self.ask(doing, vec![command])?.pop().ok_or_else(nothing)
    }

    /// Runs `act` with a connection and a deadline. It may run twice: an idle connection may turn
    /// out to be closed.
    pub(super) fn with_link<T: Send + 'static>(
        &self,
        doing: &str,
        act: impl Fn(&mut Link, Deadline) -> RedisResult<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let (act, deadline) = (Arc::new(act), Deadline::after(self.target.timeout));
        if let Some(link) = self.take_idle() {
            match self.with_known(&act, link, deadline) {
                Err(Failed::Answered(error))
                    if fault::was_dropped(&error) && !deadline.passed() =>
                {
                    // The other idle ones are most likely closed too.
                    self.idle().clear();
                }
                done => return done.map_err(|failed| self.explain(doing, failed)),
            }
        }
        self.on_a_thread(&act, None, deadline).map_err(|failed| self.explain(doing, failed))
    }

    fn with_known<T: Send + 'static>(
        &self,
        act: &Arc<impl Fn(&mut Link, Deadline) -> RedisResult<T> + Send + Sync + 'static>,
        mut link: Link,
        deadline: Deadline,
    ) -> Result<T, Failed> {
        if !link.is_punctual() {
            return self.on_a_thread(act, Some(link), deadline);
        }
        let answer = act(&mut link, deadline).map_err(Failed::Answered)?;
        self.keep(link);
        Ok(answer)
    }

    /// Runs `act` on a thread, and keeps the connection if that succeeds.
    fn on_a_thread<T: Send + 'static>(
        &self,
        act: &Arc<impl Fn(&mut Link, Deadline) -> RedisResult<T> + Send + Sync + 'static>,
        link: Option<Link>,
        deadline: Deadline,
    ) -> Result<T, Failed> {
        let (target, act) = (Arc::clone(&self.target), Arc::clone(act));
        let (answer, arrived) = mpsc::sync_channel(1);
        let asking = move || {
            let connected = link.map_or_else(|| Link::connect(&target), Ok);
            let done = connected
                .and_then(|mut link| act(&mut link, deadline).map(|answer| (link, answer)));
            // The caller may have given up.
            let _ = answer.send(done);
        };
        thread::Builder::new()
            .name("recoup-redis".to_owned())
            .spawn(asking)
            .map_err(Failed::NoThread)?;
        match arrived.recv_timeout(deadline.remaining()) {
            Ok(Ok((link, answer))) => {
                self.keep(link);
                Ok(answer)
            }
            Ok(Err(error)) => Err(Failed::Answered(error)),
            Err(RecvTimeoutError::Timeout) => Err(Failed::TooLate),
            Err(RecvTimeoutError::Disconnected) => Err(Failed::Panicked),
        }
    }

    fn explain(&self, doing: &str, failed: Failed) -> Error {
        let unavailable = |what| Error::new(ErrorKind::Unavailable, format!("{doing}: {what}"));
        match failed {
            Failed::Answered(error) if !error.is_timeout() => {
                fault::explain(&error, doing, self.target.password.as_deref())
            }
            Failed::Answered(_) | Failed::TooLate => fault::too_late(doing, self.target.timeout),
            Failed::NoThread(error) => unavailable("no thread").with_source(error),
            Failed::Panicked => unavailable("the client failed"),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        // Connections are put in and taken out whole; no panic leaves half of one.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_idle(&self) -> Option<Link> {
        self.idle().pop()
    }

    fn keep(&self, link: Link) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push(link);
        }
    }
}

/// Why there is no answer.
enum Failed {
    Answered(RedisError),
    TooLate,
    NoThread(std::io::Error),
    Panicked,
}
