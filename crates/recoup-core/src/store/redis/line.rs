//! Asking a server, with a deadline on everything: looking up its name,
//! connecting, shaking hands, and each answer.
//!
//! A connection that has proved itself is used in place, with time-outs on its
//! socket. The first question of a new one is asked by a thread of its own: what
//! can hang there (a name server, a server that accepts and then says nothing)
//! can't all be interrupted, but it can be left behind.

use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use redis::{Cmd, RedisResult, Value};

use super::fault;
use super::link::Link;
use super::target::Target;
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, Result};

/// More than this many connections are not kept for later.
const MAX_IDLE: usize = 16;

/// The way to a server, shared by all who ask it.
pub(super) struct Line {
    target: Arc<Target>,
    idle: Mutex<Vec<Link>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line").field(&self.target).finish()
    }
}

impl Line {
    pub(super) fn new(target: Target) -> Self {
        Self { target: Arc::new(target), idle: Mutex::default() }
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// The answers to all commands, in order; the first that is an error fails all.
    pub(super) fn ask(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        let answers = self.ask_each(doing, commands)?;
        let sound = answers.into_iter().map(Value::extract_error).collect::<RedisResult<_>>();
        sound.map_err(|error| fault::explain(&error, doing))
    }

    /// The same with errors among the answers.
    pub(super) fn ask_each(&self, doing: &str, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        self.with_link(doing, move |link| link.run(&commands))
    }

    /// The answer to one command.
    pub(super) fn ask_one(&self, doing: &str, command: Cmd) -> Result<Value> {
        let nothing = || Error::new(ErrorKind::Unavailable, format!("{doing}: no answer"));
        self.ask(doing, vec![command])?.pop().ok_or_else(nothing)
    }

    /// Does something with a connection. It may be done twice: a connection that
    /// was idle may turn out to be closed.
    pub(super) fn with_link<T: Send + 'static>(
        &self,
        doing: &str,
        act: impl Fn(&mut Link) -> RedisResult<T> + Send + 'static,
    ) -> Result<T> {
        let deadline = Deadline::after(self.target.timeout);
        if let Some(mut link) = self.take_idle() {
            match act(&mut link) {
                Ok(answer) => {
                    self.keep(link);
                    return Ok(answer);
                }
                Err(error) if fault::was_dropped(&error) && !deadline.passed() => {
                    // Those that were opened with it are most likely closed too.
                    self.idle().clear();
                }
                Err(error) if error.is_timeout() => {
                    return Err(fault::too_late(doing, self.target.timeout));
                }
                Err(error) => return Err(fault::explain(&error, doing)),
            }
        }
        self.with_new_link(doing, act, deadline)
    }

    fn with_new_link<T: Send + 'static>(
        &self,
        doing: &str,
        act: impl Fn(&mut Link) -> RedisResult<T> + Send + 'static,
        deadline: Deadline,
    ) -> Result<T> {
        let (target, (answer, arrived)) = (Arc::clone(&self.target), mpsc::sync_channel(1));
        let asking = move || {
            let done = Link::connect(&target)
                .and_then(|mut link| act(&mut link).map(|answer| (link, answer)));
            // Nobody may be waiting any more.
            let _ = answer.send(done);
        };
        thread::Builder::new().name("recoup-redis".to_owned()).spawn(asking).map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("{doing}: no thread")).with_source(error)
        })?;
        match arrived.recv_timeout(deadline.remaining()) {
            Ok(Ok((link, answer))) => {
                self.keep(link);
                Ok(answer)
            }
            Ok(Err(error)) if !error.is_timeout() => Err(fault::explain(&error, doing)),
            Ok(Err(_)) | Err(RecvTimeoutError::Timeout) => {
                Err(fault::too_late(doing, self.target.timeout))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(Error::new(ErrorKind::Unavailable, format!("{doing}: the client failed")))
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        // Whole connections are put in and taken out; no panic leaves half of one.
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
