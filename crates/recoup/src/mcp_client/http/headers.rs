//! Headers that repeat parts of a message, so that servers and what stands before them need not read
//! the body: `MCP-Protocol-Version`, and since 2026-07-28 `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`.
//! A stdio client does not send them, so they are made here.

use std::collections::HashMap;

use recoup_core::base::text::encode_base64;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The first protocol version with these headers.
const STANDARD_HEADERS_SINCE: &str = "2026-07-28";

/// True if requests of this version carry headers, and have neither sessions nor a stream beside
/// the calls.
pub(super) fn is_modern(version: &str) -> bool {
    version >= STANDARD_HEADERS_SINCE
}

/// Annotated properties of a tool: the path to each, and the header for it.
type ParamHeaders = Vec<(Vec<String>, HeaderName)>;

/// Headers for arguments, as `tools/list` named them.
#[derive(Debug, Default)]
pub(super) struct ToolHeaders(HashMap<String, ParamHeaders>);

impl ToolHeaders {
    /// Learns from the result of `tools/list`.
    pub(super) fn learn(&mut self, result: &Value) {
        for tool in result["tools"].as_array().into_iter().flatten() {
            let Some(name) = tool["name"].as_str() else { continue };
            let mut found = Vec::new();
            collect_annotations(&tool["inputSchema"]["properties"], &mut Vec::new(), &mut found);
            self.0.insert(name.to_owned(), found);
        }
    }
}

fn collect_annotations(properties: &Value, path: &mut Vec<String>, found: &mut ParamHeaders) {
    for (name, schema) in properties.as_object().into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = schema["x-mcp-header"].as_str().filter(|header| !header.is_empty())
            && let Ok(header) = format!("Mcp-Param-{header}").parse::<HeaderName>()
        {
            found.push((path.clone(), header));
        }
        collect_annotations(&schema["properties"], path, found);
        path.pop();
    }
}

/// Headers for a message of that version.
pub(super) fn standard_headers(message: &Value, version: &str, tools: &ToolHeaders) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut insert = |name: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    insert(HeaderName::from_static("mcp-protocol-version"), version);
    let Some(method) = message["method"].as_str().filter(|_| is_modern(version)) else {
        return headers;
    };
    insert(HeaderName::from_static("mcp-method"), method);
    let params = &message["params"];
    let name = match method {
        "tools/call" | "prompts/get" => &params["name"],
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => &params["uri"],
        "tasks/get" | "tasks/update" | "tasks/cancel" => &params["taskId"],
        _ => &Value::Null,
    };
    if let Some(name) = name.as_str() {
        insert(HeaderName::from_static("mcp-name"), &encode_value(name));
    }
    let annotated = params["name"].as_str().filter(|_| method == "tools/call");
    for (path, header) in annotated.and_then(|name| tools.0.get(name)).into_iter().flatten() {
        let found = path.iter().try_fold(&params["arguments"], |value, key| value.get(key));
        let text = match found {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => continue,
        };
        insert(header.clone(), &encode_value(&text));
    }
    headers
}

/// The value as it can stand in a header: in Base64 if it would not arrive as it is.
fn encode_value(text: &str) -> String {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let bytes = text.as_bytes();
    let suffers = is_blank(bytes.first())
        || is_blank(bytes.last())
        || bytes.iter().any(|byte| !(0x20..=0x7e).contains(byte))
        || text.starts_with("=?base64?") && text.ends_with("?=");
    if suffers { format!("=?base64?{}?=", encode_base64(bytes)) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(headers: &HeaderMap) -> Vec<String> {
        let mut all: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().expect("text")))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn names_and_annotated_arguments_are_repeated_since_2026_07_28() {
        let mut tools = ToolHeaders::default();
        let properties = json!({
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "wrong": { "x-mcp-header": "a b" },
            "plain": { "type": "string" },
        });
        let tool = json!({ "name": "look", "inputSchema": { "properties": properties } });
        tools.learn(&json!({ "tools": [tool] }));
        let arguments = json!({ "region": "Zürich", "deep": { "n": 3 }, "wrong": 1, "plain": "x" });
        let call =
            json!({ "method": "tools/call", "params": { "name": "look", "arguments": arguments } });
        assert_eq!(
            shown(&standard_headers(&call, "2026-07-28", &tools)),
            [
                "mcp-method: tools/call", "mcp-name: look", "mcp-param-n: 3",
                "mcp-param-region: =?base64?WsO8cmljaA==?=", "mcp-protocol-version: 2026-07-28",
            ]
        );
        let older = standard_headers(&call, "2025-11-25", &tools);
        assert_eq!(shown(&older), ["mcp-protocol-version: 2025-11-25"]);
    }

    #[test]
    fn values_that_would_not_arrive_are_encoded() {
        for (text, encoded) in [
            ("plain text", "plain text"),
            ("", ""),
            (" x", "=?base64?IHg=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(encode_value(text), encoded, "{text:?}");
        }
    }
}
