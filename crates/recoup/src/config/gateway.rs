//! Settings of `recoup gateway`: the table `[gateway]` of the user's own file. A repository can't set
//! any of it: it decides where requests with credentials go.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use recoup_core::base::name::SafeName;
use recoup_core::cache::Ttl;
use recoup_core::entry::to_micro_dollars;
use recoup_core::key::model_request::TextNormaliser;
use recoup_core::secrets::SecretValues;

use super::document::{ConfigNode, ConfigValue};
use super::env;
use super::node_reader::NodeReader;
use super::value::is_variable_name;
use crate::llm::{BaseUrl, ModelProvider};
use crate::toolbox::NamePattern;

/// Name of the table.
pub(super) const GATEWAY: &str = "gateway";

/// Settings of the gateway.
#[derive(Debug, Clone)]
pub struct GatewaySettings {
    pub(crate) listen: SocketAddr,
    /// Host names by which clients on other machines reach it.
    pub(crate) hosts: Vec<String>,
    /// PEM files of the certificate chain and its key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) upstreams: Vec<UpstreamSettings>,
    /// Rules of what is cached and for how long; the first that matches counts.
    pub(crate) rules: Vec<GatewayCacheRule>,
    pub(crate) normalisers: Vec<TextNormaliser>,
    /// Further headers that count.
    pub(crate) key_headers: Vec<String>,
    pub(crate) tenants: Vec<TenantSettings>,
    /// True if a token in `RECOUP_GATEWAY_TOKEN` is asked for.
    pub(crate) takes_token: bool,
    /// Budget of callers without a tenant.
    pub(crate) budget: DailyBudget,
    pub(crate) limits: GatewayLimits,
    /// True if an answer that nobody waits for any more is read to its end, and kept.
    pub(crate) finishes_abandoned: bool,
    /// True if streams are replayed as fast as they were recorded, and not at once.
    pub(crate) keeps_pace: bool,
    pub(crate) logs: GatewayLogs,
    /// URL of a collector of traces (OTLP over HTTP), without a slash at its end.
    pub(crate) traces: Option<String>,
}

/// Logs that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GatewayLogs {
    pub(crate) access: bool,
    /// Digests, from which `recoup explain` says more about past requests.
    pub(crate) requests: bool,
}

/// A model API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpstreamSettings {
    pub(crate) name: String,
    pub(crate) api: ModelProvider,
    pub(crate) url: BaseUrl,
    /// Variable with the key that clients of a tenant use without knowing it.
    pub(crate) key_env: Option<String>,
    /// Headers that are set, or removed if they have no value.
    pub(crate) headers: BTreeMap<String, Option<String>>,
    pub(crate) connect_timeout: Duration,
    /// Longest wait for the head of an answer.
    pub(crate) answer_timeout: Duration,
    /// Longest silence within an answer.
    pub(crate) idle_timeout: Duration,
}

/// A duration for some requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct GatewayCacheRule {
    pub(crate) model: Option<NamePattern>,
    pub(crate) path: Option<NamePattern>,
    pub(crate) upstream: Option<String>,
    pub(crate) ttl: Option<Ttl>,
    /// Time beyond the TTL in which a stale answer may be served while it is refreshed.
    pub(crate) stale: Option<Ttl>,
    /// True if answers that were cut by the token limit are kept.
    pub(crate) keeps_truncated: bool,
    /// True if answers with tools that run at the provider are kept.
    pub(crate) keeps_server_tools: bool,
}

/// Users of the gateway who share entries, limits and a token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TenantSettings {
    pub(crate) name: SafeName,
    /// Variable with the token.
    pub(crate) token_env: String,
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) budget: DailyBudget,
}

/// Most that may be spent on a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DailyBudget {
    pub(crate) tokens: Option<u64>,
    pub(crate) micro_dollars: Option<u64>,
}

/// Limits of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GatewayLimits {
    pub(crate) connections: usize,
    /// Largest request that is read whole, in bytes; a larger one passes uncached.
    pub(crate) request_bytes: usize,
    /// Largest answer that is kept, in bytes.
    pub(crate) answer_bytes: usize,
    /// Longest time for the head of a request.
    pub(crate) head_timeout: Duration,
    /// Longest time that a client may stop reading or writing.
    pub(crate) client_timeout: Duration,
    /// Longest time for open answers at the end.
    pub(crate) drain_timeout: Duration,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8787)),
            hosts: Vec::new(),
            tls: None,
            upstreams: [ModelProvider::Anthropic, ModelProvider::OpenAi]
                .map(UpstreamSettings::built_in)
                .to_vec(),
            rules: Vec::new(),
            normalisers: Vec::new(),
            key_headers: Vec::new(),
            tenants: Vec::new(),
            takes_token: true,
            budget: DailyBudget::default(),
            limits: GatewayLimits {
                connections: 4096,
                request_bytes: 32 << 20,
                answer_bytes: 32 << 20,
                head_timeout: Duration::from_secs(30),
                client_timeout: Duration::from_mins(5),
                drain_timeout: Duration::from_mins(10),
            },
            finishes_abandoned: true,
            keeps_pace: false,
            logs: GatewayLogs { access: true, requests: true },
            traces: None,
        }
    }
}

impl GatewaySettings {
    /// Sets the duration of answers for which no rule has one.
    pub(crate) fn set_general_ttl(&mut self, ttl: Ttl) {
        let is_general = |rule: &&mut GatewayCacheRule| {
            rule.model.is_none() && rule.path.is_none() && rule.upstream.is_none()
        };
        match self.rules.iter_mut().find(is_general) {
            Some(rule) => rule.ttl = Some(ttl),
            None => self.rules.push(GatewayCacheRule { ttl: Some(ttl), ..Default::default() }),
        }
    }
}

impl GatewaySettings {
    /// Credentials that the gateway itself adds to requests, or lets callers in with.
    pub(crate) fn credentials(&self) -> SecretValues {
        let keys = self.upstreams.iter().filter_map(|upstream| upstream.key_env.as_deref());
        let tokens = self.tenants.iter().map(|tenant| tenant.token_env.as_str());
        let variables = keys.chain(tokens).filter_map(env::named_variable);
        let headers =
            self.upstreams.iter().flat_map(|upstream| upstream.headers.values().flatten());
        // As it is, and without the scheme in front of it.
        let headers = headers.flat_map(|value| {
            let bare = value.split_once(' ').map(|(_, rest)| rest.to_owned());
            bare.into_iter().chain([value.clone()])
        });
        SecretValues::of_values(variables.chain(headers))
    }

    /// Settings for a replay, which asks nobody: without keys, tokens, budgets and logs, and with these upstreams.
    pub(crate) fn for_replay(&mut self, upstreams: &[(String, ModelProvider)]) {
        self.takes_token = false;
        self.tenants.clear();
        self.budget = DailyBudget::default();
        self.logs = GatewayLogs { access: false, requests: false };
        self.traces = None;
        for upstream in &mut self.upstreams {
            upstream.key_env = None;
        }
        for (name, api) in upstreams {
            if self.upstreams.iter().all(|it| it.name != *name) {
                self.upstreams.push(UpstreamSettings::new(name, *api, api.default_url()));
            }
        }
    }
}

impl UpstreamSettings {
    /// The API of a provider at its own address.
    fn built_in(api: ModelProvider) -> Self {
        // The gateway's paths have the version that the base URL of one API has.
        let url = match api {
            ModelProvider::Anthropic => "https://api.anthropic.com",
            ModelProvider::OpenAi => "https://api.openai.com",
        };
        Self::new(api.as_str(), api, BaseUrl::parse(url).unwrap_or_else(|_| api.default_url()))
    }

    fn new(name: &str, api: ModelProvider, url: BaseUrl) -> Self {
        Self {
            name: name.to_owned(),
            api,
            url,
            key_env: None,
            headers: BTreeMap::new(),
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_mins(5),
        }
    }
}

const KEYS: [&str; 21] = [
    "listen", "hosts", "tls_certificate", "tls_key", "ttl", "stale_while_revalidate", "cache",
    "upstreams", "normalise", "key_headers", "tenants", "max_connections", "max_request_mb",
    "max_answer_mb", "finish_abandoned", "replay", "access_log", "request_log", "tokens_per_day",
    "usd_per_day", "traces",
];

/// Reads the table `[gateway]`; problems are in the reader.
pub(super) fn read_gateway(node: &ConfigNode, reader: &mut NodeReader) -> GatewaySettings {
    let mut settings = GatewaySettings::default();
    let mut general = GatewayCacheRule::default();
    let (mut certificate, mut key_file) = (None, None);
    for (name, node) in reader.table(GATEWAY, node).into_iter().flatten() {
        let key = format!("{GATEWAY}.{name}");
        match name.as_str() {
            "listen" => {
                let text = reader.text(&key, node, "an address such as 127.0.0.1:8787");
                match text.map(|text| text.parse()) {
                    Some(Ok(address)) => settings.listen = address,
                    Some(Err(_)) => reader.add_type(&key, node, "IP:PORT"),
                    None => {}
                }
            }
            "hosts" => {
                settings.hosts = texts(reader, &key, node, "host names");
                if settings.hosts.iter().any(|host| host.contains(['/', ':', ' '])) {
                    reader.add(
                        &key,
                        node,
                        "expected names such as llm.example.com, without a port",
                    );
                }
            }
            "tls_certificate" => certificate = reader.text(&key, node, "the path of a PEM file"),
            "tls_key" => key_file = reader.text(&key, node, "the path of a PEM file"),
            "ttl" => general.ttl = reader.ttl(&key, node),
            "stale_while_revalidate" => general.stale = read_grace(reader, &key, node),
            "cache" => settings.rules = read_rules(&key, node, reader),
            "upstreams" => read_upstreams(&key, node, reader, &mut settings.upstreams),
            "normalise" => settings.normalisers = read_normalisers(&key, node, reader),
            "key_headers" => {
                settings.key_headers = header_names(reader, &key, node);
                let is_credential = |name: &String| CREDENTIALS.contains(&name.as_str());
                if settings.key_headers.iter().any(is_credential) {
                    reader.add(
                        &key,
                        node,
                        "a credential is no part of a key: tenants tell callers apart",
                    );
                }
            }
            "tenants" => settings.tenants = read_tenants(&key, node, reader),
            "max_connections" => {
                let count = reader.count(&key, node).and_then(|count| usize::try_from(count).ok());
                settings.limits.connections = count.unwrap_or(settings.limits.connections);
            }
            "max_request_mb" => {
                read_megabytes(reader, &key, node, &mut settings.limits.request_bytes);
            }
            "max_answer_mb" => {
                read_megabytes(reader, &key, node, &mut settings.limits.answer_bytes);
            }
            "finish_abandoned" => {
                settings.finishes_abandoned = reader.boolean(&key, node).unwrap_or(true);
            }
            "replay" => match reader.text(&key, node, REPLAY).as_deref() {
                Some("at once") => settings.keeps_pace = false,
                Some("recorded") => settings.keeps_pace = true,
                Some(_) => reader.add_type(&key, node, REPLAY),
                None => {}
            },
            "request_log" => settings.logs.requests = reader.boolean(&key, node).unwrap_or(true),
            "tokens_per_day" | "usd_per_day" => {
                read_budget(name, &key, node, reader, &mut settings.budget);
            }
            "access_log" => settings.logs.access = reader.boolean(&key, node).unwrap_or(true),
            "traces" => settings.traces = read_collector(reader, &key, node),
            _ => reader.add_unknown(
                &key,
                node,
                &KEYS.map(|key| format!("{GATEWAY}.{key}")).each_ref().map(String::as_str),
            ),
        }
    }
    for rule in &settings.rules {
        let is_known = |name: &String| settings.upstreams.iter().any(|it| it.name == *name);
        if let Some(name) = rule.upstream.as_ref().filter(|name| !is_known(name)) {
            let key = format!("{GATEWAY}.cache.upstream");
            reader.add(&key, node, format!("there is no upstream {name:?}"));
        }
    }
    // Behind the others: the first that matches counts.
    settings.rules.push(general);
    match (certificate, key_file) {
        (Some(certificate), Some(key)) => settings.tls = Some((certificate.into(), key.into())),
        (None, None) => {}
        _ => reader.add(GATEWAY, node, "tls_certificate and tls_key must be given together"),
    }
    settings
}

/// Headers with credentials.
const CREDENTIALS: [&str; 4] = ["authorization", "x-api-key", "api-key", "cookie"];

const REPLAY: &str = "\"at once\" or \"recorded\"";

fn texts(reader: &mut NodeReader, key: &str, node: &ConfigNode, what: &str) -> Vec<String> {
    let texts = reader.texts(key, node, what);
    texts.into_iter().flatten().map(|(text, _)| text).collect()
}

/// URL of a collector. The value is not repeated: it may have a password.
fn read_collector(reader: &mut NodeReader, key: &str, node: &ConfigNode) -> Option<String> {
    let expected = "a URL such as http://127.0.0.1:4318, without a user, a ? or a #";
    let text = reader.text(key, node, expected)?;
    let is_usable = |url: &reqwest::Url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    let url = reqwest::Url::parse(&text).ok().filter(is_usable);
    if url.is_none() {
        reader.add(key, node, format!("expected {expected}"));
    }
    url.map(|url| url.as_str().trim_end_matches('/').to_owned())
}

/// Names of headers, in small letters.
fn header_names(reader: &mut NodeReader, key: &str, node: &ConfigNode) -> Vec<String> {
    let names = texts(reader, key, node, "names of headers");
    for name in names.iter().filter(|name| HeaderName::from_bytes(name.as_bytes()).is_err()) {
        reader.add(key, node, format!("{name:?} is not the name of a header"));
    }
    names.iter().map(|name| name.to_lowercase()).collect()
}

/// Time beyond the TTL.
fn read_grace(reader: &mut NodeReader, key: &str, node: &ConfigNode) -> Option<Ttl> {
    let grace = reader.ttl(key, node)?;
    if grace.as_millis().is_none() && grace != Ttl::Off {
        reader.add(key, node, "expected a duration with an end, such as 1h");
    }
    Some(grace)
}

fn read_megabytes(reader: &mut NodeReader, key: &str, node: &ConfigNode, bytes: &mut usize) {
    if let Some(count) = reader.count(key, node) {
        *bytes = usize::try_from(u64::from(count) << 20).unwrap_or(usize::MAX);
    }
}

fn read_rules(key: &str, node: &ConfigNode, reader: &mut NodeReader) -> Vec<GatewayCacheRule> {
    const KEYS: [&str; 7] = [
        "model", "path", "upstream", "ttl", "stale_while_revalidate", "keep_truncated",
        "keep_server_tools",
    ];
    let ConfigValue::List(items) = &node.value else {
        reader.add_type(key, node, "a list: [[gateway.cache]]");
        return Vec::new();
    };
    let mut rules = Vec::new();
    for item in items {
        let mut rule = GatewayCacheRule::default();
        for (name, node) in reader.table(key, item).into_iter().flatten() {
            let key = format!("{key}.{name}");
            match name.as_str() {
                "model" => rule.model = pattern(reader, &key, node),
                "path" => rule.path = pattern(reader, &key, node),
                "upstream" => rule.upstream = reader.text(&key, node, "the name of an upstream"),
                "ttl" => rule.ttl = reader.ttl(&key, node),
                "stale_while_revalidate" => rule.stale = read_grace(reader, &key, node),
                "keep_truncated" => {
                    rule.keeps_truncated = reader.boolean(&key, node).unwrap_or_default();
                }
                "keep_server_tools" => {
                    rule.keeps_server_tools = reader.boolean(&key, node).unwrap_or_default();
                }
                _ => reader.add_unknown(&key, node, &KEYS),
            }
        }
        if rule.ttl.is_none() {
            reader.add(key, item, "a rule needs a ttl");
        }
        rules.push(rule);
    }
    rules
}

fn pattern(reader: &mut NodeReader, key: &str, node: &ConfigNode) -> Option<NamePattern> {
    let text = reader.text(key, node, "a name, which may have a *")?;
    Some(NamePattern::new(text))
}

fn read_upstreams(
    key: &str,
    node: &ConfigNode,
    reader: &mut NodeReader,
    upstreams: &mut Vec<UpstreamSettings>,
) {
    const KEYS: [&str; 8] = [
        "url", "api", "key_env", "set_headers", "remove_headers", "connect_timeout",
        "answer_timeout", "idle_timeout",
    ];
    for (name, node) in reader.table(key, node).into_iter().flatten() {
        let key = format!("{key}.{name}");
        if SafeName::parse("upstream", name).is_err() || name == "v1" {
            reader.add(&key, node, "an upstream's name is a part of paths: use letters and digits");
            continue;
        }
        let known = upstreams.iter().find(|it| it.name == *name).cloned();
        let mut upstream = known.unwrap_or_else(|| {
            let api = ModelProvider::OpenAi;
            UpstreamSettings::new(name, api, api.default_url())
        });
        let mut has_url = upstreams.iter().any(|it| it.name == *name);
        for (entry, node) in reader.table(&key, node).into_iter().flatten() {
            let key = format!("{key}.{entry}");
            match entry.as_str() {
                "url" => match reader.text(&key, node, "a URL").map(|it| BaseUrl::parse(&it)) {
                    Some(Ok(url)) => (upstream.url, has_url) = (url, true),
                    Some(Err(error)) => {
                        has_url = true;
                        reader.add(&key, node, error.to_string());
                    }
                    None => {}
                },
                "api" => {
                    let text = reader.text(&key, node, "anthropic or openai");
                    match text.as_deref().map(ModelProvider::parse) {
                        Some(Some(api)) => upstream.api = api,
                        Some(None) => reader.add_type(&key, node, "anthropic or openai"),
                        None => {}
                    }
                }
                "key_env" => upstream.key_env = variable(reader, &key, node),
                "set_headers" => {
                    let set = reader.text_map(&key, node).unwrap_or_default();
                    for (name, value) in &set {
                        // The value is not repeated: it may be a key.
                        if HeaderName::from_bytes(name.as_bytes()).is_err()
                            || HeaderValue::from_str(value).is_err()
                        {
                            reader.add(&key, node, format!("{name:?} or its value is not valid"));
                        }
                    }
                    let set =
                        set.into_iter().map(|(name, value)| (name.to_lowercase(), Some(value)));
                    upstream.headers.extend(set);
                }
                "remove_headers" => {
                    let names = header_names(reader, &key, node);
                    upstream.headers.extend(names.into_iter().map(|name| (name, None)));
                }
                "connect_timeout" => {
                    set(&mut upstream.connect_timeout, reader.time_limit(&key, node));
                }
                "answer_timeout" => {
                    set(&mut upstream.answer_timeout, reader.time_limit(&key, node));
                }
                "idle_timeout" => set(&mut upstream.idle_timeout, reader.time_limit(&key, node)),
                _ => reader.add_unknown(&key, node, &KEYS),
            }
        }
        if !has_url {
            reader.add(&key, node, "an upstream needs a url");
        }
        upstreams.retain(|it| it.name != *name);
        upstreams.push(upstream);
    }
}

fn set(limit: &mut Duration, value: Option<Duration>) {
    *limit = value.unwrap_or(*limit);
}

/// Name of an environment variable. The value is not repeated: it may be the secret itself.
fn variable(reader: &mut NodeReader, key: &str, node: &ConfigNode) -> Option<String> {
    match &node.value {
        ConfigValue::Text(name) if is_variable_name(name) => Some(name.clone()),
        _ => {
            reader.add(key, node, "expected the name of an environment variable");
            None
        }
    }
}

fn read_normalisers(key: &str, node: &ConfigNode, reader: &mut NodeReader) -> Vec<TextNormaliser> {
    let expected = "a list of dates, session-ids, uuids and paths:/ABSOLUTE/ROOT";
    let mut normalisers = Vec::new();
    for text in texts(reader, key, node, expected) {
        match text.split_once(':').unwrap_or((&text, "")) {
            ("dates", "") => normalisers.push(TextNormaliser::Dates),
            ("session-ids", "") => normalisers.push(TextNormaliser::SessionIds),
            ("uuids", "") => normalisers.push(TextNormaliser::Uuids),
            ("paths", root) if root.starts_with('/') => {
                normalisers.push(TextNormaliser::PathsBelow(root.to_owned()));
            }
            _ => reader.add(key, node, format!("{text:?}: expected {expected}")),
        }
    }
    normalisers
}

fn read_budget(
    name: &str,
    key: &str,
    node: &ConfigNode,
    reader: &mut NodeReader,
    budget: &mut DailyBudget,
) {
    if name == "tokens_per_day" {
        budget.tokens = reader.count(key, node).map(u64::from);
        return;
    }
    match reader.number(key, node).map(to_micro_dollars) {
        Some(Some(dollars)) => budget.micro_dollars = Some(dollars),
        Some(None) => reader.add_type(key, node, "dollars"),
        None => {}
    }
}

fn read_tenants(key: &str, node: &ConfigNode, reader: &mut NodeReader) -> Vec<TenantSettings> {
    const KEYS: [&str; 4] = ["token_env", "requests_per_minute", "tokens_per_day", "usd_per_day"];
    let mut tenants = Vec::new();
    for (name, node) in reader.table(key, node).into_iter().flatten() {
        let key = format!("{key}.{name}");
        let (mut token_env, mut rate, mut budget) = (None, None, DailyBudget::default());
        for (entry, node) in reader.table(&key, node).into_iter().flatten() {
            let key = format!("{key}.{entry}");
            match entry.as_str() {
                "token_env" => token_env = variable(reader, &key, node),
                "requests_per_minute" => rate = reader.count(&key, node),
                "tokens_per_day" | "usd_per_day" => {
                    read_budget(entry, &key, node, reader, &mut budget);
                }
                _ => reader.add_unknown(&key, node, &KEYS),
            }
        }
        match (SafeName::parse("tenant", name), token_env) {
            (Ok(name), Some(token_env)) => {
                tenants.push(TenantSettings { name, token_env, requests_per_minute: rate, budget });
            }
            (Err(error), _) => reader.add(&key, node, error.to_string()),
            (Ok(_), None) => reader.add(&key, node, "a tenant needs a token_env"),
        }
    }
    tenants
}
