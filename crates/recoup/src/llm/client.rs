//! One request, one answer, within a deadline that holds to the last byte.
//!
//! No redirect is followed: the key and the user's words are for the host that was named. The
//! runtime lives for one request; do not call this from within another one.

use std::time::Duration;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::text::shortened;
use recoup_core::memory::judge::account::{Fault, FaultSort, retry_after};
use recoup_core::{Error, ErrorKind, secrets};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, NoProxy, Response, StatusCode, Url, redirect};
use serde_json::Value;

use super::endpoint::Endpoint;

/// Maximum size of an answer; expected are some kilobytes.
const LONGEST: usize = 1 << 20;
/// Limits for refusals: bytes and time to read them, characters to repeat.
const LONGEST_REFUSAL: usize = 64 << 10;
const REFUSAL_TIME: Duration = Duration::from_secs(2);
const MAX_SHOWN: usize = 200;

/// An HTTP request to a model API.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) url: Url,
    /// Headers other than the key's.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// Name of the key's header, and the prefix of its value.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) body: Vec<u8>,
}

/// Reason why there is no answer.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) fault: Fault,
    /// The server's message, if it rejects the request itself.
    pub(super) objection: Option<String>,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self { fault, objection: None }
    }
}

/// Sends the request and returns the body of the answer, both within `time`.
pub(super) fn post(
    endpoint: &Endpoint,
    request: Request,
    time: Duration,
) -> Result<Vec<u8>, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| unsent("starting what asks a model", error))?;
    let done = runtime.block_on(async {
        match tokio::time::timeout(time, exchange(endpoint, request)).await {
            Ok(done) => done,
            Err(_) => Err(too_slow(endpoint).into()),
        }
    });
    // A hanging DNS look-up holds a thread, which is left behind.
    runtime.shutdown_background();
    done
}

async fn exchange(endpoint: &Endpoint, request: Request) -> Result<Vec<u8>, Failed> {
    let client = client(endpoint)?;
    let headers = headers(endpoint, &request)?;
    let sent = client.post(request.url).headers(headers).body(request.body).send().await;
    let response = sent.map_err(|error| {
        let connecting = error.is_connect();
        passing(unreachable(endpoint, error), None, !connecting)
    })?;
    if response.status() != StatusCode::OK {
        return Err(refused(endpoint, response).await);
    }
    body(response, LONGEST).await.map_err(|error| passing(error, None, true).into())
}

fn client(endpoint: &Endpoint) -> Result<Client, Fault> {
    // Fails if it is installed already: the store's connections use the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .user_agent(concat!("recoup/", env!("CARGO_PKG_VERSION")));
    if !endpoint.url.is_encrypted() {
        // Plain HTTP needs no certificates.
        builder = builder.tls_certs_only([]);
    } else if let Some(proxy) = &endpoint.proxy {
        let except = proxy.except.as_deref().and_then(NoProxy::from_string);
        // The cause is left out: the URL may have a password.
        let proxy = reqwest::Proxy::https(&proxy.url)
            .map_err(|_| unsent("HTTPS_PROXY", "this is no address of a proxy"))?;
        builder = builder.proxy(proxy.no_proxy(except));
    }
    builder.build().map_err(|error| {
        let error = causes(&error.without_url());
        unsent("preparing what asks a model (are the system's certificates installed?)", error)
    })
}

fn headers(endpoint: &Endpoint, request: &Request) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in request.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = &endpoint.key {
        let (name, before) = request.key_header;
        let value = HeaderValue::from_str(&format!("{before}{}", key.reveal()));
        let mut value = value.map_err(|_| unsent("the key", "it can't be sent in a header"))?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

/// Reads the body, up to `most` bytes whatever its length header says.
async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len() + chunk.len() <= most => body.extend_from_slice(&chunk),
            Ok(Some(_)) => {
                let message = format!("the model's answer has more than {most} bytes");
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            Err(error) => {
                let message = "the model's answer broke off";
                let cause = causes(&error.without_url());
                return Err(Error::new(ErrorKind::Unavailable, message).with_source(cause));
            }
        }
    }
}

/// Classifies an answer with a status other than 200.
async fn refused(endpoint: &Endpoint, response: Response) -> Failed {
    let status = response.status();
    let text = |name| {
        response.headers().get(&name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let (wait, elsewhere) = (text(RETRY_AFTER), text(LOCATION));
    let wait = wait.and_then(|header| retry_after(&header, SystemClock.now()));
    let host = endpoint.url.place();
    if status.is_redirection() {
        let to = elsewhere.and_then(|to| Url::parse(&to).ok()?.host_str().map(str::to_owned));
        let to = to.map_or_else(String::new, |to| format!(" to {}", shortened(&to, MAX_SHOWN)));
        let message = format!("{host} redirects{to}, where nothing is sent: set judge.url");
        let error = Error::new(ErrorKind::Unavailable, message);
        return Fault { sort: FaultSort::Lasting, error, may_have_cost: false }.into();
    }
    let said = tokio::time::timeout(REFUSAL_TIME, body(response, LONGEST_REFUSAL)).await;
    let said = said.ok().and_then(Result::ok).map(|body| words(endpoint, &body));
    let said = said.unwrap_or_default();
    let colon = if said.is_empty() { "" } else { ": " };
    let message = format!("{host} answered {status}{colon}{said}");
    let error = Error::new(ErrorKind::Unavailable, message);
    let (sort, objection) = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => {
            (FaultSort::Lasting, None)
        }
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
            (FaultSort::Passing(wait), Some(said))
        }
        _ => (FaultSort::Passing(wait), None),
    };
    Failed { fault: Fault { sort, error, may_have_cost: false }, objection }
}

/// Message of a refusal for people: short, and without the key, should it be repeated there.
fn words(endpoint: &Endpoint, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = json.pointer("/error/message").or_else(|| json.pointer("/error"));
    let message = message.and_then(Value::as_str).unwrap_or(&text);
    let message = match &endpoint.key {
        Some(key) => message.replace(key.reveal(), "[key]"),
        None => message.to_owned(),
    };
    let message = secrets::redact(&message).split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&message, MAX_SHOWN).into_owned()
}

fn unreachable(endpoint: &Endpoint, error: reqwest::Error) -> Error {
    let message = format!("{} did not answer", endpoint.url.place());
    Error::new(ErrorKind::Unavailable, message).with_source(causes(&error.without_url()))
}

fn too_slow(endpoint: &Endpoint) -> Fault {
    let (host, time) = (endpoint.url.place(), endpoint.deadline.as_millis());
    let message = format!("{host} did not answer within {time} ms (judge.deadline)");
    passing(Error::new(ErrorKind::Unavailable, message), None, true)
}

fn passing(error: Error, wait: Option<u64>, may_have_cost: bool) -> Fault {
    Fault { sort: FaultSort::Passing(wait), error, may_have_cost }
}

/// Fault on our side: nothing was sent.
fn unsent(doing: &str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    let error = Error::new(ErrorKind::Io, doing).with_source(why);
    passing(error, None, false)
}

/// Message of the innermost cause, the only one that tells anything.
fn causes(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
