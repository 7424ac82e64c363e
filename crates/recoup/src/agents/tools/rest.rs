//! REST endpoints as tools: arguments in URL, headers and body, and results in the form of MCP's.

use std::path::Path;
use std::time::Duration;

use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result, secrets};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Method, Url};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::server::credentials;
use super::{OngoingCall, ToolsetOptions};
use crate::app::tools::{ServerCredential, ToolCacheRequest, ToolProtocol};
use crate::config::env;
use crate::http::read_body;
use crate::human;
use crate::llm::is_this_machine;
use crate::mcp_client::{HttpFault, HttpServerOptions, RpcAnswer, build_client, header_map};
use crate::toolbox::{RestToolDefinition, ServerIdentity, ToolCache};

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Interval of checks for a cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Begin of a place for an argument.
const PLACE: &str = "${parameters.";

/// A REST tool.
#[derive(Debug)]
pub(super) struct RestTool {
    pub(super) definition: RestToolDefinition,
    pub(super) cache: ToolCache,
    method: Method,
    /// The URL with a letter in every place: host and shape that arguments must not change.
    shape: Url,
}

impl RestTool {
    pub(super) fn open(
        definition: &RestToolDefinition,
        options: &ToolsetOptions,
        root: &Path,
        open_cache: &dyn Fn(ToolCacheRequest<'_>) -> Result<ToolCache>,
    ) -> Result<Self> {
        let RestToolDefinition { name, method, url, query, headers, body, .. } = definition;
        let wrong = |why: String| Error::usage(format!("restTools.{name}: {why}"));
        let method = method.to_ascii_uppercase();
        let parsed: Method =
            method.parse().map_err(|_| wrong(format!("{method:?} is no HTTP method")))?;
        let shape = parse_url(&expand(url, |_| "x".to_owned()))
            .map_err(|error| error.context(format!("restTools.{name}: url")))?;
        let host = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
        if host.is_none_or(|host| host.contains(PLACE)) {
            return Err(wrong("url: an argument can't stand for the host".to_owned()));
        }
        header_map(headers).map_err(|error| error.context(format!("restTools.{name}")))?;
        let mut named = credentials(headers, "header");
        named.extend(body.as_ref().map(|body| ServerCredential {
            name: "body".to_owned(),
            value: body.to_string().into_bytes(),
            may_be_plain: true,
        }));
        let mut endpoint = url.clone();
        for (name, argument) in query {
            endpoint = format!("{endpoint}&{name}={PLACE}{argument}}}");
        }
        let cache = open_cache(ToolCacheRequest {
            name,
            server: ServerIdentity::of_rest(&method, &endpoint),
            directory: root.to_owned(),
            config: None,
            credential_variables: &[],
            credentials: named,
            mode: options.mode,
            max_age: options.max_age,
            protocol: ToolProtocol::Rest,
            cache: Some(options.cache.clone()),
        })?;
        let definition = definition.clone();
        let this = Self { definition, cache, method: parsed, shape };
        this.teach_cache()?;
        Ok(this)
    }

    /// Tells the cache of the tool, which it would learn from a server.
    fn teach_cache(&self) -> Result<()> {
        let RestToolDefinition { name, parameters, .. } = &self.definition;
        let list = json!({ "tools": [{
            "name": name,
            "inputSchema": parameters,
            "annotations": { "readOnlyHint": self.is_read_only() },
        }] });
        self.cache.learn_list("tools/list", None, &raw(&list)?);
        Ok(())
    }

    /// True for methods that change nothing.
    pub(super) fn is_read_only(&self) -> bool {
        self.method.is_safe()
    }

    /// Sends the request.
    pub(super) fn ask(&self, call: &OngoingCall<'_>) -> Result<RpcAnswer> {
        let RestToolDefinition { name, parameters, .. } = &self.definition;
        let doing = || format!("REST tool {name}");
        let nothing = Map::new();
        let arguments = call.arguments.as_object().unwrap_or(&nothing);
        let required = parameters["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if arguments.get(name).is_none_or(Value::is_null) {
                let message = format!("{}: the argument {name:?} is missing", doing());
                return Err(Error::usage(message));
            }
        }
        let url = self.fill_url(arguments)?;
        let mut headers = self.fill_headers(arguments)?;
        let body = self.definition.body.as_ref().and_then(|body| fill_body(body, arguments));
        if body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(
                CONTENT_TYPE,
                reqwest::header::HeaderValue::from_static("application/json"),
            );
        }
        let request = RestRequest {
            method: self.method.clone(),
            url,
            headers,
            body: body.map(|body| body.to_string()),
            credentials_hint: "credentials are headers of the tool in the configuration",
        };
        let answer = request
            .send(call.timeout, call.is_cancelled)
            .map_err(|error| error.context(doing()))?;
        let (text, is_error) = match answer {
            Ok(text) => (text, false),
            Err(refusal) => (format!("{}: {refusal}", doing()), true),
        };
        let content = json!([{ "type": "text", "text": text }]);
        Ok(RpcAnswer::Result(raw(&json!({ "content": content, "isError": is_error }))?))
    }

    /// The URL with the arguments in their places, each percent-encoded.
    fn fill_url(&self, arguments: &Map<String, Value>) -> Result<Url> {
        let value = |name: &str| encode_percent(&argument_text(arguments.get(name)));
        let url = Url::parse(&expand(&self.definition.url, value)).ok();
        // `..` would lead to another endpoint.
        let parts = |url: &Url| (url.origin(), url.path_segments().map(Iterator::count));
        let url = url.filter(|url| parts(url) == parts(&self.shape));
        let mut url = url.ok_or_else(|| {
            let name = &self.definition.name;
            Error::usage(format!("REST tool {name}: the arguments lead to another URL"))
        })?;
        for (name, argument) in &self.definition.query {
            let values = match arguments.get(argument) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(values)) => values.as_slice(),
                Some(value) => std::slice::from_ref(value),
            };
            for value in values {
                url.query_pairs_mut().append_pair(name, &argument_text(Some(value)));
            }
        }
        Ok(url)
    }

    fn fill_headers(&self, arguments: &Map<String, Value>) -> Result<HeaderMap> {
        let value = |name: &str| argument_text(arguments.get(name));
        // A header that is nothing but a missing argument is left out.
        let is_given = |(_, text): &(&String, &String)| {
            place_name(text).is_none_or(|name| arguments.get(name).is_some_and(|it| !it.is_null()))
        };
        let filled: Vec<(String, String)> = self
            .definition
            .headers
            .iter()
            .filter(is_given)
            .map(|(name, text)| (name.clone(), expand(text, value)))
            .collect();
        header_map(filled.iter().map(|(name, text)| (name, text)))
            .map_err(|error| error.context(format!("REST tool {}", self.definition.name)))
    }
}

/// Parses a URL that receives answers or arguments: HTTPS or this machine only.
pub(in crate::agents) fn parse_url(text: &str) -> Result<Url> {
    let url = Url::parse(text).map_err(|_| Error::usage("not a valid URL"))?;
    if url.scheme() == "https" || url.scheme() == "http" && is_this_machine(&url) {
        return Ok(url);
    }
    Err(Error::usage("expected https://, or http:// for this machine (127.0.0.1)"))
}

/// One HTTP request.
#[derive(Debug)]
pub(in crate::agents) struct RestRequest {
    pub(in crate::agents) method: Method,
    pub(in crate::agents) url: Url,
    pub(in crate::agents) headers: HeaderMap,
    pub(in crate::agents) body: Option<String>,
    /// Advice for a refusal: the place of credentials.
    pub(in crate::agents) credentials_hint: &'static str,
}

impl RestRequest {
    /// Sends it; the answer's text, or the reason of a refusal, without secrets. An error if there was
    /// no answer, or one that may be otherwise another time.
    pub(in crate::agents) fn send(
        self,
        timeout: Duration,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Result<String, String>> {
        let Self { method, url, headers, body, credentials_hint } = self;
        let own = SecretValues::of_values(headers.values().map(|it| it.as_bytes().to_vec()));
        let withheld = env::credentials().and(own);
        let options = HttpServerOptions {
            url: url.clone(),
            headers: HeaderMap::new(),
            proxy: env::proxy(),
            call_timeout: timeout,
            credentials_hint,
        };
        let mut request = build_client(&options)?.request(method, url).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Error::new(ErrorKind::Io, "starting the HTTP client").with_source(error)
        })?;
        let answer = runtime.block_on(async {
            let cancelled = async {
                while !is_cancelled() {
                    tokio::time::sleep(CANCEL_CHECK_INTERVAL).await;
                }
            };
            tokio::select! {
                answer = tokio::time::timeout(timeout, exchange(request, credentials_hint)) => {
                    answer.map_err(|_| {
                        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
                        format!("no answer within {}", human::long_duration(millis))
                    })
                }
                () = cancelled => Err("was cancelled".to_owned()),
            }
        });
        // A hanging look-up of a name holds a thread, which is left behind.
        runtime.shutdown_background();
        let redacted =
            |fault: HttpFault| secrets::redact(&withheld.redact(&fault.message)).into_owned();
        let unavailable = |why: String| Error::new(ErrorKind::Unavailable, why);
        match answer.map_err(unavailable)? {
            Ok(text) => Ok(Ok(text)),
            Err(fault) => {
                let passes = |status: u16| status >= 500 || matches!(status, 408 | 425 | 429);
                // It may be otherwise another time.
                let is_passing = fault.status.is_none_or(|status| passes(status.as_u16()));
                let message = redacted(fault);
                if is_passing { Err(unavailable(message)) } else { Ok(Err(message)) }
            }
        }
    }
}

/// Sends a request; the answer's text, or why there is none.
async fn exchange(
    request: reqwest::RequestBuilder,
    credentials_hint: &str,
) -> Result<String, HttpFault> {
    let response = request.send().await.map_err(HttpFault::of_request)?;
    if !response.status().is_success() {
        return Err(HttpFault::of_refusal(response, credentials_hint).await.0);
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or("unknown content").to_owned();
    let body = read_body(response, MAX_ANSWER_BYTES).await?;
    Ok(String::from_utf8(body).unwrap_or_else(|error| {
        format!("[{kind}, {}]", human::size(error.as_bytes().len() as u64))
    }))
}

fn raw(value: &Value) -> Result<Box<RawValue>> {
    to_raw_value(value)
        .map_err(|error| Error::new(ErrorKind::Invalid, "the answer as JSON").with_source(error))
}

/// `text` with `${parameters.NAME}` replaced.
fn expand(text: &str, value: impl Fn(&str) -> String) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(PLACE) {
        let Some((name, after)) = after.split_once('}') else { break };
        expanded.push_str(before);
        expanded.push_str(&value(name));
        rest = after;
    }
    expanded + rest
}

/// Name of the argument that is all of the text.
fn place_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix(PLACE).and_then(|name| name.strip_suffix('}'));
    name.filter(|name| !name.contains('}'))
}

/// Text of an argument: strings without quotes, nothing for a missing one.
fn argument_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

fn encode_percent(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// The body with the arguments in their places. A string that is nothing but a place becomes the
/// argument itself, and is left out if there is none.
fn fill_body(template: &Value, arguments: &Map<String, Value>) -> Option<Value> {
    let filled = match template {
        Value::String(text) => {
            if let Some(name) = place_name(text) {
                return arguments.get(name).cloned();
            }
            Value::String(expand(text, |name| argument_text(arguments.get(name))))
        }
        Value::Array(items) => items.iter().filter_map(|item| fill_body(item, arguments)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                Some((name.clone(), fill_body(value, arguments)?))
            };
            Value::Object(members.iter().filter_map(member).collect())
        }
        other => other.clone(),
    };
    Some(filled)
}
