//! A line, understood. Whatever has an id is answered, and at once: a client waits for
//! seconds where nothing comes.

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{Line, MOST};
use crate::mcp::unknown;

/// What a line is.
#[derive(Debug)]
pub(super) enum Understood {
    Nothing,
    Message(Box<ClientJsonRpcMessage>),
    /// It is not for the server; this is what the client is told.
    Wrong(Box<ServerJsonRpcMessage>),
}

/// What is read of a line in any case. Values are skipped, not built, so that no nesting
/// is too deep for it.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

pub(super) fn understand(line: Line) -> Understood {
    let line = match line {
        Line::Whole(line) => line,
        Line::TooLong(id) => {
            let id = id.and_then(|id| serde_json::from_value(id).ok());
            let what = format!("a message has at most {MOST} bytes");
            return wrong(ErrorCode::INVALID_REQUEST, what, id);
        }
    };
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
    if text.is_empty() {
        return Understood::Nothing;
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
        Ok(ClientJsonRpcMessage::Request(request)) => match request.request {
            ClientRequest::CustomRequest(custom) => {
                let error = unknown::error(&custom);
                Understood::Wrong(Box::new(ServerJsonRpcMessage::error(error, Some(request.id))))
            }
            _ => Understood::Message(Box::new(ClientJsonRpcMessage::Request(request))),
        },
        Ok(message) => Understood::Message(Box::new(message)),
        Err(error) => misunderstood(text, &error),
    }
}

/// Whether it begins a conversation.
pub(super) fn is_greeting(message: &ClientJsonRpcMessage) -> bool {
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

fn misunderstood(text: &[u8], error: &serde_json::Error) -> Understood {
    let Ok(Envelope { id, method }) = serde_json::from_slice::<Envelope<'_>>(text) else {
        return if error.is_data() {
            wrong(ErrorCode::INVALID_REQUEST, "one JSON object on a line is expected", None)
        } else {
            wrong(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"), None)
        };
    };
    let id = id.and_then(|id| serde_json::from_str::<RequestId>(id.get()).ok());
    if id.is_none() && method.is_some() {
        // A notification that makes no sense is passed over.
        return Understood::Nothing;
    }
    wrong(ErrorCode::INVALID_REQUEST, format!("this is no message of MCP: {error}"), id)
}

fn wrong(code: ErrorCode, what: impl Into<String>, id: Option<RequestId>) -> Understood {
    let error = ErrorData::new(code, what.into(), None);
    Understood::Wrong(Box::new(ServerJsonRpcMessage::error(error, id)))
}
