//! Requests that the protocol's types do not know: a method that nobody has, or one that is
//! known with parameters of the wrong shape. Both are answered at once, each by its own code.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode, ProtocolVersion};
use serde_json::Value;

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
    let what = format!("no such method: {}", tools::shown(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
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
