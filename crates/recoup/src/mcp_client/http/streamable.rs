//! Streamable HTTP: each message is a POST, whose answer is JSON or a stream of events. A stream that
//! breaks off is resumed, and a session that the server has lost is begun anew, as a client would.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::fault::HttpFault;
use super::headers::{ToolHeaders, is_modern, standard_headers};
use super::{HttpServerOptions, OutgoingMessage, into_line};
use crate::http::{REFUSAL_TIMEOUT, read_body};
use crate::llm::sse::EventParser;
use crate::mcp_client::message::{MessageFields, error_line, looks_like_messages, normal_id};
use crate::mcp_client::{EndListener, guard};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Both forms of an answer.
const ACCEPTED_TYPES: &str = "application/json, text/event-stream";
/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 256 << 20;
/// Pause before a stream is resumed, if the server names none.
const RESUME_PAUSE: Duration = Duration::from_secs(1);
/// Successive attempts to resume a stream without an event in between.
const MAX_RESUMES: u32 = 5;
/// Time limit for messages that others wait for, and for a new session.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the rest of a stream after its answer, so that the connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);
/// JSON-RPC error code for faults between us and the server.
const FAULT_CODE: i32 = -32000;

/// The server's way of speaking HTTP.
#[derive(Debug, Clone)]
enum HttpMode {
    /// Nothing was answered yet.
    Undecided,
    Streamable,
    /// The older transport, with the address for messages.
    Older(Url),
}

/// State that requests share.
#[derive(Debug)]
struct HttpSessionState {
    mode: HttpMode,
    id: Option<HeaderValue>,
    version: Option<String>,
    /// Number of sessions so far.
    generation: u64,
    /// The client's `initialize`, to begin anew.
    initialize: Option<OutgoingMessage>,
    tools: ToolHeaders,
    running: HashMap<String, AbortHandle>,
    /// Calls over the older transport whose answer comes over its stream.
    older_calls: HashMap<String, oneshot::Sender<()>>,
    listener: Option<AbortHandle>,
}

/// A connection to one server.
pub(super) struct HttpConnection {
    pub(super) client: Client,
    pub(super) options: HttpServerOptions,
    pub(super) on_end: EndListener,
    to_client: mpsc::Sender<Vec<u8>>,
    state: Mutex<HttpSessionState>,
    renewing: tokio::sync::Mutex<()>,
}

/// The server's answer to a POST.
enum HttpReply {
    /// Nothing more comes.
    Accepted,
    Json(Vec<u8>),
    Events(Response),
}

impl HttpConnection {
    pub(super) fn new(
        client: Client,
        options: HttpServerOptions,
        to_client: mpsc::Sender<Vec<u8>>,
        on_end: EndListener,
    ) -> Self {
        let state = HttpSessionState {
            mode: HttpMode::Undecided,
            id: None,
            version: None,
            generation: 0,
            initialize: None,
            tools: ToolHeaders::default(),
            running: HashMap::new(),
            older_calls: HashMap::new(),
            listener: None,
        };
        let (state, renewing) = (Mutex::new(state), tokio::sync::Mutex::default());
        Self { client, options, on_end, to_client, state, renewing }
    }

    /// Sends what is queued until the queue is closed.
    pub(super) async fn run(self: Arc<Self>, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
        let mut calls = JoinSet::new();
        while let Some(line) = queue.recv().await {
            while calls.try_join_next().is_some() {}
            let message = OutgoingMessage::new(line);
            if message.body.is_empty() {
                continue;
            }
            if message.version.is_some() {
                self.state().version.clone_from(&message.version);
            }
            if matches!(self.state().mode, HttpMode::Undecided) {
                self.begin(message, &mut calls).await;
            } else if message.method == "notifications/initialized" {
                // What follows must find the session ready.
                let _ = timeout(CONTROL_TIMEOUT, Arc::clone(&self).deliver(message)).await;
                self.listen();
            } else if !self.cancel_by_closing(&message) {
                self.spawn(message, &mut calls);
            }
        }
        let _ =
            timeout(guard::TERM_AFTER, async { while calls.join_next().await.is_some() {} }).await;
        self.end_session().await;
    }

    fn spawn(self: &Arc<Self>, message: OutgoingMessage, calls: &mut JoinSet<()>) {
        let id = message.id.clone();
        let handle = calls.spawn(Arc::clone(self).deliver(message));
        if let Some(id) = id {
            self.state().running.insert(id, handle);
        }
    }

    /// Cancels a request of the newer protocol, which does that by closing its stream; false if
    /// the server has to be told.
    fn cancel_by_closing(&self, message: &OutgoingMessage) -> bool {
        let mut state = self.state();
        let Some(id) = &message.cancels else { return false };
        let is_modern = state.version.as_deref().is_some_and(is_modern);
        if (is_modern || matches!(state.mode, HttpMode::Older(_)))
            && let Some(running) = state.running.remove(id)
        {
            running.abort();
        }
        is_modern
    }

    /// Sends the first message, and finds out which transport the server has.
    async fn begin(self: &Arc<Self>, message: OutgoingMessage, calls: &mut JoinSet<()>) {
        let reply = self.exchange(&message).await;
        let may_be_older = reply.as_ref().is_err_and(|fault| {
            fault.status.is_some_and(|status| matches!(status.as_u16(), 400 | 404 | 405 | 406))
        });
        if may_be_older && let Some(endpoint) = self.open_older_stream().await {
            self.state().mode = HttpMode::Older(endpoint);
            self.spawn(message, calls);
            return;
        }
        if reply.is_ok() {
            self.state().mode = HttpMode::Streamable;
        }
        let this = Arc::clone(self);
        calls.spawn(async move { this.finish(&message, reply).await });
    }

    /// Sends a message, and passes on what comes back, within the time for a call.
    async fn deliver(self: Arc<Self>, message: OutgoingMessage) {
        let is_limited = message.id.is_some() && message.method != "subscriptions/listen";
        let limit = if is_limited { self.options.call_timeout } else { Duration::MAX };
        if timeout(limit, self.deliver_to_end(&message)).await.is_err() {
            let limit = limit.as_millis();
            let text =
                format!("the call took longer than {limit} ms (--call-timeout), and was given up");
            self.answer_fault(&message, &HttpFault::new(text)).await;
            self.cancel_at_server(&message).await;
        }
        if let Some(id) = &message.id {
            self.state().running.remove(id);
        }
    }

    async fn deliver_to_end(&self, message: &OutgoingMessage) {
        // What comes while a new session is begun goes there.
        drop(self.renewing.lock().await);
        let (mode, generation) = {
            let state = self.state();
            (state.mode.clone(), state.id.is_some().then_some(state.generation))
        };
        if let HttpMode::Older(endpoint) = mode {
            return self.post_older(endpoint, message).await;
        }
        let mut reply = self.exchange(message).await;
        let is_lost = |reply: &Result<_, HttpFault>| {
            reply.as_ref().is_err_and(|fault| fault.status == Some(StatusCode::NOT_FOUND))
        };
        if let Some(generation) = generation.filter(|_| is_lost(&reply))
            && timeout(CONTROL_TIMEOUT, self.renew(generation)).await.unwrap_or(false)
        {
            reply = self.exchange(message).await;
        }
        self.finish(message, reply).await;
    }

    /// Begins a new session in place of one that the server has lost; true if there is one.
    async fn renew(&self, lost: u64) -> bool {
        let _turn = self.renewing.lock().await;
        let initialize = {
            let state = self.state();
            if state.generation != lost {
                return true;
            }
            // The lost id stays, so that a later message tries again if this fails.
            state.initialize.clone()
        };
        let Some(initialize) = initialize else { return false };
        let greeted = match self.exchange(&initialize).await {
            Ok(HttpReply::Json(body)) => initialize.is_answered_by(&body).then_some(body),
            Ok(HttpReply::Events(response)) => self.find_answer(response, &initialize).await,
            Ok(HttpReply::Accepted) | Err(_) => None,
        };
        let Some(answer) = greeted else { return false };
        self.note_answer(&initialize, &answer);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let initialized = OutgoingMessage::new(initialized.to_string().into_bytes());
        self.exchange(&initialized).await.is_ok()
    }

    /// The answer in a stream, which nobody else sees.
    async fn find_answer(&self, mut response: Response, to: &OutgoingMessage) -> Option<Vec<u8>> {
        let mut parser = EventParser::default();
        while let Ok(Some(piece)) = response.chunk().await {
            let mut events = parser.push(&piece).into_iter();
            if let Some(event) = events.find(|event| to.is_answered_by(&event.data)) {
                return Some(event.data);
            }
        }
        None
    }

    /// Posts a message, up to the beginning of its answer.
    async fn exchange(&self, message: &OutgoingMessage) -> Result<HttpReply, HttpFault> {
        let request = self.client.post(self.options.url.clone()).headers(self.headers_for(message));
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, ACCEPTED_TYPES).body(message.body.clone());
        let response = request.send().await.map_err(HttpFault::of_request)?;
        let status = response.status();
        if !status.is_success() {
            let (fault, body) =
                HttpFault::of_refusal(response, self.options.credentials_hint).await;
            // Errors of the protocol itself come with such a status, too.
            return if message.is_answered_by(&body) {
                Ok(HttpReply::Json(body))
            } else {
                Err(fault)
            };
        }
        if message.method == "initialize" {
            let mut state = self.state();
            state.id = response.headers().get(SESSION_ID).cloned();
            state.generation += 1;
            state.initialize = Some(message.clone());
        }
        if is_event_stream(&response) {
            return Ok(HttpReply::Events(response));
        }
        let kind = response.headers().get(CONTENT_TYPE).cloned();
        let body = read_body(response, MAX_ANSWER_BYTES).await?;
        if body.trim_ascii().is_empty() || status == StatusCode::ACCEPTED {
            return Ok(HttpReply::Accepted);
        }
        if message.id.is_some() {
            let batch: Vec<&RawValue> = serde_json::from_slice(&body).unwrap_or_default();
            let mut parts = batch.iter().map(|part| part.get().as_bytes());
            let is_answer =
                message.is_answered_by(&body) || parts.any(|part| message.is_answered_by(part));
            // Otherwise it is the page of a login, or an answer to somebody else.
            return if is_answer {
                Ok(HttpReply::Json(body))
            } else {
                Err(HttpFault::of_strange_body(status, kind.as_ref(), &body))
            };
        }
        Ok(if looks_like_messages(&body) { HttpReply::Json(body) } else { HttpReply::Accepted })
    }

    fn headers_for(&self, message: &OutgoingMessage) -> HeaderMap {
        let state = self.state();
        let mut headers = self.options.headers.clone();
        if message.method == "initialize" {
            return headers;
        }
        if let Some(version) = message.version.as_ref().or(state.version.as_ref()) {
            headers.extend(standard_headers(&message.json(), version, &state.tools));
        }
        headers.extend(state.id.clone().map(|id| (SESSION_ID, id)));
        headers
    }

    /// Passes on what came back.
    async fn finish(&self, message: &OutgoingMessage, reply: Result<HttpReply, HttpFault>) {
        match reply {
            Ok(HttpReply::Accepted) if message.id.is_some() => {
                let fault =
                    HttpFault::new("the server took the request, and answered nothing".into());
                self.answer_fault(message, &fault).await;
            }
            Ok(HttpReply::Accepted) => {}
            Ok(HttpReply::Json(body)) => {
                self.note_answer(message, &body);
                self.pass_on(into_line(body)).await;
            }
            Ok(HttpReply::Events(response)) => self.pass_events(message, response).await,
            Err(fault) => self.answer_fault(message, &fault).await,
        }
    }

    /// Passes on the events of an answer, resuming the stream where it breaks off.
    async fn pass_events(&self, message: &OutgoingMessage, response: Response) {
        let mut parser = EventParser::default();
        let mut stream = Some(response);
        let mut attempts = 0;
        loop {
            if let Some(response) = stream.take() {
                match self.pass_stream(message, response, &mut parser).await {
                    StreamEnd::Answered => return,
                    StreamEnd::Broken { had_events: true } => attempts = 0,
                    StreamEnd::Broken { had_events: false } => {}
                }
            }
            if message.id.is_none() {
                return;
            }
            let Some(last) = parser.last_id.clone().filter(|_| attempts < MAX_RESUMES) else {
                let text = "the server's answer broke off";
                return self.answer_fault(message, &HttpFault::new(text.into())).await;
            };
            attempts += 1;
            sleep(parser.retry.map_or(RESUME_PAUSE, Duration::from_millis)).await;
            parser.restart();
            let request = self.get(Some(&last));
            stream = request
                .send()
                .await
                .ok()
                .filter(|it| it.status().is_success() && is_event_stream(it));
        }
    }

    async fn pass_stream(
        &self,
        message: &OutgoingMessage,
        mut response: Response,
        parser: &mut EventParser,
    ) -> StreamEnd {
        let mut had_events = false;
        while let Ok(Some(piece)) = response.chunk().await {
            for event in parser.push(&piece) {
                had_events = true;
                if !event.is_message() {
                    continue;
                }
                let is_answer = message.is_answered_by(&event.data);
                if is_answer {
                    self.note_answer(message, &event.data);
                }
                self.pass_on(into_line(event.data)).await;
                if is_answer {
                    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                    let _ = timeout(DRAIN_TIMEOUT, rest).await;
                    return StreamEnd::Answered;
                }
            }
            if parser.waiting_bytes() > MAX_ANSWER_BYTES {
                break;
            }
        }
        StreamEnd::Broken { had_events }
    }

    /// Listens for what the server says by itself, in place of an earlier listener.
    fn listen(self: &Arc<Self>) {
        let mut state = self.state();
        let is_older = matches!(state.mode, HttpMode::Older(_));
        if is_older || state.version.as_deref().is_some_and(is_modern) {
            return;
        }
        let listener = tokio::spawn(Arc::clone(self).listen_to_end());
        if let Some(earlier) = state.listener.replace(listener.abort_handle()) {
            earlier.abort();
        }
    }

    async fn listen_to_end(self: Arc<Self>) {
        let mut parser = EventParser::default();
        let nothing = OutgoingMessage::new(Vec::new());
        let mut failures = 0;
        while failures < MAX_RESUMES {
            let Ok(response) = self.get(parser.last_id.as_deref()).send().await else {
                failures += 1;
                sleep(RESUME_PAUSE * failures).await;
                continue;
            };
            // Servers need not have such a stream.
            if !response.status().is_success() || !is_event_stream(&response) {
                return;
            }
            let end = self.pass_stream(&nothing, response, &mut parser).await;
            failures = if matches!(end, StreamEnd::Broken { had_events: true }) {
                0
            } else {
                failures + 1
            };
            parser.restart();
            sleep(parser.retry.map_or(RESUME_PAUSE, Duration::from_millis)).await;
        }
    }

    /// A request for a stream, after the event with that id.
    fn get(&self, last_event: Option<&str>) -> RequestBuilder {
        let nothing = OutgoingMessage::new(Vec::new());
        let request = self.client.get(self.options.url.clone()).headers(self.headers_for(&nothing));
        let request = request.header(ACCEPT, "text/event-stream");
        match last_event {
            Some(id) => request.header(LAST_EVENT_ID, id),
            None => request,
        }
    }

    /// Remembers what later headers need.
    fn note_answer(&self, message: &OutgoingMessage, answer: &[u8]) {
        if !matches!(message.method.as_str(), "initialize" | "tools/list") {
            return;
        }
        let result = MessageFields::parse(answer).and_then(|fields| fields.result);
        let result: Value =
            result.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
        let mut state = self.state();
        if message.method == "tools/list" {
            state.tools.learn(&result);
        } else if let Some(version) = result["protocolVersion"].as_str() {
            state.version = Some(version.to_owned());
        }
    }

    /// Tells the server that nobody waits for an answer any more.
    async fn cancel_at_server(&self, message: &OutgoingMessage) {
        let Some(id) = &message.id else { return };
        if message.version.is_some() {
            return;
        }
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
        );
        let cancelled = OutgoingMessage::new(text.into_bytes());
        let _ = timeout(CONTROL_TIMEOUT, self.deliver_to_end(&cancelled)).await;
    }

    async fn end_session(&self) {
        let (id, listener) = {
            let mut state = self.state();
            (state.id.take(), state.listener.take())
        };
        if let Some(listener) = listener {
            listener.abort();
        }
        if let Some(id) = id {
            let request = self.client.delete(self.options.url.clone());
            let request = request.headers(self.options.headers.clone()).header(SESSION_ID, id);
            let _ = timeout(REFUSAL_TIMEOUT, request.send()).await;
        }
    }

    /// Notes that an answer to this request comes over the older transport's stream.
    pub(super) fn expect_older_answer(&self, id: &str) -> oneshot::Receiver<()> {
        let (answered, awaited) = oneshot::channel();
        self.state().older_calls.insert(normal_id(id).into_owned(), answered);
        awaited
    }

    /// Passes on a message of that stream, unless it answers a call that was given up.
    pub(super) async fn pass_older(&self, message: Vec<u8>) {
        let id = MessageFields::parse(&message).and_then(|fields| fields.answered_id());
        let awaited = id.and_then(|id| self.state().older_calls.remove(&*normal_id(id)));
        if awaited.is_none_or(|awaited| awaited.send(()).is_ok()) {
            self.pass_on(into_line(message)).await;
        }
    }

    /// Hands a line to the client.
    pub(super) async fn pass_on(&self, line: Vec<u8>) {
        // Fails only if the client is gone.
        let _ = self.to_client.send(line).await;
    }

    /// Answers a request with a fault; nobody waits for anything else.
    pub(super) async fn answer_fault(&self, message: &OutgoingMessage, fault: &HttpFault) {
        let host = self.options.url.host_str().unwrap_or_default();
        let text = format!("recoup: {host}: {}", fault.message);
        if let Some(id) = &message.id {
            self.pass_on(error_line(id, FAULT_CODE, &text, &fault.data)).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, HttpSessionState> {
        self.state.lock()
    }
}

impl fmt::Debug for HttpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConnection").field("options", &self.options).finish_non_exhaustive()
    }
}

/// How a stream ended.
#[derive(Debug)]
enum StreamEnd {
    Answered,
    Broken { had_events: bool },
}

pub(super) fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}
