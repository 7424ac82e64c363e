//! One client and one server: which lines pass, which are answered from the cache, and what each
//! teaches about the server.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use recoup_core::base::clock::{Deadline, Stopwatch};
use recoup_core::cache::PeekOutcome;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Upstream;
use super::activity::{SessionActivity, growing_pauses};
use super::call_table::{
    AnsweredRequest, CallStage, CallTable, CancelledCall, KeptCall, PendingCall,
};
use super::client_output::ClientOutput;
use super::keeper::{AnsweredCall, ResultKeeper};
use super::message::{
    MessageFields, ReadPiece, RequestParams, error_line, looks_like_messages, normal_id,
};
use super::workers::WorkerThreads;
use crate::toolbox::{
    CachedCall, CallEnd, CallRoute, CallTicket, IDENTICAL_CALL_WAIT, PassReason, RootsState,
    ToolCache, ToolOutcome, ToolPermit,
};

/// Method that lists the tools.
const TOOLS_LIST: &str = "tools/list";
/// Method that calls a tool.
const TOOLS_CALL: &str = "tools/call";
/// Threads that look something up at once; further calls pass by the cache.
const MAX_WORKERS: usize = 64;
/// How long the answer to a call that writes is held until other processes serve nothing that it made
/// stale.
const MAX_ANSWER_DELAY: Duration = Duration::from_secs(1);
/// How long the end waits until entries are dropped that nobody may serve any more.
const MAX_DROP_WAIT: Duration = Duration::from_secs(5);
/// Time for the proxy's own `tools/list`, while a call waits for it.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);
/// Prefix of the proxy's own ids, which are strings that no client uses.
const OWN_ID: &str = "\"recoup:tools/list:";
/// JSON-RPC error code for a result that is not cached, and must not be asked for.
const NOT_CACHED_CODE: i32 = -32000;

/// The session.
#[derive(Debug)]
pub(super) struct ProxySession {
    client: ClientOutput,
    upstream: Upstream,
    caching: Option<Caching>,
    workers: WorkerThreads,
    calls: Mutex<CallTable>,
    /// Notified when a worker has ended, or the server's tools were told.
    changed: Condvar,
}

#[derive(Debug)]
struct Caching {
    cache: ToolCache,
    keeper: ResultKeeper,
}

/// Way of a request.
enum RequestStart {
    /// To the server.
    Send,
    /// The client has its answer.
    Answered,
    /// To a thread that looks for its result.
    Wait { serial: u64, cached: Option<PeekedCall> },
}

/// A request that a worker thread handles.
struct WaitingRequest {
    id: String,
    serial: u64,
    line: Vec<u8>,
    /// None if the server's tools have to be asked for first.
    cached: Option<PeekedCall>,
}

/// A call that is no hit, and what was found, if anybody has looked.
struct PeekedCall {
    call: Box<CachedCall>,
    first: Option<PeekOutcome>,
}

/// Counts a worker that has ended, also if it broke.
struct WorkerEnd<'a>(&'a ProxySession);

impl Drop for WorkerEnd<'_> {
    fn drop(&mut self) {
        self.0.calls().workers -= 1;
        self.0.changed.notify_all();
    }
}

/// The client's answer to `roots/list`.
#[derive(Deserialize)]
struct RootsAnswer {
    roots: Vec<ClientRoot>,
}

#[derive(Deserialize)]
struct ClientRoot {
    uri: String,
}

/// The part of a list that tells whether there is more.
#[derive(Deserialize)]
struct ListPage {
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

impl ProxySession {
    pub(super) fn new(client: ClientOutput, upstream: Upstream, cache: Option<ToolCache>) -> Self {
        let caching = cache.map(|cache| {
            let keeper = ResultKeeper::new(cache.clone());
            Caching { cache, keeper }
        });
        let (workers, calls, changed) =
            (WorkerThreads::default(), Mutex::default(), Condvar::new());
        Self { client, upstream, caching, workers, calls, changed }
    }

    /// Handles a line of the client.
    pub(super) fn on_client_line(self: &Arc<Self>, line: &mut Vec<u8>) {
        let Some(fields) = MessageFields::parse(line) else {
            if looks_like_messages(line) {
                self.note_unknown_write();
            }
            return self.upstream.send(line);
        };
        let params = RequestParams::parse(fields.params);
        let passes = match (fields.method.as_deref(), fields.id) {
            (Some(method), Some(id)) => {
                // The proxy's own requests are made as the client makes its.
                if params.request_meta().protocol_version.is_some() {
                    self.calls().era.meta = params.shared_meta();
                }
                match self.begin_request(method, id.get(), fields.params, &params) {
                    RequestStart::Send => true,
                    RequestStart::Answered => false,
                    RequestStart::Wait { serial, cached } => {
                        let id = id.get().to_owned();
                        let line = std::mem::take(line);
                        let request = WaitingRequest { id, serial, line, cached };
                        let this = Arc::clone(self);
                        return self.workers.run(move || {
                            let _end = WorkerEnd(&this);
                            this.look_up(request);
                        });
                    }
                }
            }
            (Some(method), None) => self.note_client_notification(method, &params, line),
            (None, Some(id)) => {
                self.note_client_answer(id.get(), fields.result);
                true
            }
            (None, None) => true,
        };
        if passes {
            self.upstream.send(line);
        }
    }

    /// Passes on part of a line of the client that is too long to be looked at.
    pub(super) fn on_client_part(&self, part: &[u8], piece: ReadPiece) {
        // Before its end, the server has no message.
        if piece == ReadPiece::LastPart {
            self.note_unknown_write();
        }
        self.upstream.send(part);
    }

    /// Drops all results: what the server is about to be told may be a call that writes.
    fn note_unknown_write(&self) {
        if let Some(caching) = &self.caching {
            caching.cache.note_unknown_write();
        }
    }

    /// Begins a request: it is sent, answered from the cache, or waits for a look-up.
    fn begin_request(
        &self,
        method: &str,
        id: &str,
        params: Option<&RawValue>,
        read: &RequestParams<'_>,
    ) -> RequestStart {
        let Some(Caching { cache, .. }) = &self.caching else {
            add_call(self.calls(), id, PendingCall::new(method, None));
            return RequestStart::Send;
        };
        let plan = cache.plan(method, params);
        if method == TOOLS_CALL && matches!(plan.route, CallRoute::Pass(PassReason::Malformed)) {
            // The server may see another tool in it.
            cache.note_unknown_write();
        }
        let token = read.request_meta().progress_token;
        let pending = |ticket: CallTicket| {
            let mut call = PendingCall::new(method, Some(ticket));
            call.params = params.filter(|_| method == TOOLS_LIST).map(ToOwned::to_owned);
            call
        };
        let mut calls = self.calls();
        let may_wait = calls.workers < MAX_WORKERS;
        let (mut call, cached) = match plan.route {
            CallRoute::Cached(call) => {
                drop(calls);
                let first = match call.peek() {
                    Ok(served) => {
                        self.client.write(&result_line(id, served.as_json()));
                        cache.finished(plan.ticket, &CallEnd::Hit(&served));
                        return RequestStart::Answered;
                    }
                    Err(first) => first,
                };
                calls = self.calls();
                let waiting = pending(plan.ticket).waiting(Some(call.id()), token);
                (waiting, Some(PeekedCall { call: Box::new(call), first }))
            }
            CallRoute::Pass(PassReason::UnlistedTool)
                if calls.era.allows_own_requests() && !calls.own_list.has_failed =>
            {
                drop(calls);
                let is_unlisted = cache.knows_tools();
                calls = self.calls();
                if is_unlisted {
                    add_call(calls, id, pending(plan.ticket));
                    return RequestStart::Send;
                }
                (pending(plan.ticket).waiting(None, token), None)
            }
            CallRoute::Pass(_) => {
                add_call(calls, id, pending(plan.ticket));
                return RequestStart::Send;
            }
        };
        if !may_wait {
            call.stage = CallStage::Sent(None);
            add_call(calls, id, call);
            return RequestStart::Send;
        }
        calls.workers += 1;
        RequestStart::Wait { serial: add_call(calls, id, call), cached }
    }

    /// Looks for the result of a request, and sends it if there is none.
    fn look_up(&self, mut request: WaitingRequest) {
        let Some(Caching { cache, .. }) = &self.caching else { return };
        if request.cached.is_none() {
            self.ask_for_tools(cache);
            if !self.plan_again(&mut request, cache) {
                return;
            }
        }
        let Some(PeekedCall { call: cached, first }) = request.cached.take() else {
            return self.send_waiting(&request, None);
        };
        match cached.lookup(first, IDENTICAL_CALL_WAIT) {
            Ok(ToolOutcome::Hit(served)) => {
                let call = self.calls().take(&request.id, request.serial);
                if let Some(PendingCall { ticket: Some(ticket), .. }) = call {
                    self.client.write(&result_line(&request.id, served.as_json()));
                    cache.finished(ticket, &CallEnd::Hit(&served));
                }
            }
            Ok(ToolOutcome::Miss(permit)) => {
                self.send_waiting(&request, Some(Box::new(KeptCall { cached, permit })));
            }
            Ok(ToolOutcome::Bypass) => self.send_waiting(&request, None),
            Err(error) => {
                let call = self.calls().take(&request.id, request.serial);
                if let Some(PendingCall { ticket: Some(ticket), .. }) = call {
                    let text = format!("recoup: {error}");
                    let line = error_line(&request.id, NOT_CACHED_CODE, &text, &Value::Null);
                    self.client.write(&line);
                    let end = CallEnd::Failed { bytes: line.len(), took: Duration::ZERO };
                    cache.finished(ticket, &end);
                }
            }
        }
    }

    /// Plans a call whose tool was not known; false if it was cancelled or is answered already.
    fn plan_again(&self, request: &mut WaitingRequest, cache: &ToolCache) -> bool {
        let Some(fields) = MessageFields::parse(&request.line) else { return true };
        let first = self.calls().get_mut(&request.id, request.serial).map(|it| it.ticket.take());
        // It ends what it began: an unknown tool may write.
        drop(first);
        cache.await_upkeep(MAX_ANSWER_DELAY);
        let plan = cache.plan(fields.method.as_deref().unwrap_or_default(), fields.params);
        let mut calls = self.calls();
        let Some(call) = calls.get_mut(&request.id, request.serial) else { return false };
        call.ticket = Some(plan.ticket);
        if let CallRoute::Cached(cached) = plan.route {
            call.set_entry(cached.id());
            request.cached = Some(PeekedCall { call: Box::new(cached), first: None });
        }
        true
    }

    /// Sends a request that has waited, unless it was cancelled meanwhile.
    fn send_waiting(&self, request: &WaitingRequest, mut kept: Option<Box<KeptCall>>) {
        self.upstream.send_if(&request.line, || {
            let mut calls = self.calls();
            let Some(call) = calls.get_mut(&request.id, request.serial) else { return false };
            call.began = Stopwatch::start();
            call.stage = CallStage::Sent(kept.take_if(|_| !call.is_ambiguous));
            true
        });
        if let Some(kept) = kept {
            kept.permit.release();
        }
    }

    /// Handles a notification of the client; false if it is not to be passed on any more.
    fn note_client_notification(
        &self,
        method: &str,
        params: &RequestParams<'_>,
        line: &[u8],
    ) -> bool {
        match method {
            "notifications/initialized" => self.calls().era.is_initialized = true,
            "notifications/roots/list_changed" => self.set_roots(RootsState::Unknown),
            "notifications/cancelled" => {
                let Some(id) = params.request_id else { return true };
                let cancelled = self.calls().cancel(id.get());
                let (cancelled, passes) = match cancelled {
                    CancelledCall::AtServer(calls) => (calls, true),
                    CancelledCall::NeverSent(calls) => (calls, false),
                };
                // The server hears of it first.
                if passes {
                    self.upstream.send(line);
                }
                for call in cancelled {
                    self.give_up(call);
                }
                return false;
            }
            _ => {}
        }
        true
    }

    fn give_up(&self, call: PendingCall) {
        // Dropped, not released: this thread does not wait for a store.
        drop(call.stage);
        if let (Some(ticket), Some(caching)) = (call.ticket, &self.caching) {
            caching.cache.finished(ticket, &CallEnd::Cancelled);
        }
    }

    /// Learns the client's roots from its answer to the server.
    fn note_client_answer(&self, id: &str, result: Option<&RawValue>) {
        if !self.calls().take_roots_request(id) {
            return;
        }
        let answer = result.and_then(|it| serde_json::from_str::<RootsAnswer>(it.get()).ok());
        self.set_roots(match answer {
            Some(answer) => {
                RootsState::Known(answer.roots.into_iter().map(|root| root.uri).collect())
            }
            None => RootsState::NotAsked,
        });
    }

    fn set_roots(&self, roots: RootsState) {
        if let Some(caching) = &self.caching {
            caching.cache.set_roots(roots);
        }
    }

    /// Handles a line of the server; false if the client does not read.
    pub(super) fn on_server_line(self: &Arc<Self>, line: &mut Vec<u8>) -> bool {
        let step = self.client.activity.begin();
        let Some(fields) = MessageFields::parse(line) else { return self.client.write(line) };
        if let Some(id) = fields.answered_id() {
            let own = normal_id(id);
            if own.starts_with(OWN_ID) {
                self.take_own_list(&own, fields.result);
                return true;
            }
            let answered = self.calls().take_answered(id);
            let (mut call, caching) = match (answered, &self.caching) {
                (AnsweredRequest::Known(call), Some(caching)) => (call, caching),
                (AnsweredRequest::Cancelled, _) => return true,
                (AnsweredRequest::Ambiguous(calls), _) => {
                    // Ends what they wrote, before the client hears of it.
                    drop(calls);
                    return self.client.write(line);
                }
                _ => return self.client.write(line),
            };
            let took = call.began.elapsed();
            // What the client may ask next depends on these.
            if let Some(result) = fields.result {
                caching.cache.learn_list(&call.method, call.params.as_deref(), result);
            }
            let has_written = call.ticket.as_mut().is_some_and(CallTicket::end_write);
            let answered = AnsweredCall { call, took, line: std::mem::take(line) };
            if !has_written {
                return self.pass_answer(answered);
            }
            // Nothing else waits for the store.
            let this = Arc::clone(self);
            self.workers.run(move || {
                let _step = step;
                if let Some(caching) = &this.caching {
                    caching.cache.await_upkeep(MAX_ANSWER_DELAY);
                }
                this.pass_answer(answered);
            });
            return true;
        }
        match (fields.method.as_deref(), fields.id, &self.caching) {
            (Some("roots/list"), Some(id), _) => {
                self.calls().ask_for_roots(id.get());
                self.set_roots(RootsState::Unknown);
            }
            (Some("notifications/progress"), None, _) => return self.pass_progress(&fields, line),
            // Before the client hears of it, and asks again.
            (Some(method), None, Some(caching)) => {
                caching.cache.server_changed(method, fields.params);
                if method == "notifications/tools/list_changed" {
                    self.calls().own_list.has_failed = false;
                }
            }
            _ => {}
        }
        self.client.write(line)
    }

    /// Passes an answer on, and keeps it afterwards.
    fn pass_answer(&self, answered: AnsweredCall) -> bool {
        let is_heard = self.client.write(&answered.line);
        if let Some(caching) = &self.caching {
            caching.keeper.keep(answered);
        }
        is_heard
    }

    /// Passes progress on, also to those who wait for the same result, under their own tokens.
    fn pass_progress(&self, fields: &MessageFields<'_>, line: &[u8]) -> bool {
        let token = RequestParams::parse(fields.params).progress_token;
        let followers = token.map(|token| self.calls().followers(token.get())).unwrap_or_default();
        let mut is_heard = self.client.write(line);
        if let (Some(token), Ok(text)) = (token, str::from_utf8(line)) {
            for follower in followers {
                is_heard =
                    self.client.write(replace_slice(text, token.get(), &follower).as_bytes());
            }
        }
        is_heard
    }

    /// Passes on part of a line of the server that is too long to be looked at. It may be the answer
    /// to any call, so none that is pending is kept.
    pub(super) fn on_server_part(&self, part: &[u8], piece: ReadPiece) -> bool {
        let _step = self.client.activity.begin();
        self.release_permits();
        self.client.write_part(part, piece == ReadPiece::LastPart)
    }

    fn release_permits(&self) {
        let permits = self.calls().take_permits();
        permits.into_iter().for_each(ToolPermit::release);
    }

    /// Asks the server for its tools, as the client would, and waits for them.
    fn ask_for_tools(&self, cache: &ToolCache) {
        let deadline = Deadline::after(LIST_TIMEOUT);
        if self.calls().own_list.asked.is_none() {
            self.send_own_list(None);
        }
        let mut calls = self.calls();
        while calls.own_list.asked.is_some() && !deadline.has_passed() {
            self.changed.wait_for(&mut calls, deadline.remaining());
        }
        drop(calls);
        let is_known = cache.knows_tools();
        self.calls().own_list.has_failed = !is_known;
    }

    fn send_own_list(&self, cursor: Option<&str>) {
        let mut calls = self.calls();
        let mut params = serde_json::Map::new();
        if let Some(meta) = calls.era.meta.as_deref().and_then(|it| serde_json::from_str(it).ok()) {
            params.insert("_meta".to_owned(), meta);
        }
        params.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
        let Ok(params) = serde_json::value::to_raw_value(&params) else { return };
        calls.own_list.count += 1;
        let id = format!("{OWN_ID}{}\"", calls.own_list.count);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{TOOLS_LIST}\",\"params\":{params}}}\n"
        );
        calls.own_list.asked = Some((id, params));
        drop(calls);
        self.upstream.send(line.as_bytes());
    }

    /// Takes a page of the server's tools that the proxy itself has asked for.
    fn take_own_list(&self, id: &str, result: Option<&RawValue>) {
        let asked = self.calls().own_list.asked.take_if(|(asked, _)| asked == id);
        if let (Some((_, params)), Some(result), Some(caching)) = (asked, result, &self.caching) {
            caching.cache.learn_list(TOOLS_LIST, Some(&params), result);
            let page = serde_json::from_str::<ListPage>(result.get()).ok();
            if let Some(cursor) = page.and_then(|page| page.next_cursor) {
                return self.send_own_list(Some(&cursor));
            }
        }
        self.changed.notify_all();
    }

    /// Waits until every request that was not sent yet is.
    pub(super) fn await_calls(&self, limit: Duration) {
        let deadline = Deadline::after(limit);
        let mut calls = self.calls();
        while calls.workers > 0 && !deadline.has_passed() {
            self.changed.wait_for(&mut calls, deadline.remaining());
        }
    }

    /// Tells the server that nothing more comes.
    pub(super) fn close_server(&self) {
        self.upstream.close();
    }

    /// Tells the client that nothing more comes, after what is on its way.
    pub(super) fn close_client(&self) {
        let deadline = Deadline::after(MAX_ANSWER_DELAY);
        for pause in growing_pauses() {
            if !self.client.activity.is_busy() || deadline.has_passed() {
                break;
            }
            thread::sleep(pause);
        }
        self.client.close();
    }

    /// Waits until results are kept. Calls that nobody will answer are others' to make.
    pub(super) fn finish(&self, limit: Duration) {
        self.release_permits();
        if let Some(caching) = &self.caching {
            caching.keeper.finish(limit);
            caching.cache.flush(MAX_DROP_WAIT);
        }
    }

    pub(super) fn activity(&self) -> Arc<SessionActivity> {
        Arc::clone(&self.client.activity)
    }

    fn calls(&self) -> MutexGuard<'_, CallTable> {
        self.calls.lock()
    }
}

/// Adds a request, and returns its serial number. An id that is in use already means that
/// neither request's result is kept.
fn add_call(mut calls: MutexGuard<'_, CallTable>, id: &str, call: PendingCall) -> u64 {
    let (serial, permits) = calls.insert(id, call);
    drop(calls);
    drop(permits);
    serial
}

fn result_line(id: &str, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}

/// `text` with another text in the place of its slice `part`.
fn replace_slice(text: &str, part: &str, with: &str) -> String {
    let begin = part.as_ptr().addr() - text.as_ptr().addr();
    format!("{}{with}{}", &text[..begin], &text[begin + part.len()..])
}
