//! Recorded requests as a replay finds them: by the key that the cache would use, but for the form of the answer, or by
//! all their bytes. The same gives files a stable order.

use hyper::Method;
use hyper::http::request::Parts;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::text::shorten_text;
use recoup_core::key::model_request::{ModelRequestBody, ModelRequestRecipe, TextNormaliser};
use recoup_core::key::{KeyPart, KeyRecipe as _};
use serde_json::Value;

use super::LiveSettings;
use super::assemble::assemble_stream;
use super::endpoint::{AnswerTokens, ApiEndpoint};
use super::plan::{ApiRequest, key_path};
use super::route::RoutedPath;
use crate::config::UpstreamSettings;
use crate::llm::{ExchangeBody, ExchangeRequest, ExchangeResponse, HttpExchange, ModelProvider};

/// Headers that count for the cache and name an account: a recording is for every account.
const ACCOUNT_HEADERS: [&str; 2] = ["openai-organization", "openai-project"];

/// A recorded request, as it is found.
#[derive(Debug)]
pub(crate) struct ExchangeIdentity {
    pub(super) endpoint: Option<ApiEndpoint>,
    /// Everything that counts but the form of the answer.
    pub(crate) question: String,
    /// Form of the answer: empty if plain, otherwise `stream` with its options.
    pub(super) form: String,
    pub(super) parts: Vec<KeyPart>,
    /// Place in a file: by upstream, path and canonical request.
    pub(crate) order: String,
}

impl ExchangeIdentity {
    pub(crate) fn of(request: &ExchangeRequest, normalisers: &[TextNormaliser]) -> Self {
        let ExchangeRequest { upstream, method, path, headers, body, .. } = request;
        let body = body.to_bytes();
        let endpoint = endpoint_of(request);
        let (bare, query) =
            path.split_once('?').map_or((path.as_str(), None), |(path, query)| (path, Some(query)));
        let read = || match endpoint? {
            ApiEndpoint::Models => Some(ModelRequestBody::none()),
            _ => ModelRequestBody::read(str::from_utf8(&body).ok()?, normalisers).ok(),
        };
        let place = |text: &str, form: &str| {
            let headers: Vec<String> = headers.iter().map(|(a, b)| format!("{a}:{b}")).collect();
            [upstream, bare, method, &key_path(bare, query), text, &headers.join("\n"), form]
                .join("\0")
        };
        let recipe = read().map(|body| ModelRequestRecipe {
            upstream: upstream.clone(),
            method: method.clone(),
            path: key_path(bare, query),
            headers: headers.clone(),
            body,
        });
        let keyed = recipe.and_then(|recipe| {
            let body = recipe.body.with_form("");
            let key = ModelRequestRecipe { body, ..recipe.clone() }.key().ok()?;
            Some((key, recipe))
        });
        if let Some((key, recipe)) = keyed {
            let form = recipe.body.form().to_owned();
            let question = key.as_str().to_owned();
            let order = format!("{}\0{question}", place(&recipe.body.canonical_text(), &form));
            return Self { endpoint, question, form, parts: recipe.parts(), order };
        }
        let text = String::from_utf8_lossy(&body);
        let mut parts = vec![
            KeyPart::shown("upstream", upstream),
            KeyPart::shown("path", &format!("{method} {path}")),
        ];
        if !body.is_empty() {
            parts
                .push(KeyPart { digest: Sha256Digest::of(&body), ..KeyPart::shown("body", &text) });
        }
        let whole = [format!("{upstream}\n{method} {path}\n").as_bytes(), &body].concat();
        let question = Sha256Digest::of(&whole).to_hex();
        // The text of bytes that are none may be the same for others.
        let order = format!("{}\0{question}", place(&text, ""));
        Self { endpoint: None, question, form: String::new(), parts, order }
    }

    /// Beginning of what was asked last.
    pub(crate) fn asked(&self) -> String {
        let of = |name: &str| self.parts.iter().rfind(|part| part.name.starts_with(name));
        let part = of("message ").or_else(|| of("input")).or_else(|| of("prompt"));
        let text = part.or_else(|| of("body")).and_then(|part| part.preview.as_deref());
        let text = text.unwrap_or_default();
        text.strip_prefix("user: ").unwrap_or(text).trim_matches('"').to_owned()
    }

    /// Tokens that an answer used; none if it does not say.
    pub(crate) fn tokens(&self, response: &ExchangeResponse) -> Option<(u64, u64)> {
        let endpoint = self.endpoint.filter(|_| response.status == 200)?;
        let AnswerTokens { input, output, .. } = endpoint.usage(&answer_value(endpoint, response)?);
        Some((input, output)).filter(|it| *it != (0, 0))
    }
}

fn endpoint_of(request: &ExchangeRequest) -> Option<ApiEndpoint> {
    let api = request.api.as_deref().unwrap_or(&request.upstream);
    let method = Method::from_bytes(request.method.as_bytes()).ok()?;
    ApiEndpoint::of(ModelProvider::parse(api)?, &method, request.bare_path())
}

/// An answer as JSON: plain, or a stream put together.
fn answer_value(endpoint: ApiEndpoint, response: &ExchangeResponse) -> Option<Value> {
    let bytes = response.to_bytes();
    match response.event_count() {
        None => serde_json::from_slice(&bytes).ok(),
        Some(_) => Some(assemble_stream(endpoint, &bytes).body).filter(Value::is_object),
    }
}

/// An answer for people: JSON, a stream put together, other text, or the number of its bytes.
pub(crate) fn readable_answer(exchange: &HttpExchange) -> String {
    let response = &exchange.response;
    let endpoint = endpoint_of(&exchange.request).filter(|_| response.event_count().is_some());
    if let Some(value) = endpoint.and_then(|endpoint| answer_value(endpoint, response)) {
        return value.to_string();
    }
    let bytes = response.to_bytes();
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => format!("{} bytes", error.as_bytes().len()),
    }
}

/// A request as it is recorded.
pub(super) fn exchange_request(
    live: &LiveSettings,
    upstream: &UpstreamSettings,
    path: &RoutedPath,
    head: &Parts,
    body: &bytes::Bytes,
) -> ExchangeRequest {
    let api = upstream.api;
    let request = ApiRequest {
        // Any: headers do not depend on it.
        endpoint: ApiEndpoint::Models,
        upstream,
        method: &head.method,
        path: path.path(),
        query: path.query(),
        headers: &head.headers,
        body,
    };
    let mut headers = request.key_headers(&live.settings.key_headers);
    headers.retain(|name, _| !ACCOUNT_HEADERS.contains(&name.as_str()));
    let query = path.query().map(|query| format!("?{query}")).unwrap_or_default();
    ExchangeRequest {
        upstream: upstream.name.clone(),
        api: (api.as_str() != upstream.name).then(|| api.as_str().to_owned()),
        method: head.method.as_str().to_owned(),
        path: format!("{}{query}", path.path()),
        headers,
        body: ExchangeBody::of(body),
    }
}

/// Text of a table's cell.
pub(crate) fn first_words(text: &str, most: usize) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    shorten_text(&line.join(" "), most).into_owned()
}
