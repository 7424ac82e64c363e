//! Parses a line. Whatever has an id is answered at once: a client would wait for seconds.

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::id;
use super::lines::{InputLine, MOST};
use crate::mcp::{consent, unknown};

/// Result of parsing a line.
#[derive(Debug)]
pub(super) enum ParsedLine {
    Nothing,
    Message(Box<ClientJsonRpcMessage>),
    /// Not for the server; the reply for the client.
    Wrong(Box<ServerJsonRpcMessage>),
}

/// Fields that are read from any line. Values are skipped, not built, so that deep nesting does no
/// harm.
#[derive(Deserialize)]
struct MessageEnvelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

/// Reads a field that may be `null`, as distinct from a missing one.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

/// Reads an object; not a list, which serde would take as the fields in order.
fn envelope(text: &[u8]) -> Option<MessageEnvelope<'_>> {
    let text = text.starts_with(b"{").then_some(text)?;
    serde_json::from_slice(text).ok()
}

/// Reply to an object that is neither request nor response.
const NO_MESSAGE: &str = "this is no message of MCP";
/// Reply to ids that no response could carry.
const NO_ID: &str = "the id of a request is a string or a whole number";

pub(super) fn parse_line(line: InputLine) -> ParsedLine {
    let line = match line {
        InputLine::Whole(line) => line,
        InputLine::TooLong(id) => {
            let what = format!("a message has at most {MOST} bytes");
            return error_reply(ErrorCode::INVALID_REQUEST, what, id);
        }
    };
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
    if text.is_empty() {
        return ParsedLine::Nothing;
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
        Ok(ClientJsonRpcMessage::Request(request)) => match request.request {
            ClientRequest::CustomRequest(custom) => {
                let error = unknown::unknown_request_error(&custom);
                ParsedLine::Wrong(Box::new(ServerJsonRpcMessage::error(error, Some(request.id))))
            }
            _ => ParsedLine::Message(Box::new(ClientJsonRpcMessage::Request(request))),
        },
        Ok(ClientJsonRpcMessage::Notification(_))
            if envelope(text).is_some_and(|it| it.id.is_some()) =>
        {
            error_reply(ErrorCode::INVALID_REQUEST, NO_ID, None)
        }
        Ok(message) => ParsedLine::Message(Box::new(message)),
        Err(error) => explain_parse_error(text, &error),
    }
}

/// Drops metadata for other readers, of any length, so that it is not kept while the request is
/// worked on.
pub(super) fn keep_known_meta(request: &mut ClientRequest) {
    let is_known = |name: &str| {
        name == "progressToken"
            || name == consent::CODEX_TURN
            || name.starts_with("io.modelcontextprotocol/")
    };
    request.get_meta_mut().retain(|name, _| is_known(name));
}

/// True if the message begins a conversation.
pub(super) fn is_conversation_start(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => {
            let version = other.get_meta().protocol_version();
            version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it))
        }
    }
}

fn explain_parse_error(text: &[u8], error: &serde_json::Error) -> ParsedLine {
    let Some(MessageEnvelope { id, method }) = envelope(text) else {
        return if text.starts_with(b"{") && error.is_data() {
            error_reply(ErrorCode::INVALID_REQUEST, format!("{NO_MESSAGE}: {error}"), None)
        } else if error.is_data() || text.starts_with(b"[") {
            let what = "one JSON object on a line is expected; batches are not taken";
            error_reply(ErrorCode::INVALID_REQUEST, what, None)
        } else {
            error_reply(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"), None)
        };
    };
    let Some(id) = id else {
        return match method {
            // Malformed notifications are ignored.
            Some(_) => ParsedLine::Nothing,
            None => error_reply(ErrorCode::INVALID_REQUEST, NO_MESSAGE, None),
        };
    };
    let Some(id) = id::parse_id(id.get()) else {
        return error_reply(ErrorCode::INVALID_REQUEST, NO_ID, None);
    };
    error_reply(ErrorCode::INVALID_REQUEST, format!("{NO_MESSAGE}: {error}"), Some(id))
}

fn error_reply(code: ErrorCode, what: impl Into<String>, id: Option<RequestId>) -> ParsedLine {
    let error = ErrorData::new(code, what.into(), None);
    ParsedLine::Wrong(Box::new(ServerJsonRpcMessage::error(error, id)))
}
