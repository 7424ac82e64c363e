//! Results are kept and calls logged on a thread of their own, after the client has its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::base::clock::Deadline;

use super::activity::growing_pauses;
use super::call_table::{CallStage, KeptCall, PendingCall};
use super::message::MessageFields;
use crate::toolbox::{CallEnd, ToolCache};

/// Answers that wait. If there are more, they are not kept.
const MAX_WAITING: usize = 64;
/// Their bytes.
const MAX_WAITING_BYTES: usize = 64 << 20;
/// Length of an answer that is kept.
const MAX_KEPT_BYTES: usize = 32 << 20;

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
    waiting_bytes: Arc<AtomicUsize>,
    running: Mutex<Option<(SyncSender<AnsweredCall>, JoinHandle<()>)>>,
}

impl ResultKeeper {
    pub(super) fn new(cache: ToolCache) -> Self {
        Self { cache, waiting_bytes: Arc::default(), running: Mutex::default() }
    }

    /// Hands over an answered call.
    pub(super) fn keep(&self, mut answered: AnsweredCall) {
        let len = answered.line.len();
        if len > MAX_KEPT_BYTES {
            // Only logged, and here: it must not wait beside the next one.
            if let CallStage::Sent(kept) = &mut answered.call.stage
                && let Some(kept) = kept.take()
            {
                kept.permit.release();
            }
            return keep_result(&self.cache, answered);
        }
        // A store that is slow must not slow down answers.
        if self.waiting_bytes.fetch_add(len, Ordering::Relaxed) > MAX_WAITING_BYTES {
            self.waiting_bytes.fetch_sub(len, Ordering::Relaxed);
            return;
        }
        let mut running = self.running.lock();
        let (queue, _) = running.get_or_insert_with(|| {
            let (queue, answers) = mpsc::sync_channel::<AnsweredCall>(MAX_WAITING);
            let (cache, waiting_bytes) = (self.cache.clone(), Arc::clone(&self.waiting_bytes));
            let keep_all = move || {
                while let Ok(answered) = answers.recv() {
                    let len = answered.line.len();
                    keep_result(&cache, answered);
                    waiting_bytes.fetch_sub(len, Ordering::Relaxed);
                }
            };
            (queue, thread::spawn(keep_all))
        });
        if queue.try_send(answered).is_err() {
            self.waiting_bytes.fetch_sub(len, Ordering::Relaxed);
        }
    }

    /// Waits until everything is kept.
    pub(super) fn finish(&self, limit: Duration) {
        let running = self.running.lock().take();
        let Some((queue, thread)) = running else { return };
        drop(queue);
        let deadline = Deadline::after(limit);
        for pause in growing_pauses() {
            if thread.is_finished() || deadline.has_passed() {
                break;
            }
            thread::sleep(pause);
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
