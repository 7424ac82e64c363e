//! The thread that renews each claim every third of its lease, and releases dropped ones. It ends
//! with its last handle.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use redis::Value;

use super::claims::{millis, release_claim};
use super::pool::RedisPool;
use super::scripts::{self, eval};
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, Result};

/// A claim: its key on the server, and the token that proves ownership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClaimToken {
    pub(super) name: String,
    pub(super) token: String,
}

/// Starts the thread when it is first needed.
#[derive(Debug)]
pub(super) struct ClaimRenewer {
    line: Arc<RedisPool>,
    lease: Duration,
    running: Mutex<Option<RenewerHandle>>,
}

/// Handle of the thread.
#[derive(Debug, Clone)]
pub(super) struct RenewerHandle(Sender<RenewerMessage>);

#[derive(Debug)]
enum RenewerMessage {
    Keep(ClaimToken),
    Forget(ClaimToken),
    Release(ClaimToken),
}

impl ClaimRenewer {
    pub(super) fn new(line: Arc<RedisPool>, lease: Duration) -> Self {
        Self { line, lease, running: Mutex::default() }
    }

    /// Starts the thread if necessary, and returns its handle.
    pub(super) fn ensure_running(&self) -> Result<RenewerHandle> {
        // Replaced as a whole; no panic leaves half of it.
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = &*running {
            return Ok(handle.clone());
        }
        let (sender, words) = mpsc::channel();
        let (line, lease) = (Arc::clone(&self.line), self.lease);
        let keeping = move || RenewalLoop { line, lease, held: Vec::new() }.run(&words);
        let thread = thread::Builder::new().name("recoup-claims".to_owned());
        thread.spawn(keeping).map_err(|error| {
            let message = "claims can't be renewed: no thread";
            Error::new(ErrorKind::Unavailable, message).with_source(error)
        })?;
        Ok(running.insert(RenewerHandle(sender)).clone())
    }
}

/// Send errors are ignored: claims of a dead thread expire.
impl RenewerHandle {
    pub(super) fn keep(&self, hold: &ClaimToken) {
        let _ = self.0.send(RenewerMessage::Keep(hold.clone()));
    }

    pub(super) fn forget(&self, hold: &ClaimToken) {
        let _ = self.0.send(RenewerMessage::Forget(hold.clone()));
    }

    pub(super) fn release(&self, hold: &ClaimToken) {
        let _ = self.0.send(RenewerMessage::Release(hold.clone()));
    }
}

/// State of the thread.
struct RenewalLoop {
    line: Arc<RedisPool>,
    lease: Duration,
    /// Held claims, each with the time of its next renewal.
    held: Vec<(ClaimToken, Deadline)>,
}

impl RenewalLoop {
    /// Runs until all handles are dropped.
    fn run(mut self, words: &Receiver<RenewerMessage>) {
        loop {
            self.renew_due();
            match self.next(words) {
                Ok(RenewerMessage::Keep(hold)) => self.held.push((hold, self.next_renewal())),
                Ok(RenewerMessage::Forget(hold)) => self.drop_held(&hold),
                Ok(RenewerMessage::Release(hold)) => {
                    self.drop_held(&hold);
                    // Best effort: the claim expires anyway.
                    let _ = release_claim(&self.line, &hold);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn next(&self, words: &Receiver<RenewerMessage>) -> Result<RenewerMessage, RecvTimeoutError> {
        match self.held.iter().map(|(_, due)| due.remaining()).min() {
            Some(time) => words.recv_timeout(time),
            None => words.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn next_renewal(&self) -> Deadline {
        Deadline::after(self.lease / 3)
    }

    fn drop_held(&mut self, hold: &ClaimToken) {
        self.held.retain(|(held, _)| held != hold);
    }

    /// Renews due claims. Lost ones are dropped; after an error they are tried again.
    fn renew_due(&mut self) {
        let due: Vec<ClaimToken> = self
            .held
            .iter()
            .filter(|(_, due)| due.has_passed())
            .map(|(hold, _)| hold.clone())
            .collect();
        let commands = due.iter().map(|hold| {
            let mut command = eval(scripts::EXTEND, &[&hold.name]);
            command.arg(&hold.token).arg(millis(self.lease));
            command
        });
        let answers = self.line.query_each("renewing claims", commands.collect());
        let lost = |n: usize| answers.as_ref().is_ok_and(|all| all.get(n) == Some(&Value::Int(0)));
        for (n, hold) in due.iter().enumerate() {
            self.drop_held(hold);
            if !lost(n) {
                self.held.push((hold.clone(), self.next_renewal()));
            }
        }
    }
}
