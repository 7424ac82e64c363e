//! One client and one server, and what is known about the requests between them.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Upstream;
use super::client_output::ClientOutput;
use super::message::{MessageFields, ReadPiece, RequestParams};

/// Cancelled requests that are remembered, to drop their late answers.
const MAX_CANCELLED: usize = 1024;

/// The session.
#[derive(Debug)]
pub(super) struct ProxySession {
    client: ClientOutput,
    upstream: Upstream,
    calls: Mutex<CallTable>,
}

/// Requests that are not answered yet, by id as it is written.
#[derive(Debug, Default)]
struct CallTable {
    pending: HashMap<String, PendingCall>,
    cancelled: HashSet<String>,
}

/// A request of the client that was sent.
#[derive(Debug)]
struct PendingCall {}

impl ProxySession {
    pub(super) fn new(client: ClientOutput, upstream: Upstream) -> Self {
        Self { client, upstream, calls: Mutex::default() }
    }

    /// Handles a line of the client.
    pub(super) fn on_client_line(&self, line: &mut Vec<u8>) {
        if let Some(fields) = MessageFields::parse(line) {
            match (fields.method.as_deref(), fields.id) {
                (Some(_), Some(id)) => {
                    let mut calls = self.calls();
                    calls.cancelled.remove(id.get());
                    calls.pending.insert(id.get().to_owned(), PendingCall {});
                }
                (Some("notifications/cancelled"), None) => {
                    let params = RequestParams::parse(fields.params);
                    if let Some(id) = params.request_id {
                        self.calls().cancel(id.get());
                    }
                }
                _ => {}
            }
        }
        self.upstream.send(line);
    }

    /// Passes on part of a line of the client that is too long to be looked at.
    pub(super) fn on_client_part(&self, part: &[u8]) {
        self.upstream.send(part);
    }

    /// Handles a line of the server; false if the client does not read.
    pub(super) fn on_server_line(&self, line: &mut Vec<u8>) -> bool {
        let fields = MessageFields::parse(line);
        if let Some(id) = fields.as_ref().and_then(MessageFields::answered_id) {
            let mut calls = self.calls();
            calls.pending.remove(id);
            if calls.cancelled.remove(id) {
                return true;
            }
        }
        self.client.write(line)
    }

    /// Passes on part of a line of the server that is too long to be looked at. It may be any
    /// answer, so nothing that is pending is kept.
    pub(super) fn on_server_part(&self, part: &[u8], piece: ReadPiece) -> bool {
        self.client.write_part(part, piece == ReadPiece::LastPart)
    }

    /// Waits until every call that was not sent yet is.
    pub(super) fn await_calls(&self, _limit: Duration) {}

    /// Tells the server that nothing more comes.
    pub(super) fn close_server(&self) {
        self.upstream.close();
    }

    /// Tells the client that nothing more comes.
    pub(super) fn close_client(&self) {
        self.client.close();
    }

    /// Waits until results are stored.
    pub(super) fn finish(&self, _limit: Duration) {}

    fn calls(&self) -> MutexGuard<'_, CallTable> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallTable {
    /// Forgets a call, whose late answer nobody gets.
    fn cancel(&mut self, id: &str) {
        if self.pending.remove(id).is_some() && self.cancelled.len() < MAX_CANCELLED {
            self.cancelled.insert(id.to_owned());
        }
    }
}
