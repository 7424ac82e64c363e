//! Which upstream a request is for: the one that its path names (`/NAME/v1/…`), or else the first one
//! with the API that it speaks.

use std::sync::Arc;

use hyper::header;
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};

use super::upstream::Upstream;
use super::{GatewayRefusal, LiveSettings};
use crate::config::UpstreamSettings;
use crate::llm::ModelProvider;

/// Path and query at an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoutedPath {
    text: String,
    path_len: usize,
}

impl RoutedPath {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), path_len: text.find('?').unwrap_or(text.len()) }
    }

    pub(super) fn path(&self) -> &str {
        &self.text[..self.path_len]
    }

    pub(super) fn query(&self) -> Option<&str> {
        self.text.get(self.path_len + 1..)
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

/// The upstream of a request, and the path there.
pub(super) fn find_upstream<'u, U>(
    upstreams: &'u [U],
    settings_of: impl Fn(&U) -> &UpstreamSettings,
    head: &Parts,
) -> Option<(&'u U, RoutedPath)> {
    let whole = head.uri.path_and_query().map_or("/", |it| it.as_str());
    let (first, rest) = whole.strip_prefix('/')?.split_once('/')?;
    if let Some(upstream) = upstreams.iter().find(|it| settings_of(it).name == first) {
        return Some((upstream, RoutedPath::new(&format!("/{rest}"))));
    }
    if first != "v1" {
        return None;
    }
    let is_anthropic = head.uri.path().starts_with("/v1/messages")
        || head.headers.contains_key("anthropic-version");
    let api = if is_anthropic { ModelProvider::Anthropic } else { ModelProvider::OpenAi };
    let name = api.as_str();
    let has_api = |it: &&U| settings_of(it).api == api;
    let own = upstreams.iter().find(|it| settings_of(it).name == name && has_api(it));
    let upstream = own.or_else(|| upstreams.iter().find(has_api))?;
    Some((upstream, RoutedPath::new(whole)))
}

/// The refusal of a path that leads nowhere.
pub(super) fn unknown_upstream(upstreams: &[Arc<Upstream>], head: &Parts) -> GatewayRefusal {
    let names: Vec<String> =
        upstreams.iter().map(|it| format!("/{}/v1/…", it.settings.name)).collect();
    let message = format!(
        "no upstream for {}: expected /v1/… or one of {}",
        head.uri.path().chars().take(100).collect::<String>(),
        names.join(", ")
    );
    GatewayRefusal::new(StatusCode::NOT_FOUND, message)
}

impl LiveSettings {
    /// Refuses requests that a web page may have sent: their host is not ours, or they have an origin.
    pub(super) fn check_host<B>(&self, request: &Request<B>) -> Result<(), GatewayRefusal> {
        let refused = |message: &str| Err(GatewayRefusal::new(StatusCode::FORBIDDEN, message));
        let hosts: Vec<_> = request.headers().get_all(header::HOST).iter().collect();
        let named = request.uri().authority().map(hyper::http::uri::Authority::as_str);
        let host = match (hosts.as_slice(), named) {
            ([one], _) => one.to_str().unwrap_or_default(),
            ([], Some(named)) => named,
            _ => return refused("expected exactly one Host header"),
        };
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let is_address = name.parse::<std::net::IpAddr>().is_ok_and(|ip| {
            ip.is_loopback()
                || ip == self.settings.listen.ip()
                || !self.settings.listen.ip().is_loopback()
        });
        let is_known = is_address
            || name.eq_ignore_ascii_case("localhost")
            || self.settings.hosts.iter().any(|it| it.eq_ignore_ascii_case(name));
        if !is_known {
            return refused("unknown Host: add it to gateway.hosts if it is yours");
        }
        if request.headers().contains_key(header::ORIGIN) && !self.tenants.needs_token() {
            return refused("requests of web pages need a token");
        }
        Ok(())
    }
}
