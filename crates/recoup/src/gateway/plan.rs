//! The plan of a request: may it be cached, under which key, and for how long?

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use moka::sync::Cache as PlanCache;
use recoup_core::base::digest::{Sha256Digest, Sha256Hasher, encode_hex};
use recoup_core::cache::{CacheMode, LookupRequest, PathContext, Ttl, WaitPolicy};
use recoup_core::entry::{Draft, ProducerIdentity, ProductionCost};
use recoup_core::key::model_request::{ModelRequestBody, ModelRequestRecipe};
use recoup_core::key::{EntryId, KeyPart, KeyRecipe as _, Kind, Scope};
use serde_json::{Map, Value};

use super::directives::CacheDirectives;
use super::endpoint::ApiEndpoint;
use super::recording::RecordedAnswer;
use super::upstream::is_connection_header;
use crate::config::{GatewayCacheRule, GatewaySettings, UpstreamSettings};

/// Headers that count for every API.
const KEY_HEADERS: [&str; 4] =
    ["anthropic-version", BETA_HEADER, "openai-organization", "openai-project"];
const BETA_HEADER: &str = "anthropic-beta";
/// Forms of streams from which a plain answer may be made.
const STREAM_FORMS: [&str; 2] = ["stream", "stream {\"include_usage\":true}"];

/// Reason to pass by the cache where no duration is given.
pub(super) const NO_TTL: &str = "no TTL is configured for it, and Recoup-TTL is not given";
/// Parameters of the query that do not change the answer.
const IGNORED_QUERY: &str = "beta";

/// Most bytes of plans that are remembered, by the length of their requests.
const MAX_PLAN_BYTES: u64 = 32 << 20;
/// Size of a plan beside its request's text.
const PLAN_OVERHEAD: usize = 4096;

/// Tag of all entries of the gateway.
pub(super) const GATEWAY_TAG: &str = "gateway";

/// Tag of entries with answers of an upstream.
pub(super) fn upstream_tag(name: &str) -> String {
    format!("upstream:{name}")
}

/// Tag of entries with answers of a model.
pub(super) fn model_tag(name: &str) -> String {
    format!("model:{name}")
}

/// A request to a known endpoint, read whole.
#[derive(Debug)]
pub(super) struct ApiRequest<'a> {
    pub(super) endpoint: ApiEndpoint,
    pub(super) upstream: &'a UpstreamSettings,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
}

/// How a request is cached.
#[derive(Debug, Clone)]
pub(super) struct CachePlan {
    pub(super) endpoint: ApiEndpoint,
    pub(super) id: EntryId,
    pub(super) recipe: ModelRequestRecipe,
    pub(super) parts: Vec<KeyPart>,
    pub(super) identity: ProducerIdentity,
    pub(super) model: String,
    pub(super) ttl: Ttl,
    /// In milliseconds.
    pub(super) grace: u64,
    pub(super) directives: CacheDirectives,
    pub(super) rule: GatewayCacheRule,
    paths: PathContext,
}

/// Plans of requests that were answered from the cache: the same request, byte for byte, has the same plan,
/// as long as the settings are the same. So this lives and dies with them.
#[derive(Debug)]
pub(super) struct PlanTable {
    plans: PlanCache<Sha256Digest, (Arc<CachePlan>, u32)>,
}

impl Default for PlanTable {
    fn default() -> Self {
        let plans = PlanCache::builder()
            .max_capacity(MAX_PLAN_BYTES)
            .weigher(|_, (_, bytes): &(Arc<CachePlan>, u32)| *bytes)
            .build();
        Self { plans }
    }
}

impl PlanTable {
    /// Digest of everything that a plan is made of, apart from the settings. No header is left out, so
    /// that none that counts can be.
    pub(super) fn digest(scope: &Scope, head: &Parts, body: &[u8]) -> Sha256Digest {
        let mut text = Vec::with_capacity(1024);
        let mut add = |part: &[u8]| {
            text.extend_from_slice(&(part.len() as u64).to_be_bytes());
            text.extend_from_slice(part);
        };
        add(scope.as_str().as_bytes());
        add(head.method.as_str().as_bytes());
        add(head.uri.path_and_query().map_or("", |it| it.as_str()).as_bytes());
        for (name, value) in &head.headers {
            add(name.as_str().as_bytes());
            add(value.as_bytes());
        }
        let mut hasher = Sha256Hasher::new();
        // Their length separates them from the body.
        hasher.update(&(text.len() as u64).to_be_bytes());
        hasher.update(&text);
        hasher.update(body);
        hasher.finish()
    }

    pub(super) fn get(&self, digest: &Sha256Digest) -> Option<Arc<CachePlan>> {
        self.plans.get(digest).map(|(plan, _)| plan)
    }

    /// Remembers the plan of a request with a body of that length.
    pub(super) fn insert(&self, digest: Sha256Digest, plan: &Arc<CachePlan>, length: usize) {
        // The text is in the recipe, and in the previews of its parts.
        let bytes = length.saturating_mul(2).saturating_add(PLAN_OVERHEAD);
        self.plans.insert(digest, (Arc::clone(plan), u32::try_from(bytes).unwrap_or(u32::MAX)));
    }
}

/// Reason why a request passes by the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BypassReason {
    pub(super) text: String,
    /// Model of the request, if it has one.
    pub(super) model: Option<String>,
}

impl CachePlan {
    /// Decides about a request.
    pub(super) fn of(
        request: &ApiRequest<'_>,
        directives: CacheDirectives,
        settings: &GatewaySettings,
        scope: &Scope,
    ) -> Result<Self, BypassReason> {
        let (body, model) = match read_body(request) {
            Ok(body) => {
                let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
                let model = model.to_owned();
                (body, model)
            }
            Err(text) => return Err(BypassReason { text: text.to_owned(), model: None }),
        };
        let bypass = |text: String| BypassReason { text, model: Some(model.clone()) };
        let rule = settings.rule_for(request, &model);
        let ttl = directives.ttl.or(rule.ttl).unwrap_or(Ttl::Off);
        if ttl == Ttl::Off {
            let reason = match directives.ttl {
                Some(_) => "Recoup-TTL is off",
                None => NO_TTL,
            };
            return Err(bypass(reason.to_owned()));
        }
        if let Some(reason) = request.endpoint.never_cached(&body, &rule) {
            return Err(bypass(reason.to_owned()));
        }
        // The error is not repeated: it has words of the body.
        let made = request.recipe(settings).and_then(|recipe| Ok((recipe.key()?, recipe)));
        let (key, recipe) =
            made.map_err(|_| bypass("no key can be made of its body".to_owned()))?;
        let identity = ProducerIdentity {
            name: Some(model.clone()).filter(|name| !name.is_empty()),
            namespace: Some(request.upstream.name.clone()),
            hash: None,
        };
        let grace = directives.stale.or_else(|| rule.stale.and_then(Ttl::as_millis));
        Ok(Self {
            endpoint: request.endpoint,
            id: EntryId::new(scope.clone(), key),
            parts: recipe.parts(),
            recipe,
            identity,
            model,
            ttl,
            grace: grace.unwrap_or_default(),
            directives,
            rule,
            paths: PathContext::at("/"),
        })
    }

    /// The look-up of this request.
    pub(super) fn lookup(&self) -> LookupRequest<'_> {
        self.lookup_of(&self.id)
    }

    /// The look-up of another entry, under the same conditions.
    pub(super) fn lookup_of<'a>(&'a self, id: &'a EntryId) -> LookupRequest<'a> {
        LookupRequest {
            identity: Some(&self.identity),
            ttl: self.ttl.as_millis(),
            max_age: self.max_age(),
            mode: self.directives.mode,
            wait_policy: WaitPolicy { leaders: Some(2), ..WaitPolicy::default() },
            ..LookupRequest::new(Kind::ModelRequest, id, &self.paths)
        }
    }

    /// Oldest acceptable answer. An entry may have a grace that only others asked for.
    fn max_age(&self) -> Option<u64> {
        let own = self.ttl.as_millis().filter(|_| self.grace == 0);
        own.into_iter().chain(self.directives.max_age).min()
    }

    /// True if an answer of this age, in seconds, is acceptable.
    pub(super) fn accepts_age(&self, age: Option<u64>) -> bool {
        self.max_age().is_none_or(|most| age.unwrap_or_default().saturating_mul(1000) <= most)
    }

    /// True if the answer may be another client's, or for another client.
    pub(super) fn shares_flights(&self) -> bool {
        self.directives.mode == CacheMode::Use
    }

    /// True if the client accepts an answer from the cache.
    pub(super) fn may_serve(&self) -> bool {
        !matches!(self.directives.mode, CacheMode::Refresh | CacheMode::Bypass)
    }

    /// Entries of the same answer in other forms, from which the one that is asked for may be made.
    pub(super) fn other_forms(&self) -> impl Iterator<Item = EntryId> {
        let is_plain = self.recipe.body.form().is_empty();
        let others: &[&str] = if is_plain { &STREAM_FORMS } else { &[""] };
        let id = |form: &&str| Some(self.with_body(self.recipe.body.with_form(form))?.id);
        others.iter().filter_map(id)
    }

    /// The plan of a request with another body; none if no key can be made of it.
    pub(super) fn with_body(&self, body: ModelRequestBody) -> Option<Self> {
        let recipe = ModelRequestRecipe { body, ..self.recipe.clone() };
        let id = EntryId::new(self.id.scope.clone(), recipe.key().ok()?);
        Some(Self { id, parts: recipe.parts(), recipe, ..self.clone() })
    }

    /// An entry with this answer.
    pub(super) fn draft(&self, recorded: &RecordedAnswer, cost: ProductionCost) -> Draft {
        Draft {
            identity: self.identity.clone(),
            parts: self.parts.clone(),
            tags: self.tags(),
            grace: self.grace,
            cost,
            ..Draft::new(Kind::ModelRequest, recorded.to_bytes())
        }
    }

    /// Words to find the entry by.
    fn tags(&self) -> Vec<String> {
        let Self { model, .. } = self;
        let mut tags = vec![
            GATEWAY_TAG.to_owned(),
            upstream_tag(self.identity.namespace.as_deref().unwrap_or_default()),
        ];
        if !model.is_empty() {
            tags.push(model_tag(model));
        }
        tags
    }
}

/// The path with the parameters that count.
pub(super) fn key_path(path: &str, query: Option<&str>) -> String {
    let query = query.unwrap_or_default().split('&');
    let query: Vec<&str> =
        query.filter(|it| !it.is_empty() && it.split('=').next() != Some(IGNORED_QUERY)).collect();
    match query.len() {
        0 => path.to_owned(),
        _ => format!("{path}?{}", query.join("&")),
    }
}

/// The body as an object; an empty one for a request without a body.
fn read_body(request: &ApiRequest<'_>) -> Result<Map<String, Value>, &'static str> {
    if request.endpoint == ApiEndpoint::Models {
        return Ok(Map::new());
    }
    if request.headers.contains_key(hyper::header::CONTENT_ENCODING) {
        return Err("its body is compressed");
    }
    match serde_json::from_slice(request.body) {
        Ok(Value::Object(body)) => Ok(body),
        _ => Err("its body is not a JSON object"),
    }
}

impl ApiRequest<'_> {
    fn recipe(&self, settings: &GatewaySettings) -> recoup_core::Result<ModelRequestRecipe> {
        let body = if self.endpoint == ApiEndpoint::Models {
            ModelRequestBody::none()
        } else {
            let text = std::str::from_utf8(self.body).unwrap_or_default();
            ModelRequestBody::read(text, &settings.normalisers)?
        };
        let path = key_path(self.path, self.query);
        Ok(ModelRequestRecipe {
            upstream: format!("{} {}", self.upstream.name, self.upstream.url),
            method: self.method.as_str().to_owned(),
            path,
            headers: self.key_headers(&settings.key_headers),
            body,
        })
    }

    /// The headers that count, as the upstream gets them.
    pub(super) fn key_headers(&self, more: &[String]) -> BTreeMap<String, String> {
        let names = KEY_HEADERS.into_iter().chain(more.iter().map(String::as_str));
        let sent = names.filter_map(|name| {
            if let Some(changed) = self.upstream.headers.get(name) {
                return changed.clone().map(|value| (name.to_owned(), value));
            }
            let values = self.headers.get_all(name).iter().map(HeaderValue::as_bytes);
            let mut items: Vec<&[u8]> = values.collect();
            if name == BETA_HEADER {
                // A set.
                items =
                    items.into_iter().flat_map(|value| value.split(|byte| *byte == b',')).collect();
                for item in &mut items {
                    *item = item.trim_ascii();
                }
                items.sort_unstable();
                items.dedup();
            }
            let value = items.join(&b", "[..]);
            let value =
                String::from_utf8(value).unwrap_or_else(|error| encode_hex(error.as_bytes()));
            let is_sent = HeaderName::from_bytes(name.as_bytes())
                .is_ok_and(|name| !is_connection_header(&name, self.headers));
            (!items.is_empty() && is_sent).then(|| (name.to_owned(), value))
        });
        sent.collect()
    }
}

impl GatewaySettings {
    /// The first rule that matches.
    fn rule_for(&self, request: &ApiRequest<'_>, model: &str) -> GatewayCacheRule {
        let matches = |rule: &&GatewayCacheRule| {
            rule.model.as_ref().is_none_or(|it| it.matches(model))
                && rule.path.as_ref().is_none_or(|it| it.matches(request.path))
                && rule.upstream.as_ref().is_none_or(|it| *it == request.upstream.name)
        };
        self.rules.iter().find(matches).cloned().unwrap_or_default()
    }
}
