//! Requests to upstreams: the client's own, byte for byte, with the host and the headers that the
//! configuration changes.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client, ResponseFuture};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use recoup_core::{Error, ErrorKind, Result};
use tokio::time::timeout;

use super::shared_response::UpstreamFault;
use super::tenants::GatewayCaller;
use crate::config::UpstreamSettings;
use crate::http::{ProxySettings, root_cause};
use crate::llm::{ApiKey, ModelProvider};

/// Time for which an idle connection is kept.
const POOL_IDLE: Duration = Duration::from_secs(90);

/// Headers that concern one connection only (RFC 9110, 7.6.1).
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Body of a request to an upstream: read already, or passed through.
pub(super) type UpstreamBody = Either<Full<Bytes>, super::body::ClientBody>;

type DirectConnector = HttpsConnector<HttpConnector>;

/// Connections to an upstream: its own, or tunnels through a proxy.
#[derive(Debug)]
enum UpstreamClient {
    Direct(Box<Client<DirectConnector, UpstreamBody>>),
    Tunnelled(Box<Client<HttpsConnector<Tunnel<DirectConnector>>, UpstreamBody>>),
}

/// A model API that is asked.
#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) settings: UpstreamSettings,
    /// Key of the gateway's own, for clients that have a token only.
    pub(super) key: Option<ApiKey>,
    client: UpstreamClient,
    authority: HeaderValue,
    base: String,
}

impl UpstreamClient {
    fn new(connect_timeout: Duration, proxy: Option<&Intercept>) -> Result<Self> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect_timeout));
        let tls = || {
            let provider = rustls::crypto::ring::default_provider();
            let builder = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
            builder.map(HttpsConnectorBuilder::https_or_http).map_err(|error| {
                let message = "setting up TLS (are the system's certificates installed?)";
                Error::new(ErrorKind::Io, message).with_source(error)
            })
        };
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .http1_preserve_header_case(true)
            .set_host(false)
            .pool_idle_timeout(POOL_IDLE)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new());
        let Some(proxy) = proxy else {
            let connector = tls()?.enable_all_versions().wrap_connector(connector);
            return Ok(Self::Direct(Box::new(builder.build(connector))));
        };
        // The protocol of the connection to the proxy is not that of the one through it.
        let connector = tls()?.enable_http1().wrap_connector(connector);
        let mut tunnel = Tunnel::new(proxy.uri().clone(), connector);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let connector = tls()?.enable_all_versions().wrap_connector(tunnel);
        Ok(Self::Tunnelled(Box::new(builder.build(connector))))
    }

    fn request(&self, request: Request<UpstreamBody>) -> ResponseFuture {
        match self {
            Self::Direct(client) => client.request(request),
            Self::Tunnelled(client) => client.request(request),
        }
    }
}

impl Upstream {
    /// An upstream, through the proxy unless it is on this machine or excepted. Opens no connection.
    pub(super) fn new(
        settings: UpstreamSettings,
        key: Option<ApiKey>,
        proxy: Option<&ProxySettings>,
    ) -> Result<Self> {
        let base = settings.url.to_string();
        let proxy = proxy.filter(|_| base.starts_with("https:") && !settings.url.is_loopback());
        let wrong = |error| Error::usage("the upstream's address").with_source(error);
        let uri: Uri = base.parse().map_err(wrong)?;
        let proxy = proxy.map(|proxy| proxy.for_uri(&uri)).transpose()?.flatten();
        let client = UpstreamClient::new(settings.connect_timeout, proxy.as_ref())?;
        let authority = base.split_once("://").map_or(base.as_str(), |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or_default();
        let authority = HeaderValue::from_str(authority)
            .map_err(|error| Error::usage("the upstream's address").with_source(error))?;
        Ok(Self { settings, key, client, authority, base })
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn send(
        &self,
        head: &Parts,
        path_and_query: &str,
        body: UpstreamBody,
        caller: &GatewayCaller,
    ) -> Result<Response<Incoming>, UpstreamFault> {
        let fault = |status, message: String| UpstreamFault { status, message };
        let uri: Uri = format!("{}{path_and_query}", self.base)
            .parse()
            .map_err(|_| fault(StatusCode::BAD_REQUEST, "the path is not valid".to_owned()))?;
        let mut request = Request::new(body);
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers(&head.headers, caller);
        // Has the spelling of the headers.
        *request.extensions_mut() = head.extensions.clone();
        let name = &self.settings.name;
        match timeout(self.settings.answer_timeout, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(fault(
                StatusCode::BAD_GATEWAY,
                format!("cannot reach the upstream {name}: {}", root_cause(&error)),
            )),
            Ok(Err(error)) => Err(fault(
                StatusCode::BAD_GATEWAY,
                format!("the upstream {name} gave no valid answer: {}", root_cause(&error)),
            )),
            Err(_) => Err(fault(
                StatusCode::GATEWAY_TIMEOUT,
                format!(
                    "the upstream {name} did not answer within {} s",
                    self.settings.answer_timeout.as_secs()
                ),
            )),
        }
    }

    /// The client's headers in their order, with the upstream's host.
    fn headers(&self, given: &HeaderMap, caller: &GatewayCaller) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(given.len() + 2);
        let changed = &self.settings.headers;
        let is_upgrade = is_websocket(given);
        for (name, value) in given {
            let is_ours = name.as_str().starts_with("recoup-");
            let is_hop = is_connection_header(name, given)
                && !(is_upgrade && (*name == header::UPGRADE || *name == header::CONNECTION));
            let is_token = caller.token_headers.contains(name);
            if is_ours || is_hop || is_token || changed.contains_key(name.as_str()) {
                continue;
            }
            let is_host = *name == header::HOST;
            headers.append(name, if is_host { self.authority.clone() } else { value.clone() });
        }
        headers.entry(header::HOST).or_insert_with(|| self.authority.clone());
        for (name, value) in changed {
            let value = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok());
            if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
                headers.insert(name, value);
            }
        }
        if let Some(key) = self.key.as_ref().filter(|_| caller.sends_gateway_key) {
            let (name, value) = match self.settings.api {
                ModelProvider::Anthropic => {
                    (HeaderName::from_static("x-api-key"), key.reveal().to_owned())
                }
                ModelProvider::OpenAi => {
                    (header::AUTHORIZATION, format!("Bearer {}", key.reveal()))
                }
            };
            if let Ok(mut value) = HeaderValue::from_str(&value) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        headers
    }
}

/// True if a client asks for a websocket. Other upgrades concern the connection only.
pub(super) fn is_websocket(headers: &HeaderMap) -> bool {
    let wanted = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok());
    wanted.is_some_and(|it| it.eq_ignore_ascii_case("websocket"))
}

/// True for headers that concern one connection only, also those that `Connection` names.
pub(super) fn is_connection_header(name: &HeaderName, headers: &HeaderMap) -> bool {
    let is_named = || {
        let values = headers.get_all(header::CONNECTION).iter();
        let mut words = values.filter_map(|value| value.to_str().ok()).flat_map(|it| it.split(','));
        words.any(|word| word.trim().eq_ignore_ascii_case(name.as_str()))
    };
    HOP_BY_HOP.contains(name)
        || matches!(name.as_str(), "keep-alive" | "proxy-connection")
        || is_named()
}

/// Headers of an answer without those of its connection.
pub(super) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(headers.len() + 2);
    for (name, value) in headers.iter().filter(|(name, _)| !is_connection_header(name, headers)) {
        kept.append(name, value.clone());
    }
    kept
}
