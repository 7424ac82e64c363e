//! Results are kept and calls logged on a thread of their own, after the client has its answer.

use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use recoup_core::base::clock::Deadline;

use super::call_table::{CallStage, KeptCall, PendingCall};
use super::message::MessageFields;
use crate::toolbox::{CallEnd, ToolCache};

/// Answers that wait. If there are more, they are not kept.
const MAX_WAITING: usize = 64;
/// Length of answers that do not wait, so that they do not add up.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// Interval of checks for the end.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// An answered call.
#[derive(Debug)]
pub(super) struct AnsweredCall {
    pub(super) call: PendingCall,
    pub(super) took: Duration,
    /// The server's answer.
    pub(super) line: Vec<u8>,
}

/// The thread, started with the first answer.
#[derive(Debug)]
pub(super) struct ResultKeeper {
    cache: ToolCache,
    running: Mutex<Option<(SyncSender<AnsweredCall>, JoinHandle<()>)>>,
}

impl ResultKeeper {
    pub(super) fn new(cache: ToolCache) -> Self {
        Self { cache, running: Mutex::default() }
    }

    /// Hands over an answered call.
    pub(super) fn keep(&self, answered: AnsweredCall) {
        if answered.line.len() > MAX_WAITING_BYTES {
            return keep_result(&self.cache, answered);
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (queue, _) = running.get_or_insert_with(|| {
            let (queue, answers) = mpsc::sync_channel(MAX_WAITING);
            let cache = self.cache.clone();
            let keep_all = move || answers.into_iter().for_each(|it| keep_result(&cache, it));
            (queue, thread::spawn(keep_all))
        });
        // A store that is slow must not slow down answers.
        if let Err(TrySendError::Full(answered) | TrySendError::Disconnected(answered)) =
            queue.try_send(answered)
        {
            drop(answered);
        }
    }

    /// Waits until everything is kept.
    pub(super) fn finish(&self, limit: Duration) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((queue, thread)) = running else { return };
        drop(queue);
        let deadline = Deadline::after(limit);
        while !thread.is_finished() && !deadline.has_passed() {
            thread::sleep(CHECK_INTERVAL);
        }
    }
}

fn keep_result(cache: &ToolCache, answered: AnsweredCall) {
    let AnsweredCall { call, took, line } = answered;
    let Some(fields) = MessageFields::parse(&line) else { return };
    if let CallStage::Sent(Some(kept)) = call.stage {
        let KeptCall { cached, permit } = *kept;
        match fields.result {
            Some(result) => cached.store(permit, result, took),
            None => permit.release(),
        }
    }
    let Some(ticket) = call.ticket else { return };
    cache.finished(
        ticket,
        &match fields.result {
            Some(result) => CallEnd::Answered { result, took },
            None => CallEnd::Failed { bytes: line.len(), took },
        },
    );
}
