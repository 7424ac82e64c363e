//! Status of a gateway that runs: what it serves at `/recoup/status`, and how a command asks for it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use recoup_core::base::clock::Timestamp;
use recoup_core::error::IoContext as _;
use recoup_core::key::Scope;
use recoup_core::{Error, ErrorKind, Result};
use reqwest::redirect;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::body::AnswerBody;
use super::response::plain_answer;
use super::tenants::TOKEN_HEADER;
use super::{Gateway, LiveSettings};
use crate::config::{GatewayCacheRule, GatewaySettings, env};
use crate::http::{ProxySettings, client_builder, client_error, read_body, root_cause};
use crate::llm::BaseUrl;

/// Path of the status.
pub(super) const STATUS_PATH: &str = "/recoup/status";
/// Longest time for an answer with a status, and its largest size.
const STATUS_TIMEOUT: Duration = Duration::from_secs(15);
const MAX_STATUS_BYTES: usize = 4 << 20;

/// Facts about the server that no reload changes, and about its last reload.
#[derive(Debug)]
pub(super) struct ServerFacts {
    pub(super) url: String,
    /// Address that is listened at.
    pub(super) address: SocketAddr,
    pub(super) store: String,
    pub(super) started: Timestamp,
    /// Free places for connections, of this many.
    pub(super) places: Arc<Semaphore>,
    pub(super) max_connections: usize,
    pub(super) last_reload: Mutex<Option<ReloadStatus>>,
}

/// A reload of the configuration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReloadStatus {
    pub(crate) at: String,
    /// Reason why the old configuration stayed.
    pub(crate) refused: Option<String>,
}

/// Status of a gateway.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GatewayStatus {
    pub(crate) version: String,
    pub(crate) url: String,
    pub(crate) started: String,
    pub(crate) uptime_seconds: u64,
    pub(crate) store: StoreStatus,
    pub(crate) connections: usize,
    pub(crate) max_connections: usize,
    pub(crate) requests: RequestTotals,
    /// Part of the cacheable requests that were answered from the cache; none before the first.
    pub(crate) hit_rate: Option<f64>,
    pub(crate) last_reload: Option<ReloadStatus>,
    pub(crate) upstreams: Vec<UpstreamStatus>,
    pub(crate) rules: Vec<RuleStatus>,
    pub(crate) tenants: Vec<String>,
    pub(crate) traces: Option<String>,
}

/// State of the store.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoreStatus {
    pub(crate) url: String,
    pub(crate) is_readable: bool,
    pub(crate) errors: u64,
}

/// Requests to upstreams since the start, and what became of them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RequestTotals {
    pub(crate) by_outcome: BTreeMap<String, u64>,
    pub(crate) open_answers: u64,
    pub(crate) stored: u64,
    pub(crate) saved_tokens: u64,
    pub(crate) saved_micro_dollars: u64,
}

/// An upstream.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UpstreamStatus {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) api: String,
}

/// A rule of what is kept, in the order in which they are tried.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RuleStatus {
    pub(crate) model: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) upstream: Option<String>,
    pub(crate) ttl: String,
    pub(crate) stale_while_revalidate: Option<String>,
}

impl RuleStatus {
    fn of(rule: &GatewayCacheRule) -> Self {
        Self {
            model: rule.model.as_ref().map(|it| it.as_str().to_owned()),
            path: rule.path.as_ref().map(|it| it.as_str().to_owned()),
            upstream: rule.upstream.clone(),
            ttl: rule.ttl.map_or_else(|| "off".to_owned(), |ttl| ttl.to_string()),
            stale_while_revalidate: rule.stale.map(|time| time.to_string()),
        }
    }
}

impl RequestTotals {
    fn hit_rate(&self) -> Option<f64> {
        let count = |outcome: &str| self.by_outcome.get(outcome).copied().unwrap_or_default();
        let hits = count("hit") + count("stale");
        let all = hits + count("miss");
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        (all > 0).then(|| hits as f64 / all as f64)
    }
}

impl Gateway {
    /// True if the store can be read.
    pub(super) async fn reads_store(&self) -> bool {
        let cache = self.cache.clone();
        let probe = spawn_blocking(move || cache.usage(&Scope::global()));
        matches!(probe.await, Ok(Ok(_)))
    }

    /// Answers with the status, as JSON.
    pub(super) async fn status_answer(&self, live: &LiveSettings) -> Response<AnswerBody> {
        let is_readable = self.reads_store().await;
        let ServerFacts { url, store, started, places, max_connections, last_reload, .. } =
            &self.server;
        let LiveSettings { settings, .. } = live;
        let requests = self.observer.metrics.totals();
        let status = GatewayStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            url: url.clone(),
            started: started.to_second_string(),
            uptime_seconds: self.cache.clock().now().millis_since(*started) / 1000,
            store: StoreStatus {
                url: store.clone(),
                is_readable,
                errors: self.observer.metrics.store_errors.load(Ordering::Relaxed),
            },
            connections: max_connections.saturating_sub(places.available_permits()),
            max_connections: *max_connections,
            hit_rate: requests.hit_rate(),
            requests,
            last_reload: last_reload.lock().clone(),
            upstreams: settings
                .upstreams
                .iter()
                .map(|it| UpstreamStatus {
                    name: it.name.clone(),
                    url: it.url.to_string(),
                    api: it.api.as_str().to_owned(),
                })
                .collect(),
            rules: settings.rules.iter().map(RuleStatus::of).collect(),
            tenants: settings.tenants.iter().map(|it| it.name.to_string()).collect(),
            traces: settings.traces.clone(),
        };
        let text = serde_json::to_vec(&status).unwrap_or_default();
        let mut response = plain_answer(StatusCode::OK, text);
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

/// A question to a gateway for its status, at its address and with its token.
#[derive(Debug)]
pub(crate) struct StatusQuery {
    url: String,
    proxy: Option<ProxySettings>,
    /// Name in the certificate, with the address at which it listens on this machine.
    resolved: Option<(String, SocketAddr)>,
    token: Option<String>,
}

impl StatusQuery {
    /// The gateway at `url`, or else the one on this machine that the settings describe.
    pub(crate) fn new(url: Option<&str>, settings: &GatewaySettings) -> Result<Self> {
        let tenants = settings.tenants.iter().map(|tenant| &tenant.token_env);
        let token = env::gateway_token()?
            .or_else(|| tenants.into_iter().find_map(|name| env::named_variable(name)));
        if let Some(url) = url {
            let url = BaseUrl::parse(url).map_err(|error| error.context("--url"))?;
            let proxy = env::proxy().filter(|_| !url.is_loopback());
            return Ok(Self { url: url.to_string(), proxy, resolved: None, token });
        }
        let mut address = settings.listen;
        if address.ip().is_unspecified() {
            let local: std::net::IpAddr = match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            address.set_ip(local);
        }
        let host = settings.hosts.first().filter(|_| settings.tls.is_some());
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        let authority =
            host.map_or_else(|| address.to_string(), |host| format!("{host}:{}", address.port()));
        let resolved = host.map(|host| (host.clone(), address));
        Ok(Self { url: format!("{scheme}://{authority}"), proxy: None, resolved, token })
    }

    /// Asks for the status.
    pub(crate) fn fetch(&self) -> Result<GatewayStatus> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .with_context(|| "asking the gateway".to_owned())?;
        runtime.block_on(self.ask())
    }

    async fn ask(&self) -> Result<GatewayStatus> {
        let Self { url, proxy, resolved, token } = self;
        let failed = |why: String| Error::new(ErrorKind::Io, why);
        let builder = client_builder(url.starts_with("https:"), proxy.as_ref())?;
        let mut builder = builder.timeout(STATUS_TIMEOUT).redirect(redirect::Policy::none());
        if let Some((host, address)) = resolved {
            builder = builder.resolve(host, *address);
        }
        let client = builder.build().map_err(client_error)?;
        let mut request = client.get(format!("{url}{STATUS_PATH}"));
        if let Some(token) = token {
            request = request.header(TOKEN_HEADER, token);
        }
        let answer = request.send().await.map_err(|error| {
            failed(format!(
                "no gateway answers at {url} ({}): start one with `recoup gateway`, or name its \
                 address with --url",
                root_cause(&error.without_url())
            ))
        })?;
        match answer.status().as_u16() {
            200 => {}
            401 => {
                let why = "needs a token: set RECOUP_GATEWAY_TOKEN to it, or to that of a tenant";
                return Err(failed(format!("the gateway at {url} {why}")));
            }
            other => {
                let why = "is it a gateway, and of this version?";
                return Err(failed(format!("{url} has no status (HTTP {other}): {why}")));
            }
        }
        let body = read_body(answer, MAX_STATUS_BYTES).await.unwrap_or_default();
        serde_json::from_slice(&body).map_err(|_| {
            failed(format!(
                "{url} gave no status that can be read: is it a gateway of this version?"
            ))
        })
    }
}
