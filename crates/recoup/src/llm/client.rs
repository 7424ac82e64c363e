//! One request, one answer, within a deadline that holds to the last byte.
//!
//! No redirect is followed: the key and the user's words are for the host that was named. The
//! runtime lives for one request; do not call this from within another one.

use std::time::Duration;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::text::shorten_text;
use recoup_core::memory::judge::account::{FaultSort, JudgeFault, retry_after};
use recoup_core::{Error, ErrorKind, secrets};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, NoProxy, Response, StatusCode, Url, redirect};
use serde_json::Value;

use super::ModelEndpoint;

/// Maximum size of an answer; expected are some kilobytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Limits for refusals: bytes and time to read them, characters to repeat.
const MAX_REFUSAL_BYTES: usize = 64 << 10;
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_SHOWN_CHARS: usize = 200;

/// An HTTP request to a model API.
#[derive(Debug)]
pub(super) struct ApiRequest {
    pub(super) url: Url,
    /// Headers other than the key's.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// Name of the key's header, and the prefix of its value.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) body: Vec<u8>,
}

/// Reason why there is no answer.
#[derive(Debug)]
pub(super) struct ApiRequestError {
    pub(super) fault: JudgeFault,
    /// The server's message, if it rejects the request itself.
    pub(super) objection: Option<String>,
}

impl From<JudgeFault> for ApiRequestError {
    fn from(fault: JudgeFault) -> Self {
        Self { fault, objection: None }
    }
}

/// Sends the request and returns the body of the answer, both within `time`.
pub(super) fn post(
    endpoint: &ModelEndpoint,
    request: ApiRequest,
    time: Duration,
) -> Result<Vec<u8>, ApiRequestError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| local_fault("starting the HTTP client for the model", error))?;
    let done = runtime.block_on(async {
        let sent = tokio::time::timeout(time, send_request(endpoint, request)).await;
        sent.unwrap_or_else(|_| {
            let (host, time) = (endpoint.url.host_and_port(), endpoint.deadline.as_millis());
            let message = format!("{host} did not answer within {time} ms (judge.deadline)");
            let error = Error::new(ErrorKind::Unavailable, message);
            Err(transient_fault(error, None, true).into())
        })
    });
    // A hanging DNS look-up holds a thread, which is left behind.
    runtime.shutdown_background();
    done
}

async fn send_request(
    endpoint: &ModelEndpoint,
    request: ApiRequest,
) -> Result<Vec<u8>, ApiRequestError> {
    let client = build_client(endpoint)?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in request.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = &endpoint.key {
        let (name, before) = request.key_header;
        let value = HeaderValue::from_str(&format!("{before}{}", key.reveal()));
        let mut value = value.map_err(|_| {
            local_fault("the API key", "it contains characters that are not allowed in a header")
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    let sent = client.post(request.url).headers(headers).body(request.body).send().await;
    let response = sent.map_err(|error| {
        let connecting = error.is_connect();
        let message = format!("{} did not answer", endpoint.url.host_and_port());
        let cause = root_cause(&error.without_url());
        let error = Error::new(ErrorKind::Unavailable, message).with_source(cause);
        transient_fault(error, None, !connecting)
    })?;
    if response.status() != StatusCode::OK {
        return Err(classify_refusal(endpoint, response).await);
    }
    read_body(response, MAX_ANSWER_BYTES)
        .await
        .map_err(|error| transient_fault(error, None, true).into())
}

fn build_client(endpoint: &ModelEndpoint) -> Result<Client, JudgeFault> {
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
            .map_err(|_| local_fault("HTTPS_PROXY", "not a valid proxy address"))?;
        builder = builder.proxy(proxy.no_proxy(except));
    }
    builder.build().map_err(|error| {
        let error = root_cause(&error.without_url());
        local_fault(
            "setting up TLS for the model (are the system's certificates installed?)",
            error,
        )
    })
}

/// Reads the body, up to `most` bytes whatever its length header says.
async fn read_body(mut response: Response, most: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len() + chunk.len() <= most => body.extend_from_slice(&chunk),
            Ok(Some(_)) => {
                let message = format!("the model's answer is larger than {most} bytes");
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            Err(error) => {
                let message = "the model's answer was cut off";
                let cause = root_cause(&error.without_url());
                return Err(Error::new(ErrorKind::Unavailable, message).with_source(cause));
            }
        }
    }
}

/// Classifies an answer with a status other than 200.
async fn classify_refusal(endpoint: &ModelEndpoint, response: Response) -> ApiRequestError {
    let status = response.status();
    let text = |name| {
        response.headers().get(&name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let (wait, elsewhere) = (text(RETRY_AFTER), text(LOCATION));
    let wait = wait.and_then(|header| retry_after(&header, SystemClock.now()));
    let host = endpoint.url.host_and_port();
    if status.is_redirection() {
        let to = elsewhere.and_then(|to| Url::parse(&to).ok()?.host_str().map(str::to_owned));
        let to =
            to.map_or_else(String::new, |to| format!(" to {}", shorten_text(&to, MAX_SHOWN_CHARS)));
        let message =
            format!("{host} redirects{to}, but redirects are not followed: set judge.url");
        let error = Error::new(ErrorKind::Unavailable, message);
        return JudgeFault { sort: FaultSort::Lasting, error, may_have_cost: false }.into();
    }
    let said = tokio::time::timeout(REFUSAL_TIMEOUT, read_body(response, MAX_REFUSAL_BYTES)).await;
    let body = said.ok().and_then(Result::ok).unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    let said = json.pointer("/error/message").or_else(|| json.pointer("/error"));
    let mut said = said.and_then(Value::as_str).unwrap_or(&text).to_owned();
    // The key may be repeated there.
    if let Some(key) = &endpoint.key {
        said = said.replace(key.reveal(), "[key]");
    }
    let said = secrets::redact(&said).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = shorten_text(&said, MAX_SHOWN_CHARS).into_owned();
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
    ApiRequestError { fault: JudgeFault { sort, error, may_have_cost: false }, objection }
}

fn transient_fault(error: Error, wait: Option<u64>, may_have_cost: bool) -> JudgeFault {
    JudgeFault { sort: FaultSort::Passing(wait), error, may_have_cost }
}

/// Fault on our side: nothing was sent.
fn local_fault(
    doing: &str,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> JudgeFault {
    let error = Error::new(ErrorKind::Io, doing).with_source(why);
    transient_fault(error, None, false)
}

/// Message of the innermost cause, the only one that tells anything.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
