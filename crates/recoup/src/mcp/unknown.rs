//! Requests that do not parse as the protocol's types: an unknown method, or a known one with
//! wrong parameters. Each gets its own error code at once.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode, ProtocolVersion};
use serde::Deserialize;
use serde_json::{Value, json};

use super::tools;

/// The methods of this server; others are unknown, whatever their parameters are.
const METHODS: [&str; 9] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
];

/// Methods that 2026-07-28 no longer has.
const OLDER: [&str; 4] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Error for such a request.
pub(super) fn unknown_request_error(request: &CustomRequest) -> ErrorData {
    let method = request.method.as_str();
    if METHODS.contains(&method) || (OLDER.contains(&method) && !is_modern(request)) {
        let what = format!("{method}: the parameters are missing or of the wrong shape");
        return ErrorData::new(ErrorCode::INVALID_PARAMS, what, None);
    }
    not_found(method)
}

fn not_found(method: &str) -> ErrorData {
    let what = format!("no such method: {}", tools::safe_name(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}

/// Id and method of a message.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
}

/// Response to an HTTP request whose method the given version lacks; none for all other messages.
/// The SDK would serve some of them as older versions do.
pub(super) fn unknown_method_response(version: Option<&str>, message: &[u8]) -> Option<Value> {
    version.filter(|version| *version >= ProtocolVersion::V_2026_07_28.as_str())?;
    let MessageHead { id, method } = serde_json::from_slice(message).ok()?;
    let (id, method) = (id?, method?);
    let error = (!METHODS.contains(&&*method)).then(|| not_found(&method))?;
    Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

/// True if the request declares 2026-07-28 or later.
fn is_modern(request: &CustomRequest) -> bool {
    let version = request
        .params
        .as_ref()
        .and_then(|params| params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion"));
    let version = version.and_then(Value::as_str);
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}
