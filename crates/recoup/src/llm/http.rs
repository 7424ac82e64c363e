//! Requests to model APIs: one way to post, and one classification of what goes wrong.
//!
//! No redirect is followed: the key and the user's words are for the host that was named. One thread
//! runs all requests of a transport; it starts with the first one, and callers block.

use std::fmt;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::text::shorten_text;
use recoup_core::memory::judge::account::retry_after;
use recoup_core::{Error, ErrorKind, secrets};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, redirect};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::{ApiKey, BaseUrl, ProxySettings};
use crate::http::{BodyFault, client_builder, client_error, read_body, read_refusal, root_cause};

/// Characters of refusals to repeat.
const MAX_SHOWN_CHARS: usize = 200;
/// Time for the rest of a stream after its answer, so that the connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Server that is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApiTarget<'a> {
    pub(super) url: &'a BaseUrl,
    pub(super) key: Option<&'a ApiKey>,
    pub(super) proxy: Option<&'a ProxySettings>,
    /// Setting of the URL, for messages.
    pub(super) url_setting: &'a str,
}

/// An HTTP request to a model API.
#[derive(Debug, Clone)]
pub(super) struct ApiRequest {
    /// Path below the base URL.
    pub(super) path: &'static str,
    /// Headers other than the key's.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// Name of the key's header, and the prefix of its value.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) body: Value,
    /// Maximum size of the answer.
    pub(super) max_bytes: usize,
}

/// Reason why there is no answer.
#[derive(Debug)]
pub(super) struct ApiFault {
    pub(super) sort: ApiFaultSort,
    pub(super) error: Error,
    /// True if it may have cost something all the same.
    pub(super) may_have_cost: bool,
}

/// Consequence of a fault for the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ApiFaultSort {
    /// May be over soon, after this many milliseconds if the server says so.
    Passing(Option<u64>),
    /// The server rejects the request itself, and says this.
    Rejected(String),
    /// Lasts until somebody changes something: the key, the model, the address.
    Lasting,
    /// Nobody waits for an answer any more.
    Stopped,
}

impl ApiFault {
    /// A fault that may be over soon.
    pub(super) fn passing(error: Error, may_have_cost: bool) -> Self {
        Self { sort: ApiFaultSort::Passing(None), error, may_have_cost }
    }

    /// An invalid answer.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        let error = Error::new(ErrorKind::Invalid, message);
        Self { sort: ApiFaultSort::Lasting, error, may_have_cost: true }
    }

    /// A fault on our side: nothing was sent.
    fn local(doing: &str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let error = Error::new(ErrorKind::Io, doing).with_source(why);
        Self { sort: ApiFaultSort::Lasting, error, may_have_cost: false }
    }

    /// A refusal with that status, in the server's words. Never wrong usage, which would mean that
    /// nothing was asked: an earlier turn may be paid for.
    pub(super) fn of_status(status: u16, wait: Option<u64>, message: String, said: String) -> Self {
        let sort = match status {
            401..=404 => ApiFaultSort::Lasting,
            408 | 409 | 425 | 429 => ApiFaultSort::Passing(wait),
            400..=499 => ApiFaultSort::Rejected(said),
            _ => ApiFaultSort::Passing(wait),
        };
        Self { sort, error: Error::new(ErrorKind::Unavailable, message), may_have_cost: false }
    }
}

/// Part of an answer, as it arrives.
#[derive(Debug)]
pub(super) enum AnswerPiece {
    /// The whole body of an answer that is no stream.
    Whole(Vec<u8>),
    /// Bytes of a stream of events.
    Stream(Bytes),
    /// The stream is over.
    End,
}

/// Connections to model APIs, and the thread that runs them.
#[derive(Debug, Default)]
pub(super) struct HttpTransport(Mutex<Option<RunningTransport>>);

struct RunningTransport {
    handle: Handle,
    /// Clients by what they are for: an encrypted connection or not, and the proxy.
    clients: Vec<(bool, Option<ProxySettings>, Client)>,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl fmt::Debug for RunningTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningTransport").finish_non_exhaustive()
    }
}

/// A request on its way, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct ApiExchange {
    pieces: Receiver<Result<AnswerPiece, ApiFault>>,
    task: AbortHandle,
    is_answered: bool,
}

impl ApiExchange {
    /// The next piece; none if it does not come within `wait`.
    pub(super) fn next(&self, wait: Duration) -> Option<Result<AnswerPiece, ApiFault>> {
        match self.pieces.recv_timeout(wait) {
            Ok(piece) => Some(piece),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Ok(AnswerPiece::End)),
        }
    }

    /// Leaves the rest of the stream to the transport, so that the connection can be used again.
    pub(super) fn finish(mut self) {
        self.is_answered = true;
    }
}

impl Drop for ApiExchange {
    fn drop(&mut self) {
        if !self.is_answered {
            self.task.abort();
        }
    }
}

impl HttpTransport {
    /// Sends a request.
    pub(super) fn post(
        &self,
        target: ApiTarget<'_>,
        request: &ApiRequest,
    ) -> Result<ApiExchange, ApiFault> {
        let mut running = self.0.lock();
        let running = match &mut *running {
            Some(running) => running,
            stopped => stopped.insert(RunningTransport::start()?),
        };
        let is_encrypted = target.url.is_encrypted();
        let known = running.clients.iter().find(|(encrypted, proxy, _)| {
            *encrypted == is_encrypted && proxy.as_ref() == target.proxy
        });
        let client = if let Some((.., client)) = known {
            client.clone()
        } else {
            let builder = client_builder(is_encrypted, target.proxy);
            let client = builder.and_then(|builder| {
                builder.redirect(redirect::Policy::none()).build().map_err(client_error)
            });
            let client = client.map_err(|error| ApiFault {
                sort: ApiFaultSort::Lasting,
                error,
                may_have_cost: false,
            })?;
            running.clients.push((is_encrypted, target.proxy.cloned(), client.clone()));
            client
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in request.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(key) = target.key {
            let (name, before) = request.key_header;
            let value = HeaderValue::from_str(&format!("{before}{}", key.reveal()));
            let mut value = value.map_err(|_| {
                let why = "it contains characters that are not allowed in a header";
                ApiFault::local("the API key", why)
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let body = request.body.to_string();
        let posted = client.post(target.url.join(request.path)).headers(headers).body(body);
        let (sender, pieces) = mpsc::channel();
        let answering = AnsweringServer {
            host: target.url.host_and_port(),
            key: target.key.cloned(),
            url_setting: target.url_setting.to_owned(),
            max_bytes: request.max_bytes,
        };
        let task = running.handle.spawn(answering.run(posted, sender)).abort_handle();
        Ok(ApiExchange { pieces, task, is_answered: false })
    }
}

impl RunningTransport {
    fn start() -> Result<Self, ApiFault> {
        let starting = "starting the HTTP client for the model";
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ApiFault::local(starting, error))?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let run = move || {
            let _ = runtime.block_on(stopped);
            // A hanging DNS look-up holds a thread, which is left behind.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("model-http".to_owned());
        thread.spawn(run).map_err(|error| ApiFault::local(starting, error))?;
        Ok(Self { handle, clients: Vec::new(), _stop: stop })
    }
}

/// A server while it answers.
struct AnsweringServer {
    host: String,
    key: Option<ApiKey>,
    url_setting: String,
    max_bytes: usize,
}

impl AnsweringServer {
    async fn run(
        self,
        request: RequestBuilder,
        pieces: mpsc::Sender<Result<AnswerPiece, ApiFault>>,
    ) {
        // Sending fails only if nobody listens any more.
        let response = match request.send().await {
            Ok(response) if response.status() == StatusCode::OK => response,
            Ok(refusal) => return drop(pieces.send(Err(self.classify_refusal(refusal).await))),
            Err(error) => {
                let connecting = error.is_connect();
                let message = format!("{} did not answer", self.host);
                let cause = root_cause(&error.without_url());
                let error = Error::new(ErrorKind::Unavailable, message).with_source(cause);
                return drop(pieces.send(Err(ApiFault::passing(error, !connecting))));
            }
        };
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or_default().trim_start().to_ascii_lowercase();
        if kind.starts_with("text/event-stream") {
            self.pass_stream(response, pieces).await;
        } else {
            let body = read_body(response, self.max_bytes).await.map_err(|fault| match fault {
                BodyFault::CutOff(error) => cut_off(error),
                BodyFault::TooLarge(most) => too_large(most),
            });
            let _ = pieces.send(body.map(AnswerPiece::Whole));
        }
    }

    async fn pass_stream(
        &self,
        mut response: Response,
        pieces: mpsc::Sender<Result<AnswerPiece, ApiFault>>,
    ) {
        let mut size = 0;
        loop {
            let piece = match response.chunk().await {
                Ok(None) => return,
                Ok(Some(bytes)) => {
                    size += bytes.len();
                    if size > self.max_bytes {
                        Err(too_large(self.max_bytes))
                    } else {
                        Ok(AnswerPiece::Stream(bytes))
                    }
                }
                Err(error) => Err(cut_off(error)),
            };
            let is_over = piece.is_err();
            if pieces.send(piece).is_err() {
                let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                let _ = timeout(DRAIN_TIMEOUT, rest).await;
                return;
            }
            if is_over {
                return;
            }
        }
    }

    /// Classifies an answer with a status other than 200.
    async fn classify_refusal(&self, response: Response) -> ApiFault {
        let (status, host) = (response.status(), &self.host);
        let text = |name| {
            response.headers().get(&name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (wait, elsewhere) = (text(RETRY_AFTER), text(LOCATION));
        let wait = wait.and_then(|header| retry_after(&header, SystemClock.now()));
        if status.is_redirection() {
            let to = elsewhere.and_then(|to| Url::parse(&to).ok()?.host_str().map(str::to_owned));
            let to = to.map_or_else(String::new, |to| {
                format!(" to {}", shorten_text(&to, MAX_SHOWN_CHARS))
            });
            let message = format!(
                "{host} redirects{to}, but redirects are not followed: set {}",
                self.url_setting
            );
            let error = Error::new(ErrorKind::Unavailable, message);
            return ApiFault { sort: ApiFaultSort::Lasting, error, may_have_cost: false };
        }
        let body = read_refusal(response).await;
        let text = String::from_utf8_lossy(&body);
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let said = json.pointer("/error/message").or_else(|| json.pointer("/error"));
        let said = said.and_then(Value::as_str).unwrap_or(&text);
        let said = presentable(said, self.key.as_ref());
        let colon = if said.is_empty() { "" } else { ": " };
        let message = format!("{host} answered {status}{colon}{said}");
        ApiFault::of_status(status.as_u16(), wait, message, said)
    }
}

/// A server's words on one short line, without keys.
pub(super) fn presentable(said: &str, key: Option<&ApiKey>) -> String {
    // The key may be repeated there.
    let said = key.map_or_else(|| said.to_owned(), |key| said.replace(key.reveal(), "[key]"));
    let said = secrets::redact(&said).split_whitespace().collect::<Vec<_>>().join(" ");
    shorten_text(&said, MAX_SHOWN_CHARS).into_owned()
}

fn too_large(most: usize) -> ApiFault {
    ApiFault::invalid(format!("the model's answer is larger than {most} bytes"))
}

fn cut_off(error: reqwest::Error) -> ApiFault {
    let cause = root_cause(&error.without_url());
    let message = "the model's answer was cut off";
    ApiFault::passing(Error::new(ErrorKind::Unavailable, message).with_source(cause), true)
}
