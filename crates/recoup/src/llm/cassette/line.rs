//! Exchanges of `recoup run`, on one line each: with models and tools.
//!
//! ```text
//! {"v":1,"kind":"model","request":{"method":"POST","path":"/v1/messages","provider":"anthropic",
//!  "body":{…}},"response":{"status":200,"events":[{"ms":12,"event":"ping","data":"…"}]}}
//! {"v":1,"kind":"tool","server":"files","tool":"read_file","arguments":{…},"result":{…}}
//! {"v":1,"kind":"tool-list","server":"files","tools":[…]}
//! ```
//!
//! An answer that did not come as a stream is a `body` in place of the `events`. The body of a request
//! is what was meant to be asked: options that the server rejects by name are in it, and in `rejected`.

use recoup_core::key::KeyPart;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{CalledServer, MODEL, TOOL, TOOL_LIST, VERSION};
use crate::llm::ModelProvider;

/// An exchange of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct CassetteLine {
    pub(super) v: u32,
    pub(super) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<RecordedRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<RecordedResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    /// Digest of the server's identity, in journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) identity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<Value>>,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::llm) struct RecordedRequest {
    pub(in crate::llm) method: String,
    pub(in crate::llm) path: String,
    pub(in crate::llm) provider: String,
    pub(in crate::llm) body: Value,
    /// Options of the body that were not sent, because the server rejects them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::llm) rejected: Vec<String>,
}

impl RecordedRequest {
    pub(in crate::llm) fn new(provider: ModelProvider, mut body: Value) -> Self {
        // One host has another name for it; the request is the same at all of them.
        if let Some(body) = body.as_object_mut()
            && let Some(limit) = body.remove("max_completion_tokens")
        {
            body.insert("max_tokens".to_owned(), limit);
        }
        let path = match provider {
            ModelProvider::Anthropic => "/v1/messages",
            ModelProvider::OpenAi => "/v1/chat/completions",
        };
        let (method, path) = ("POST".to_owned(), path.to_owned());
        let provider = provider.as_str().to_owned();
        Self { method, path, provider, body, rejected: Vec::new() }
    }
}

/// A model's answer, as it came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::llm) struct RecordedResponse {
    pub(in crate::llm) status: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::llm) events: Vec<RecordedEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::llm) body: Option<Value>,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::llm) struct RecordedEvent {
    /// Milliseconds since the request.
    pub(in crate::llm) ms: u64,
    pub(in crate::llm) event: String,
    pub(in crate::llm) data: String,
}

impl CassetteLine {
    pub(super) fn new(kind: &str) -> Self {
        Self { v: VERSION, kind: kind.to_owned(), ..Self::default() }
    }

    pub(super) fn of_tool(server: CalledServer<'_>, tool: &str, arguments: &Value) -> Self {
        Self {
            server: Some(server.name.to_owned()),
            identity: server.identity.map(|identity| identity.to_hex()),
            tool: Some(tool.to_owned()),
            arguments: Some(arguments.clone()),
            ..Self::new(TOOL)
        }
    }

    /// True if it has everything that lines of its kind have: otherwise it would answer nothing.
    pub(super) fn is_complete(&self) -> bool {
        let Self {
            v,
            kind,
            request,
            response,
            server,
            tool,
            arguments,
            result,
            tools,
            identity: _,
        } = self;
        let is_of_kind = match kind.as_str() {
            MODEL => request.is_some() && response.is_some(),
            TOOL => server.is_some() && tool.is_some() && arguments.is_some() && result.is_some(),
            TOOL_LIST => server.is_some() && tools.is_some(),
            _ => false,
        };
        *v == VERSION && is_of_kind
    }

    /// Request, model and status, for lists.
    pub(crate) fn summary(&self) -> (String, String, Option<u16>) {
        let server = self.server.as_deref().unwrap_or_default();
        match (&self.request, &self.tool) {
            (Some(request), _) => {
                let model = request.body["model"].as_str().unwrap_or_default().to_owned();
                let status = self.response.as_ref().map(|response| response.status);
                (format!("{} {}", request.method, request.path), model, status)
            }
            (None, Some(tool)) => (format!("tool {server}__{tool}"), String::new(), None),
            (None, None) => (format!("tools of {server}"), String::new(), None),
        }
    }

    pub(super) fn describe(&self) -> String {
        let server = self.server.as_deref().unwrap_or_default();
        match (&self.request, &self.tool) {
            (Some(request), _) => {
                let model = request.body["model"].as_str().unwrap_or_default();
                format!("this request to {model}")
            }
            (None, Some(tool)) => format!("this call of {server}__{tool}"),
            (None, None) => format!("the tools of {server}"),
        }
    }

    /// Named parts of a request, for comparisons.
    pub(crate) fn parts(&self) -> Vec<KeyPart> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut parts = Vec::new();
        let mut add = |name: &str, value: &Value| parts.push(KeyPart::shown(name, &text(value)));
        if let Some(request) = &self.request {
            add("provider", &request.provider.clone().into());
            for (field, value) in request.body.as_object().into_iter().flatten() {
                let items = value.as_array().filter(|_| matches!(&**field, "messages" | "tools"));
                let Some(items) = items else {
                    add(field, value);
                    continue;
                };
                for (at, item) in items.iter().enumerate() {
                    let content = item.get("content").unwrap_or(item);
                    add(&format!("{field}[{at}]"), content);
                }
            }
        }
        for (name, value) in [("server", &self.server), ("tool", &self.tool)] {
            if let Some(value) = value {
                add(name, &value.clone().into());
            }
        }
        for (name, value) in
            self.arguments.as_ref().and_then(Value::as_object).into_iter().flatten()
        {
            add(&format!("arguments.{name}"), value);
        }
        parts
    }
}

/// An exchange on one line. Line ends between tokens of JSON are only space.
pub(super) fn line_text(line: &CassetteLine) -> Result<String> {
    let text = serde_json::to_string(line)
        .map_err(|error| Error::new(ErrorKind::Invalid, "an exchange").with_source(error))?;
    Ok(format!("{}\n", text.replace(['\n', '\r'], " ")))
}
