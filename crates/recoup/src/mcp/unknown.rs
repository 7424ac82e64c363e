//! Requests that the protocol's types do not know: a method that nobody has, or one that is
//! known with parameters of the wrong shape. Both are answered at once, each by its own code.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode, ProtocolVersion};
use serde::Deserialize;
use serde_json::{Value, json};

use super::tools;

/// The methods that this server has; others are unknown, whatever their parameters are.
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

/// Those that 2026-07-28 has no more.
const OLDER: [&str; 4] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe"];

/// What is answered.
pub(super) fn error(request: &CustomRequest) -> ErrorData {
    let method = request.method.as_str();
    if METHODS.contains(&method) || (OLDER.contains(&method) && !is_modern(request)) {
        let what = format!("{method}: the parameters are missing or of the wrong shape");
        return ErrorData::new(ErrorCode::INVALID_PARAMS, what, None);
    }
    not_found(method)
}

fn not_found(method: &str) -> ErrorData {
    let what = format!("no such method: {}", tools::shown(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}

/// A message, as far as it says what it wants.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
}

/// The answer to a request over HTTP in that version for a method that it does not have, or has no
/// more; none for all other messages. The SDK would serve some of them as older versions do.
pub(super) fn answer(version: Option<&str>, message: &[u8]) -> Option<Value> {
    version.filter(|version| *version >= ProtocolVersion::V_2026_07_28.as_str())?;
    let MessageHead { id, method } = serde_json::from_slice(message).ok()?;
    let (id, method) = (id?, method?);
    let error = (!METHODS.contains(&&*method)).then(|| not_found(&method))?;
    Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

/// Whether it says itself that it is of 2026-07-28 or later.
fn is_modern(request: &CustomRequest) -> bool {
    let version = request
        .params
        .as_ref()
        .and_then(|params| params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion"));
    let version = version.and_then(Value::as_str);
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}
