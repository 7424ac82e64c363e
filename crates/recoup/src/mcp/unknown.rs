//! Requests that the protocol's types do not know: a method that nobody has, or one that is
//! known with parameters of the wrong shape. Both are answered at once, each by its own code.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode};

/// The methods that this server has; others are unknown, whatever their parameters are.
const METHODS: [&str; 13] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
];

/// What is answered.
pub(super) fn error(request: &CustomRequest) -> ErrorData {
    let method = &request.method;
    if METHODS.contains(&method.as_str()) {
        let what = format!("{method}: the parameters are missing or of the wrong shape");
        return ErrorData::new(ErrorCode::INVALID_PARAMS, what, None);
    }
    let shown: String = method.chars().take(100).collect();
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no such method: {shown}"), None)
}
