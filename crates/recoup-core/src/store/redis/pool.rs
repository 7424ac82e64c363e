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

use super::connection::RedisConnection;
use super::fault;
use super::target::RedisTarget;
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, Result};

/// Maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// Connection pool of a server, shared by all callers.
pub(crate) struct RedisPool {
    target: Arc<RedisTarget>,
    idle: Mutex<Vec<RedisConnection>>,
}

impl fmt::Debug for RedisPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line").field(&self.target).finish()
    }
}

impl RedisPool {
    pub(crate) fn new(target: RedisTarget) -> Self {
        Self { target: Arc::new(target), idle: Mutex::default() }
    }

    pub(crate) fn target(&self) -> &RedisTarget {
        &self.target
    }

    /// Returns the answers to all commands, in order; the first error fails all.
    pub(super) fn query_all(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        let answers = self.query_each(doing, commands)?;
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
    pub(crate) fn query_numbers(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<i64>> {
        let number = |answer| match answer {
            Value::Int(number) => Ok(number),
            _ => Err(Self::not_redis_error(doing)),
        };
        self.query_all(doing, commands)?.into_iter().map(number).collect()
    }

    /// The error for an answer that no Redis server gives to such a command.
    pub(crate) fn not_redis_error(doing: &str) -> Error {
        let message = "what answers there is no Redis: its answer is none that Redis gives";
        Error::new(ErrorKind::Unavailable, format!("{doing}: {message}"))
    }

    /// Like [`Self::query_all`], with errors among the answers.
    pub(super) fn query_each(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        self.with_connection(doing, move |link, deadline| link.run(&commands, deadline))
    }

    /// Returns the answer to one command.
    pub(crate) fn query_one(&self, doing: &str, command: Cmd) -> Result<Value> {
        let nothing = || Error::new(ErrorKind::Unavailable, format!("{doing}: no answer"));
        self.query_all(doing, vec![command])?.pop().ok_or_else(nothing)
    }

    /// Runs `act` with a connection and a deadline. It may run twice: an idle connection may turn
    /// out to be closed.
    pub(super) fn with_connection<T: Send + 'static>(
        &self,
        doing: &str,
        act: impl Fn(&mut RedisConnection, Deadline) -> RedisResult<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let (act, deadline) = (Arc::new(act), Deadline::after(self.target.timeout));
        if let Some(link) = self.take_idle() {
            match self.run_on_idle(&act, link, deadline) {
                Err(RequestFailure::Answered(error))
                    if fault::was_dropped(&error) && !deadline.has_passed() =>
                {
                    // The other idle ones are most likely closed too.
                    self.idle().clear();
                }
                done => return done.map_err(|failed| self.explain(doing, failed)),
            }
        }
        self.run_on_thread(&act, None, deadline).map_err(|failed| self.explain(doing, failed))
    }

    fn run_on_idle<T: Send + 'static>(
        &self,
        act: &Arc<
            impl Fn(&mut RedisConnection, Deadline) -> RedisResult<T> + Send + Sync + 'static,
        >,
        mut link: RedisConnection,
        deadline: Deadline,
    ) -> Result<T, RequestFailure> {
        if !link.enforces_deadline() {
            return self.run_on_thread(act, Some(link), deadline);
        }
        let answer = act(&mut link, deadline).map_err(RequestFailure::Answered)?;
        self.return_to_pool(link);
        Ok(answer)
    }

    /// Runs `act` on a thread, and keeps the connection if that succeeds.
    fn run_on_thread<T: Send + 'static>(
        &self,
        act: &Arc<
            impl Fn(&mut RedisConnection, Deadline) -> RedisResult<T> + Send + Sync + 'static,
        >,
        link: Option<RedisConnection>,
        deadline: Deadline,
    ) -> Result<T, RequestFailure> {
        let (target, act) = (Arc::clone(&self.target), Arc::clone(act));
        let (answer, arrived) = mpsc::sync_channel(1);
        let asking = move || {
            let connected = link.map_or_else(|| RedisConnection::connect(&target), Ok);
            let done = connected
                .and_then(|mut link| act(&mut link, deadline).map(|answer| (link, answer)));
            // The caller may have given up.
            let _ = answer.send(done);
        };
        thread::Builder::new()
            .name("recoup-redis".to_owned())
            .spawn(asking)
            .map_err(RequestFailure::NoThread)?;
        match arrived.recv_timeout(deadline.remaining()) {
            Ok(Ok((link, answer))) => {
                self.return_to_pool(link);
                Ok(answer)
            }
            Ok(Err(error)) => Err(RequestFailure::Answered(error)),
            Err(RecvTimeoutError::Timeout) => Err(RequestFailure::TooLate),
            Err(RecvTimeoutError::Disconnected) => Err(RequestFailure::Panicked),
        }
    }

    fn explain(&self, doing: &str, failed: RequestFailure) -> Error {
        let unavailable = |what| Error::new(ErrorKind::Unavailable, format!("{doing}: {what}"));
        match failed {
            RequestFailure::Answered(error) if !error.is_timeout() => {
                fault::explain(&error, doing, self.target.password.as_deref())
            }
            RequestFailure::Answered(_) | RequestFailure::TooLate => {
                fault::timeout_error(doing, self.target.timeout)
            }
            RequestFailure::NoThread(error) => unavailable("no thread").with_source(error),
            RequestFailure::Panicked => unavailable("the client failed"),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<RedisConnection>> {
        // Connections are put in and taken out whole; no panic leaves half of one.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_idle(&self) -> Option<RedisConnection> {
        self.idle().pop()
    }

    fn return_to_pool(&self, link: RedisConnection) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push(link);
        }
    }
}

/// Why there is no answer.
enum RequestFailure {
    Answered(RedisError),
    TooLate,
    NoThread(std::io::Error),
    Panicked,
}
