//! Connection pool with a deadline on everything: name resolution, connecting, the handshake, and
//! the whole answer, whichever cluster nodes are involved.
//!
//! An established connection to a single server enforces the deadline itself, and is used in place.
//! Everything else runs on a thread: what can hang there (a name server, the nodes of a cluster one
//! after the other) cannot be interrupted, but can be abandoned. A thread for every request would
//! double the cost of a look-up.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::{fmt, thread};

use parking_lot::Mutex;
use redis::{Cmd, ErrorKind as Redis, RedisError, RedisResult, ServerErrorKind, Value};

use super::connection::RedisConnection;
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;
use crate::store::RedisTarget;

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
                self.idle.lock().clear();
            }
            explain_error(&error, doing, self.target.password.as_deref())
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
        let message = "the server is not Redis: unexpected reply";
        Error::new(ErrorKind::Unavailable, format!("{doing}: {message}"))
    }

    /// Like [`Self::query_all`], with errors among the answers.
    pub(super) fn query_each(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        self.with_connection(doing, move |connection, deadline| connection.run(&commands, deadline))
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
        let idle = self.idle.lock().pop();
        if let Some(mut connection) = idle {
            let done = if connection.enforces_deadline() {
                act(&mut connection, deadline)
                    .inspect(|_| self.return_to_pool(connection))
                    .map_err(RequestFailure::Answered)
            } else {
                self.run_on_thread(&act, Some(connection), deadline)
            };
            match done {
                Err(RequestFailure::Answered(error))
                    // The connection is gone but not the server: an idle one may have been closed.
                    if (error.is_connection_dropped()
                        || error.is_unrecoverable_error() && !error.is_timeout())
                        && !deadline.has_passed() =>
                {
                    // The other idle ones are most likely closed too.
                    self.idle.lock().clear();
                }
                done => return done.map_err(|failed| self.explain(doing, failed)),
            }
        }
        self.run_on_thread(&act, None, deadline).map_err(|failed| self.explain(doing, failed))
    }

    /// Runs `act` on a thread, and keeps the connection if that succeeds.
    fn run_on_thread<T: Send + 'static>(
        &self,
        act: &Arc<
            impl Fn(&mut RedisConnection, Deadline) -> RedisResult<T> + Send + Sync + 'static,
        >,
        connection: Option<RedisConnection>,
        deadline: Deadline,
    ) -> Result<T, RequestFailure> {
        let (target, act) = (Arc::clone(&self.target), Arc::clone(act));
        let (answer, arrived) = mpsc::sync_channel(1);
        let asking = move || {
            let connected = connection.map_or_else(|| RedisConnection::connect(&target), Ok);
            let done = connected.and_then(|mut connection| {
                act(&mut connection, deadline).map(|answer| (connection, answer))
            });
            // The caller may have given up.
            let _ = answer.send(done);
        };
        thread::Builder::new()
            .name("recoup-redis".to_owned())
            .spawn(asking)
            .map_err(RequestFailure::NoThread)?;
        match arrived.recv_timeout(deadline.remaining()) {
            Ok(Ok((connection, answer))) => {
                self.return_to_pool(connection);
                Ok(answer)
            }
            Ok(Err(error)) => Err(RequestFailure::Answered(error)),
            Err(RecvTimeoutError::Timeout) => Err(RequestFailure::TooLate),
            Err(RecvTimeoutError::Disconnected) => Err(RequestFailure::Panicked),
        }
    }

    fn explain(&self, doing: &str, failed: RequestFailure) -> Error {
        let unavailable =
            |what: String| Error::new(ErrorKind::Unavailable, format!("{doing}: {what}"));
        match failed {
            RequestFailure::Answered(error) if !error.is_timeout() => {
                explain_error(&error, doing, self.target.password.as_deref())
            }
            RequestFailure::Answered(_) | RequestFailure::TooLate => {
                let millis = self.target.timeout.as_millis();
                unavailable(format!("no answer within {millis} ms"))
            }
            RequestFailure::NoThread(error) => {
                unavailable("cannot start a thread".to_owned()).with_source(error)
            }
            RequestFailure::Panicked => {
                unavailable("internal error in the Redis client".to_owned())
            }
        }
    }

    fn return_to_pool(&self, connection: RedisConnection) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(connection);
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

/// Adds what was being done, and what a caller can do about it. A server may repeat what it was
/// sent, so secrets and `password` are redacted.
pub(super) fn explain_error(error: &RedisError, doing: &str, password: Option<&str>) -> Error {
    use ServerErrorKind::{Ask, CrossSlot, Moved};
    let kind = kind_of(error);
    let words = match kind {
        ErrorKind::Full => format!("{doing}: the server has no room left"),
        // A cluster node redirects a client that does not know about the cluster.
        _ if matches!(error.kind(), Redis::Server(Ask | CrossSlot | Moved)) => {
            format!("{doing}: another node has that key; for a cluster, use a redis+cluster:// URL")
        }
        _ if error.kind() == Redis::Parse => {
            return Error::new(
                kind,
                format!("{doing}: the server does not speak the Redis protocol"),
            );
        }
        _ if error.kind() == Redis::ClusterConnectionNotFound => {
            format!("{doing}: the server is not a cluster; for a single server, use a redis:// URL")
        }
        _ => doing.to_owned(),
    };
    // The message includes that of its cause.
    let mut said = secrets::redact(&error.to_string()).into_owned();
    if let Some(password) = password.filter(|it| !it.is_empty() && said.contains(it)) {
        // A short password may be a part of any word, which would reveal it by its position.
        said = match password.len() {
            ..4 => "error hidden: it repeats the password".to_owned(),
            _ => said.replace(password, &format!("{}password]", secrets::REDACTED)),
        };
    }
    Error::new(kind, words).with_source(said)
}

fn kind_of(error: &RedisError) -> ErrorKind {
    match error.kind() {
        Redis::Io
        | Redis::AuthenticationFailed
        | Redis::ClusterConnectionNotFound
        // Anything may listen there if it does not speak the protocol.
        | Redis::Parse
        | Redis::UnexpectedReturnType
        // A cluster whose slots are not served or not known.
        | Redis::Client
        | Redis::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::TryAgain
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask,
        ) => ErrorKind::Unavailable,
        Redis::Server(ServerErrorKind::ReadOnly) => ErrorKind::ReadOnly,
        _ => match error.code().unwrap_or_default() {
            "OOM" => ErrorKind::Full,
            "WRONGTYPE" => ErrorKind::Corrupt,
            "NOAUTH" | "WRONGPASS" | "BUSY" | "UNBLOCKED" => ErrorKind::Unavailable,
            "MISCONF" | "NOREPLICAS" => ErrorKind::ReadOnly,
            _ => ErrorKind::Io,
        },
    }
}
