//! HTTP as every client of ours speaks it, to models, MCP servers and REST endpoints: the settings of
//! a connection, limits for what is read, and causes in few words. And the tokens of our own servers.

use std::fmt;
use std::time::Duration;

use hyper::Uri;
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use recoup_core::{Error, ErrorKind, Result};
use reqwest::{ClientBuilder, NoProxy, Response};
use tokio::time::timeout;

/// Limits for refusals: bytes and time to read them.
const MAX_REFUSAL_BYTES: usize = 64 << 10;
pub(crate) const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);

/// Proxy. Its URL may have a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// URL of the proxy.
    pub url: String,
    /// Hosts that are reached without it, separated by commas.
    pub except: Option<String>,
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxy(…)")
    }
}

impl ProxySettings {
    /// The proxy for an encrypted connection to `uri`; none if it is to be reached without one.
    pub(crate) fn for_uri(&self, uri: &Uri) -> Result<Option<Intercept>> {
        let matcher = |except: &str| Matcher::builder().https(&*self.url).no(except).build();
        let proxy = matcher("").intercept(uri);
        let scheme = proxy.as_ref().and_then(|proxy| proxy.uri().scheme_str());
        if !matches!(scheme, Some("http" | "https")) {
            // The URL is left out: it may have a password.
            return Err(Error::usage(
                "HTTPS_PROXY: expected http://HOST:PORT or https://HOST:PORT",
            ));
        }
        Ok(matcher(self.except.as_deref().unwrap_or_default()).intercept(uri))
    }
}

/// Reason why a body could not be read.
#[derive(Debug)]
pub(crate) enum BodyFault {
    CutOff(reqwest::Error),
    /// More bytes than this.
    TooLarge(usize),
}

/// A client for plain HTTP, or for HTTPS through the proxy if there is one.
pub(crate) fn client_builder(
    is_encrypted: bool,
    proxy: Option<&ProxySettings>,
) -> Result<ClientBuilder> {
    // Fails if it is installed already: the store's connections use the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = ClientBuilder::new()
        .no_proxy()
        .referer(false)
        .user_agent(concat!("recoup/", env!("CARGO_PKG_VERSION")));
    if !is_encrypted {
        // Plain HTTP needs no certificates.
        return Ok(builder.tls_certs_only([]));
    }
    let Some(proxy) = proxy else { return Ok(builder) };
    let except = proxy.except.as_deref().and_then(NoProxy::from_string);
    // The cause is left out: the URL may have a password.
    let proxy = reqwest::Proxy::https(&proxy.url)
        .map_err(|_| Error::usage("HTTPS_PROXY: not a valid proxy address"))?;
    Ok(builder.proxy(proxy.no_proxy(except)))
}

/// Error of a client that could not be built.
pub(crate) fn client_error(error: reqwest::Error) -> Error {
    let message = "setting up HTTP (are the system's certificates installed?)";
    Error::new(ErrorKind::Io, message).with_source(root_cause(&error.without_url()))
}

/// Reads a body, up to `most` bytes whatever its length header says.
pub(crate) async fn read_body(mut response: Response, most: usize) -> Result<Vec<u8>, BodyFault> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(BodyFault::CutOff)? {
        if body.len() + piece.len() > most {
            return Err(BodyFault::TooLarge(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Reads the body of a refusal; empty if it cannot be read in a moment.
pub(crate) async fn read_refusal(response: Response) -> Vec<u8> {
    let read = timeout(REFUSAL_TIMEOUT, read_body(response, MAX_REFUSAL_BYTES)).await;
    read.ok().and_then(Result::ok).unwrap_or_default()
}

/// Message of the innermost cause, the only one that tells anything.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Token of a request, as `Authorization: Bearer TOKEN`.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares tokens in constant time.
pub(crate) fn is_same_token(given: &str, known: &str) -> bool {
    let bytes = given.bytes().zip(known.bytes());
    let differing = bytes.fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == known.len() && differing == 0
}
