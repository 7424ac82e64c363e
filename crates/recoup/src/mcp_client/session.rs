//! A running MCP server: requests that wait for answers, and answers to what the server asks.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use recoup_core::base::clock::Deadline;
use recoup_core::base::text::shorten_text;
use recoup_core::{Error, ErrorKind, Result, secrets};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::ProtocolVersion;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::connection::McpServerOptions;
use super::http::{HttpServerOptions, HttpUpstream};
use super::message::{
    LineReader, METHOD_NOT_FOUND, MessageFields, ReadPiece, error_line, normal_id,
};
use super::server_process::ServerProcess;
use super::{ServerEnd, Upstream};
use crate::human;
use crate::toolbox::ServerAddress;

/// Time for a start, which may have to fetch a package first.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Interval of checks for a cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How long we wait for a server that was told to end; after that, its guard ends it.
const END_WAIT: Duration = Duration::from_millis(250);
/// How long the output of a server that has ended may be held open by a process that it left behind.
const MAX_SILENCE: Duration = Duration::from_millis(200);
/// Interval of checks for an end while nothing is due.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_mins(1);
/// Output that is kept to be shown with a fault: bytes, and the lines and characters of it.
const KEPT_OUTPUT_BYTES: usize = 4 << 10;
const SHOWN_LINES: usize = 5;
const SHOWN_CHARS: usize = 600;

/// The server's answer to a request.
#[derive(Debug)]
pub(crate) enum RpcAnswer {
    Result(Box<RawValue>),
    Error { code: i64, message: String },
}

/// Something that concerns the server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionEvent {
    /// We want it to end.
    Close,
    /// The server's own end.
    Server(ServerEnd),
}

/// One life of a server.
pub(super) struct McpSession {
    options: McpServerOptions,
    waiting: Mutex<WaitingRequests>,
    ended: Condvar,
    /// Lines for the server: written by a thread of its own, since a server may never read them.
    outgoing: Sender<Vec<u8>>,
    events: Sender<SessionEvent>,
    /// The last that it wrote to stderr, or to stdout without being a message.
    output: Mutex<Vec<u8>>,
}

impl fmt::Debug for McpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSession").field("options", &self.options).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct WaitingRequests {
    last_id: u64,
    answers: HashMap<u64, Sender<RpcAnswer>>,
    /// How it ended, once it has.
    end: Option<String>,
}

#[derive(Deserialize)]
struct RpcErrorFields {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl McpSession {
    /// Starts or connects to the server; nothing is said yet.
    pub(super) fn start(options: &McpServerOptions) -> Result<Arc<Self>> {
        let context = |error: Error| error.context(format!("MCP server {}", options.name));
        let (events, received) = mpsc::channel();
        let (outgoing, lines) = mpsc::channel();
        let session = Arc::new(Self {
            options: options.clone(),
            waiting: Mutex::default(),
            ended: Condvar::new(),
            outgoing,
            events,
            output: Mutex::default(),
        });
        match &options.address {
            ServerAddress::Command { words, env, cwd } => {
                let directory =
                    cwd.as_ref().map_or(options.root.clone(), |cwd| options.root.join(cwd));
                session.start_process(words, env, &directory, lines, received)
            }
            ServerAddress::Http { url, headers } => {
                session.start_http(url, headers, lines, received)
            }
        }
        .map_err(context)?;
        Ok(session)
    }

    fn start_process(
        self: &Arc<Self>,
        words: &[String],
        env: &BTreeMap<String, String>,
        directory: &Path,
        lines: Receiver<Vec<u8>>,
        received: Receiver<SessionEvent>,
    ) -> Result<()> {
        if !directory.is_dir() {
            let message = format!("its directory does not exist: {}", directory.display());
            return Err(Error::new(ErrorKind::Absent, message));
        }
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (process, streams) = ServerProcess::start(&words, |command| {
            for name in &self.options.withheld_variables {
                command.env_remove(name);
            }
            command.current_dir(directory).envs(env);
        })?;
        let exited = self.events.clone();
        process.announce_exit(move || {
            let _ = exited.send(SessionEvent::Server(ServerEnd::Exited));
        });
        let this = Arc::clone(self);
        let mut errors = std::fs::File::from(streams.errors);
        let listening = thread::spawn(move || {
            let mut piece = vec![0; 64 << 10];
            while let Ok(len @ 1..) = errors.read(&mut piece) {
                this.keep_output(&piece[..len]);
            }
        });
        let (this, mut output) = (Arc::clone(self), LineReader::new(streams.output));
        let reading = thread::spawn(move || {
            let mut line = Vec::new();
            while let Ok(Some(piece)) = output.next(&mut line) {
                match piece {
                    ReadPiece::Line => this.on_line(&line),
                    ReadPiece::Part => {}
                    ReadPiece::LastPart => this.end("sent a line of more than 256 MiB"),
                }
            }
            let _ = this.events.send(SessionEvent::Server(ServerEnd::Closed));
        });
        let (input, upstream) = (streams.input.clone(), Upstream::Process(streams.input));
        thread::spawn(move || lines.iter().for_each(|line: Vec<u8>| upstream.send(&line)));
        let this = Arc::clone(self);
        thread::spawn(move || {
            this.watch_process(
                process,
                &Upstream::Process(input),
                &received,
                &[listening, reading],
            );
        });
        Ok(())
    }

    /// Waits for the end of the process, and ends it if it has to end.
    fn watch_process(
        &self,
        mut process: ServerProcess,
        input: &Upstream,
        received: &Receiver<SessionEvent>,
        readers: &[JoinHandle<()>; 2],
    ) {
        loop {
            let wait = process.next_deadline().map_or(IDLE_CHECK_INTERVAL, Deadline::remaining);
            match received.recv_timeout(wait) {
                Ok(SessionEvent::Close | SessionEvent::Server(ServerEnd::Closed)) => {
                    input.close();
                    process.begin_end();
                }
                Ok(SessionEvent::Server(ServerEnd::Exited)) => break,
                Err(_) => process.end_overdue(),
            }
        }
        // What it said last comes after its end.
        let silence = Deadline::after(MAX_SILENCE);
        while !readers.iter().all(JoinHandle::is_finished) && !silence.has_passed() {
            thread::sleep(Duration::from_millis(1));
        }
        let how = match process.reap().0 {
            Some(exit) => format!("ended with {exit}"),
            None => "ended".to_owned(),
        };
        self.end(&how);
    }

    fn start_http(
        self: &Arc<Self>,
        url: &str,
        headers: &BTreeMap<String, String>,
        lines: Receiver<Vec<u8>>,
        received: Receiver<SessionEvent>,
    ) -> Result<()> {
        let url = Url::parse(url).map_err(|_| Error::usage("invalid URL"))?;
        let ends = self.events.clone();
        let on_end = move |end| {
            let _ = ends.send(SessionEvent::Server(end));
        };
        let options = HttpServerOptions {
            url,
            headers: header_map(headers)?,
            proxy: self.options.proxy.clone(),
            // Each request has its own limit.
            call_timeout: Duration::MAX,
            credentials_hint: "credentials are headers of the server in the configuration",
        };
        let (upstream, mut messages) = HttpUpstream::start(options, Arc::new(on_end))?;
        let upstream = Arc::new(Upstream::Http(upstream));
        let this = Arc::clone(self);
        thread::spawn(move || {
            while let Some(line) = messages.blocking_recv() {
                this.on_line(&line);
            }
        });
        let sending = Arc::clone(&upstream);
        thread::spawn(move || lines.iter().for_each(|line: Vec<u8>| sending.send(&line)));
        let this = Arc::clone(self);
        thread::spawn(move || {
            while let Ok(event) = received.recv() {
                upstream.close();
                match event {
                    SessionEvent::Close => {}
                    SessionEvent::Server(ServerEnd::Closed) => this.end("closed the connection"),
                    SessionEvent::Server(ServerEnd::Exited) => break,
                }
            }
            this.end("closed the connection");
        });
        Ok(())
    }

    /// Greets the server.
    pub(super) fn initialize(&self, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<()> {
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let has_root = self.options.told_root().is_some();
        let params = json!({
            "protocolVersion": version.as_str(),
            "capabilities": if has_root { json!({ "roots": {} }) } else { json!({}) },
            "clientInfo": { "name": "recoup", "version": env!("CARGO_PKG_VERSION") },
        });
        let params = to_raw_value(&params).map_err(|error| self.fault(&error.to_string()))?;
        let answer = self.request("initialize", &params, START_TIMEOUT, is_cancelled)?;
        let result: Value = match answer {
            RpcAnswer::Result(result) => serde_json::from_str(result.get()).unwrap_or_default(),
            RpcAnswer::Error { code, message } => {
                return Err(self.fault(&format!("refused to start: {message} (code {code})")));
            }
        };
        let chosen = result["protocolVersion"].as_str().unwrap_or_default();
        if !ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == chosen) {
            let message = format!("speaks a version of the protocol that is not known: {chosen:?}");
            return Err(self.fault(&message));
        }
        self.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}".to_owned());
        Ok(())
    }

    /// Sends a request, and waits for its answer.
    pub(super) fn request(
        &self,
        method: &str,
        params: &RawValue,
        timeout: Duration,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<RpcAnswer> {
        let (sender, answer) = mpsc::channel();
        let id = {
            let mut waiting = self.waiting.lock();
            waiting.last_id += 1;
            let id = waiting.last_id;
            match waiting.end {
                None => drop(waiting.answers.insert(id, sender)),
                // Nobody will answer: the receiver is told so.
                Some(_) => drop(sender),
            }
            id
        };
        let method_json = json!(method);
        self.say(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method_json},\"params\":{params}}}"
        ));
        let deadline = Deadline::after(timeout);
        loop {
            match answer.recv_timeout(deadline.remaining().min(CANCEL_CHECK_INTERVAL)) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => {
                    let during = format!("before it answered {method}");
                    return Err(self.end_error(&during).unwrap_or_else(|| self.fault(&during)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let why = if is_cancelled() {
                "was cancelled".to_owned()
            } else if deadline.has_passed() {
                let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
                format!("was not answered within {}", human::long_duration(millis))
            } else {
                continue;
            };
            self.waiting.lock().answers.remove(&id);
            // The greeting can't be cancelled.
            if method != "initialize" {
                let params = json!({ "requestId": id, "reason": why });
                self.say(format!(
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}"
                ));
            }
            return Err(self.fault(&format!("{method} {why}")));
        }
    }

    /// Handles a line of the server.
    fn on_line(&self, line: &[u8]) {
        if let Some(fields) = MessageFields::parse(line) {
            self.on_message(&fields);
        } else if let Ok(batch) = serde_json::from_slice::<Vec<&RawValue>>(line) {
            let messages = batch.iter().map(|message| message.get().as_bytes());
            messages.filter_map(MessageFields::parse).for_each(|fields| self.on_message(&fields));
        } else {
            self.keep_output(line);
        }
    }

    fn on_message(&self, fields: &MessageFields<'_>) {
        if let Some(id) = fields.answered_id() {
            let waiting = normal_id(id).parse().ok();
            let waiting = waiting.and_then(|id: u64| self.waiting.lock().answers.remove(&id));
            let Some(waiting) = waiting else { return };
            let _ = waiting.send(match (fields.result, fields.error) {
                (Some(result), _) => RpcAnswer::Result(result.to_owned()),
                (None, error) => {
                    let error = error.and_then(|it| serde_json::from_str(it.get()).ok());
                    let RpcErrorFields { code, message } =
                        error.unwrap_or(RpcErrorFields { code: 0, message: "an error".to_owned() });
                    let message = message.strip_prefix("recoup: ").unwrap_or(&message);
                    RpcAnswer::Error { code, message: self.presentable(message) }
                }
            });
            return;
        }
        match (fields.method.as_deref(), fields.id.map(RawValue::get)) {
            (Some("ping"), Some(id)) => self.answer(id, &json!({})),
            (Some("roots/list"), Some(id)) => {
                let root = self.options.told_root();
                let roots: Vec<Value> =
                    root.iter().map(|root| json!({ "uri": root.as_str() })).collect();
                self.answer(id, &json!({ "roots": roots }));
            }
            (Some(method), Some(id)) => {
                let message = format!("recoup does not support {method}");
                let line = error_line(id, METHOD_NOT_FOUND, &message, &Value::Null);
                let _ = self.outgoing.send(line);
            }
            (Some(method), None) => (self.options.on_notification)(method, fields.params),
            (None, _) => {}
        }
    }

    fn answer(&self, id: &str, result: &Value) {
        self.say(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"));
    }

    fn say(&self, mut line: String) {
        line.push('\n');
        // Fails only if the server is gone, which the request is told.
        let _ = self.outgoing.send(line.into_bytes());
    }

    fn keep_output(&self, bytes: &[u8]) {
        let mut output = self.output.lock();
        output.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT_OUTPUT_BYTES)..]);
        let excess = output.len().saturating_sub(KEPT_OUTPUT_BYTES);
        output.drain(..excess);
    }

    /// Notes that it has ended; nobody waits any more.
    fn end(&self, how: &str) {
        let mut waiting = self.waiting.lock();
        waiting.end.get_or_insert_with(|| how.to_owned());
        waiting.answers.clear();
        self.ended.notify_all();
    }

    /// An error that says how the session ended; none while it goes on.
    pub(super) fn end_error(&self, during: &str) -> Option<Error> {
        let end = self.waiting.lock().end.clone()?;
        Some(self.fault(&format!("{end} {during}")))
    }

    /// Begins its end without waiting for it.
    pub(super) fn begin_close(&self) {
        let _ = self.events.send(SessionEvent::Close);
    }

    /// Waits a little for the end.
    pub(super) fn await_end(&self) {
        let deadline = Deadline::after(END_WAIT);
        let mut waiting = self.waiting.lock();
        while waiting.end.is_none() && !deadline.has_passed() {
            self.ended.wait_for(&mut waiting, deadline.remaining());
        }
    }

    /// An error that names the server, with the last lines that it wrote.
    fn fault(&self, what: &str) -> Error {
        let mut message = format!("MCP server {} {what}", self.options.name);
        let output = String::from_utf8_lossy(&self.output.lock()).into_owned();
        let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join(" | ");
        if !last.is_empty() {
            message = format!("{message}; it wrote: {}", self.presentable(&last));
        }
        Error::new(ErrorKind::Unavailable, message)
    }

    /// Text of the server without secrets and control characters, shortened.
    fn presentable(&self, text: &str) -> String {
        let text = self.options.withheld.redact(text);
        let text = secrets::redact(&text);
        shorten_text(&human::printable(&text), SHOWN_CHARS).into_owned()
    }
}

/// Headers of the configuration; messages do not repeat values.
pub(crate) fn header_map<'a>(
    headers: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let wrong = |why: &str| Error::usage(format!("header {name:?}: {why}"));
        let header: HeaderName = name.parse().map_err(|_| wrong("this is no name of a header"))?;
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| wrong("its value can't be sent in a header"))?;
        value.set_sensitive(true);
        map.append(header, value);
    }
    Ok(map)
}
