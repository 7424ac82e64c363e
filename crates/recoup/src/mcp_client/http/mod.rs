//! A server that is spoken to over HTTP: streamable HTTP, or the older transport with two addresses
//! if the server has no other.
//!
//! One thread runs everything. Each message of the client is one request of its own, so a stalled
//! one stops no other.

mod fault;
mod headers;
mod older;
mod streamable;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use recoup_core::Result;
use recoup_core::error::IoContext as _;
use reqwest::header::HeaderMap;
use reqwest::{Client, Url, redirect};
use serde_json::Value;
use tokio::sync::mpsc;

pub(crate) use self::fault::HttpFault;
use self::streamable::HttpConnection;
use super::message::{MessageFields, RequestParams, normal_id};
use super::{EndListener, ServerEnd};
use crate::http::{ProxySettings, client_builder, client_error};

/// Messages that wait for the client to read.
const WAITING_MESSAGES: usize = 16;
/// Time limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which the system asks a silent peer if it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Redirects that are followed on one host.
const MAX_REDIRECTS: usize = 5;

/// A server, and how it is reached.
pub(crate) struct HttpServerOptions {
    pub(crate) url: Url,
    /// The user's own headers.
    pub(crate) headers: HeaderMap,
    pub(crate) proxy: Option<ProxySettings>,
    /// Time limit for a whole call, whatever progress it reports.
    pub(crate) call_timeout: Duration,
    /// Advice for a refusal: the place of credentials.
    pub(crate) credentials_hint: &'static str,
}

impl fmt::Debug for HttpServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Paths and queries may hold keys.
        let origin = self.url.origin().ascii_serialization();
        f.debug_struct("HttpServerOptions").field("origin", &origin).finish_non_exhaustive()
    }
}

/// The way to an HTTP server: a queue, none once it is closed.
#[derive(Debug)]
pub(crate) struct HttpUpstream(Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>);

impl HttpUpstream {
    /// Starts the thread; returns the messages of the server as lines. Connects to nothing yet.
    pub(crate) fn start(
        options: HttpServerOptions,
        on_end: EndListener,
    ) -> Result<(Self, mpsc::Receiver<Vec<u8>>)> {
        let client = build_client(&options)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .with_context(|| "starting the HTTP client".to_owned())?;
        let (queue, queued) = mpsc::unbounded_channel();
        let (to_client, messages) = mpsc::channel(WAITING_MESSAGES);
        let connection = HttpConnection::new(client, options, to_client, Arc::clone(&on_end));
        thread::spawn(move || {
            runtime.block_on(Arc::new(connection).run(queued));
            runtime.shutdown_background();
            on_end(ServerEnd::Exited);
        });
        Ok((Self(Mutex::new(Some(queue))), messages))
    }

    pub(crate) fn send_if(&self, line: &[u8], may_send: impl FnOnce() -> bool) {
        let queue = self.0.lock();
        if let Some(queue) = queue.as_ref().filter(|_| may_send()) {
            let _ = queue.send(line.to_vec());
        }
    }

    pub(crate) fn close(&self) {
        self.0.lock().take();
    }
}

pub(crate) fn build_client(options: &HttpServerOptions) -> Result<Client> {
    let origin = options.url.origin();
    // Headers with credentials are for the host that was named.
    let redirects = redirect::Policy::custom(move |attempt| {
        if attempt.url().origin() == origin && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    client_builder(options.url.scheme() == "https", options.proxy.as_ref())?
        .redirect(redirects)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(KEEPALIVE)
        .build()
        .map_err(client_error)
}

/// A message of the client on its way to the server.
#[derive(Debug, Clone)]
struct OutgoingMessage {
    body: Bytes,
    /// The id of a request as it is written; none for notifications and answers.
    id: Option<String>,
    method: String,
    /// Version in the message itself.
    version: Option<String>,
    /// The id that a cancellation is about.
    cancels: Option<String>,
}

impl OutgoingMessage {
    fn new(line: Vec<u8>) -> Self {
        let fields = MessageFields::parse(&line);
        let params = RequestParams::parse(fields.as_ref().and_then(|fields| fields.params));
        let method = fields.as_ref().and_then(|fields| fields.method.as_deref());
        let method = method.unwrap_or_default().to_owned();
        let id = fields.as_ref().and_then(|fields| fields.id).filter(|_| !method.is_empty());
        let id = id.map(|id| id.get().to_owned());
        let version = params.request_meta().protocol_version.map(Cow::into_owned);
        let cancelled = params.request_id.filter(|_| method == "notifications/cancelled");
        let cancels = cancelled.map(|id| id.get().to_owned());
        let end = line.trim_ascii_end().len();
        Self { body: Bytes::from(line).slice(..end), id, method, version, cancels }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// True if this message of the server answers it.
    fn is_answered_by(&self, message: &[u8]) -> bool {
        let answered = MessageFields::parse(message).and_then(|fields| fields.answered_id());
        answered.is_some() && answered.map(normal_id) == self.id.as_deref().map(normal_id)
    }
}

/// Puts a message on one line. Line ends between tokens of JSON are only space.
fn into_line(mut message: Vec<u8>) -> Vec<u8> {
    for byte in &mut message {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    message.truncate(message.trim_ascii_end().len());
    message.push(b'\n');
    message
}
