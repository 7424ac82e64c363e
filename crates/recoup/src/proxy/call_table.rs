//! Requests between client and server that are not answered yet.

use std::collections::{HashMap, HashSet};

use recoup_core::base::clock::Stopwatch;
use recoup_core::key::EntryId;
use serde_json::value::RawValue;

use super::message::normal_id;
use crate::toolbox::{CachedCall, CallTicket, ToolPermit};

/// Cancelled requests that are remembered, to drop their late answers.
const MAX_CANCELLED: usize = 1024;

/// Requests of both sides, by [`normal_id`].
#[derive(Debug, Default)]
pub(super) struct CallTable {
    pending: HashMap<String, CallsOfId>,
    cancelled: HashSet<String>,
    /// Ids under which the server has asked for the client's roots.
    root_requests: HashSet<String>,
    last_serial: u64,
    /// Threads that look something up.
    pub(super) workers: usize,
    pub(super) era: ClientEra,
    pub(super) own_list: OwnToolList,
}

/// Requests under one id: only one, unless the client uses an id again before it is answered.
#[derive(Debug, Default)]
struct CallsOfId {
    calls: Vec<PendingCall>,
    /// Answers so far, which may be to any of them.
    answers: usize,
}

/// A request of the client.
#[derive(Debug)]
pub(super) struct PendingCall {
    /// Tells it from an earlier request with the same id.
    serial: u64,
    pub(super) method: String,
    /// Parameters, where the answer is read with them.
    pub(super) params: Option<Box<RawValue>>,
    pub(super) began: Stopwatch,
    pub(super) ticket: Option<CallTicket>,
    pub(super) stage: CallStage,
    /// True if another request has or had the same id: its result is not kept.
    pub(super) is_ambiguous: bool,
    /// The entry that answers it, for calls that go through the cache.
    entry: Option<EntryId>,
    /// Token under which the client wants to hear of progress.
    progress_token: Option<String>,
}

/// How far a request has come.
#[derive(Debug)]
pub(super) enum CallStage {
    /// A thread looks for its result, or waits for somebody else's.
    Waiting,
    /// The server has it; with a permit its result is kept.
    Sent(Option<Box<KeptCall>>),
}

/// A call whose result is kept, and the permit for it.
#[derive(Debug)]
pub(super) struct KeptCall {
    pub(super) cached: Box<CachedCall>,
    pub(super) permit: ToolPermit,
}

/// State of the client's conversation, which decides how the proxy may ask for itself.
#[derive(Debug, Default)]
pub(super) struct ClientEra {
    /// `_meta` of the newer protocol, without what belongs to one request.
    pub(super) meta: Option<String>,
    /// True once the client has said that it is initialized.
    pub(super) is_initialized: bool,
    /// True once the server has answered anything.
    pub(super) has_answer: bool,
}

impl ClientEra {
    /// True if a request of our own is no surprise to the server.
    pub(super) fn allows_own_requests(&self) -> bool {
        self.has_answer && (self.is_initialized || self.meta.is_some())
    }
}

/// The proxy's own request for the server's tools.
#[derive(Debug, Default)]
pub(super) struct OwnToolList {
    /// Id and parameters of the page that is asked for.
    pub(super) asked: Option<(String, Box<RawValue>)>,
    /// Number of requests so far.
    pub(super) count: u64,
    /// True after a failure: the server is not asked again.
    pub(super) has_failed: bool,
}

/// The request behind an answer of the server.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it for an answer")]
pub(super) enum AnsweredRequest {
    Known(PendingCall),
    /// The last answer to several requests with the same id.
    Ambiguous(Vec<PendingCall>),
    /// None that we know: the answer passes.
    Unknown,
    /// Nobody waits for the answer.
    Cancelled,
}

/// Effect of a cancellation.
#[derive(Debug)]
pub(super) enum CancelledCall {
    /// The server has the request, or knows of it: it is told.
    AtServer(Vec<PendingCall>),
    /// The server never saw it.
    NeverSent(Vec<PendingCall>),
}

impl PendingCall {
    pub(super) fn new(method: &str, ticket: Option<CallTicket>) -> Self {
        Self {
            serial: 0,
            method: method.to_owned(),
            params: None,
            began: Stopwatch::start(),
            ticket,
            stage: CallStage::Sent(None),
            is_ambiguous: false,
            entry: None,
            progress_token: None,
        }
    }

    fn is_sent(&self) -> bool {
        matches!(self.stage, CallStage::Sent(_))
    }

    fn take_permit(&mut self) -> Option<ToolPermit> {
        match &mut self.stage {
            CallStage::Sent(kept) => kept.take().map(|kept| kept.permit),
            CallStage::Waiting => None,
        }
    }

    /// Tells which entry answers it.
    pub(super) fn set_entry(&mut self, entry: &EntryId) {
        self.entry = Some(entry.clone());
    }

    /// A call that waits for its result.
    pub(super) fn waiting(mut self, entry: Option<&EntryId>, token: Option<&RawValue>) -> Self {
        self.stage = CallStage::Waiting;
        self.entry = entry.cloned();
        self.progress_token = token.map(|token| token.get().to_owned());
        self
    }
}

impl CallTable {
    /// Adds a request, and returns its serial number, and the permits of earlier requests with the
    /// same id: which answer belongs to which is not known.
    pub(super) fn insert(&mut self, id: &str, mut call: PendingCall) -> (u64, Vec<ToolPermit>) {
        let id = normal_id(id);
        self.cancelled.remove(&*id);
        self.last_serial += 1;
        call.serial = self.last_serial;
        let same = self.pending.entry(id.into_owned()).or_default();
        call.is_ambiguous = !same.calls.is_empty();
        same.calls.iter_mut().for_each(|call| call.is_ambiguous = true);
        let permits = same.calls.iter_mut().filter_map(PendingCall::take_permit).collect();
        same.calls.push(call);
        (self.last_serial, permits)
    }

    /// The request, if it was neither cancelled nor answered.
    pub(super) fn get_mut(&mut self, id: &str, serial: u64) -> Option<&mut PendingCall> {
        let same = self.pending.get_mut(&*normal_id(id))?;
        same.calls.iter_mut().find(|call| call.serial == serial)
    }

    /// Takes the request out, if it was neither cancelled nor answered.
    pub(super) fn take(&mut self, id: &str, serial: u64) -> Option<PendingCall> {
        let id = normal_id(id);
        let same = self.pending.get_mut(&*id)?;
        let at = same.calls.iter().position(|call| call.serial == serial)?;
        let call = same.calls.remove(at);
        if same.answers >= same.calls.len() {
            self.pending.remove(&*id);
        }
        Some(call)
    }

    /// Takes out the request that the server answers.
    pub(super) fn take_answered(&mut self, id: &str) -> AnsweredRequest {
        self.era.has_answer = true;
        let id = normal_id(id);
        if self.cancelled.remove(&*id) {
            return AnsweredRequest::Cancelled;
        }
        let Some(same) = self.pending.get_mut(&*id) else { return AnsweredRequest::Unknown };
        if !same.calls.iter().any(PendingCall::is_sent) {
            return AnsweredRequest::Unknown;
        }
        same.answers += 1;
        if same.answers < same.calls.len() {
            return AnsweredRequest::Unknown;
        }
        let mut calls = self.pending.remove(&*id).map(|same| same.calls).unwrap_or_default();
        match calls.pop_if(|call| !call.is_ambiguous) {
            Some(call) => AnsweredRequest::Known(call),
            None => AnsweredRequest::Ambiguous(calls),
        }
    }

    /// Forgets a request that the client has cancelled.
    pub(super) fn cancel(&mut self, id: &str) -> CancelledCall {
        let id = normal_id(id);
        let calls = self.pending.remove(&*id).map(|same| same.calls).unwrap_or_default();
        if !calls.is_empty() && !calls.iter().any(PendingCall::is_sent) {
            return CancelledCall::NeverSent(calls);
        }
        if !calls.is_empty() && self.cancelled.len() < MAX_CANCELLED {
            self.cancelled.insert(id.into_owned());
        }
        CancelledCall::AtServer(calls)
    }

    /// Takes the permits of all calls: their results are not kept.
    pub(super) fn take_permits(&mut self) -> Vec<ToolPermit> {
        let calls = self.pending.values_mut().flat_map(|same| &mut same.calls);
        calls.filter_map(PendingCall::take_permit).collect()
    }

    /// Tokens of the calls that wait for the one with this token.
    pub(super) fn followers(&self, token: &str) -> Vec<String> {
        let token = normal_id(token);
        let is_leader = |call: &&PendingCall| {
            call.progress_token.as_deref().is_some_and(|it| normal_id(it) == token)
                && matches!(call.stage, CallStage::Sent(Some(_)))
        };
        let calls = || self.pending.values().flat_map(|same| &same.calls);
        let Some(leader) = calls().find(is_leader) else { return Vec::new() };
        let waits = |call: &&PendingCall| {
            matches!(call.stage, CallStage::Waiting) && call.entry == leader.entry
        };
        calls().filter(waits).filter_map(|call| call.progress_token.clone()).collect()
    }

    /// Notes that the server asks for the client's roots.
    pub(super) fn ask_for_roots(&mut self, id: &str) {
        self.root_requests.insert(normal_id(id).into_owned());
    }

    /// True if this is the client's answer to that.
    pub(super) fn take_roots_request(&mut self, id: &str) -> bool {
        self.root_requests.remove(&*normal_id(id))
    }
}
