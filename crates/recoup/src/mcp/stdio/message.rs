//! A line, understood. Whatever has an id is answered, and at once: a client waits for
//! seconds where nothing comes.

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::id;
use super::lines::{Line, MOST};
use crate::mcp::{consent, unknown};

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
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

/// A field that is there, `null` or not.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

/// What an object has; a list is none, though serde would fill the fields in order.
fn envelope(text: &[u8]) -> Option<Envelope<'_>> {
    let text = text.starts_with(b"{").then_some(text)?;
    serde_json::from_slice(text).ok()
}

/// What is said about an object that is neither request nor answer.
const NO_MESSAGE: &str = "this is no message of MCP";
/// What is said about ids that no answer could bear.
const NO_ID: &str = "the id of a request is a string or a whole number";

pub(super) fn understand(line: Line) -> Understood {
    let line = match line {
        Line::Whole(line) => line,
        Line::TooLong(id) => {
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
        Ok(ClientJsonRpcMessage::Notification(_))
            if envelope(text).is_some_and(|it| it.id.is_some()) =>
        {
            wrong(ErrorCode::INVALID_REQUEST, NO_ID, None)
        }
        Ok(message) => Understood::Message(Box::new(message)),
        Err(error) => misunderstood(text, &error),
    }
}

/// What clients say about a request for others to read, of any length, is not kept while it
/// is worked on.
pub(super) fn keep_known_meta(request: &mut ClientRequest) {
    let is_known = |name: &str| {
        name == "progressToken"
            || name == consent::CODEX_TURN
            || name.starts_with("io.modelcontextprotocol/")
    };
    request.get_meta_mut().retain(|name, _| is_known(name));
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
    let Some(Envelope { id, method }) = envelope(text) else {
        return if text.starts_with(b"{") && error.is_data() {
            wrong(ErrorCode::INVALID_REQUEST, format!("{NO_MESSAGE}: {error}"), None)
        } else if error.is_data() || text.starts_with(b"[") {
            let what = "one JSON object on a line is expected; batches are not taken";
            wrong(ErrorCode::INVALID_REQUEST, what, None)
        } else {
            wrong(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"), None)
        };
    };
    let Some(id) = id else {
        return match method {
            // A notification that makes no sense is passed over.
            Some(_) => Understood::Nothing,
            None => wrong(ErrorCode::INVALID_REQUEST, NO_MESSAGE, None),
        };
    };
    let Some(id) = id::of(id.get()) else {
        return wrong(ErrorCode::INVALID_REQUEST, NO_ID, None);
    };
    wrong(ErrorCode::INVALID_REQUEST, format!("{NO_MESSAGE}: {error}"), Some(id))
}

fn wrong(code: ErrorCode, what: impl Into<String>, id: Option<RequestId>) -> Understood {
    let error = ErrorData::new(code, what.into(), None);
    Understood::Wrong(Box::new(ServerJsonRpcMessage::error(error, id)))
}
