//! Lines of a client, within bounds, and the messages in them.

use std::io::{self, BufRead, BufReader, Read};

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::id;
use crate::mcp::{consent, server};

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
const NO_MESSAGE: &str = "not an MCP message";
/// Reply to ids that no response could carry.
const NO_ID: &str = "the id of a request must be a string or an integer";

pub(super) fn parse_line(line: InputLine) -> ParsedLine {
    let line = match line {
        InputLine::Whole(line) => line,
        InputLine::TooLong(id) => {
            let what = format!("a message may have at most {MAX_LINE_BYTES} bytes");
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
                let error = server::unknown_request_error(&custom);
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
            let what = "expected one JSON object per line; batches are not supported";
            error_reply(ErrorCode::INVALID_REQUEST, what, None)
        } else {
            error_reply(ErrorCode::PARSE_ERROR, format!("not valid JSON: {error}"), None)
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

/// Limit of a message in bytes.
const MAX_LINE_BYTES: usize = crate::mcp::LONGEST_MESSAGE;

/// One line, without its end.
#[derive(Debug)]
pub(super) enum InputLine {
    Whole(Vec<u8>),
    /// Too long, with its id if it had one.
    TooLong(Option<RequestId>),
}

impl InputLine {
    /// Number of bytes kept.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(line) => line.len(),
            Self::TooLong(_) => 0,
        }
    }
}

pub(super) struct LineReader<R> {
    input: BufReader<R>,
    most: usize,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self::with_limit(input, MAX_LINE_BYTES)
    }

    fn with_limit(input: R, most: usize) -> Self {
        Self { input: BufReader::with_capacity(64 * 1024, input), most }
    }

    /// Returns the next line; none at the end. The last line needs no line end.
    pub(super) fn next(&mut self) -> Option<InputLine> {
        let mut line = Vec::new();
        let mut limited = (&mut self.input).take(self.most as u64 + 1);
        // A read error counts as the end.
        let read = limited.read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read > self.most {
            // Of the rest, only an id is kept.
            let mut rest = LineRemainder { input: &mut self.input, ended: false };
            let id = id::find_id(line.as_slice().chain(&mut rest));
            let _ = io::copy(&mut rest, &mut io::sink());
            return Some(InputLine::TooLong(id));
        }
        Some(InputLine::Whole(line))
    }
}

/// The unread rest of a line.
struct LineRemainder<'a, R> {
    input: &'a mut BufReader<R>,
    ended: bool,
}

impl<R: Read> Read for LineRemainder<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let there = self.input.fill_buf()?;
        let there = &there[..there.len().min(buffer.len())];
        let end = there.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(there.len());
        buffer[..taken].copy_from_slice(&there[..taken]);
        let consumed = taken + usize::from(end.is_some());
        self.ended = end.is_some() || there.is_empty();
        self.input.consume(consumed);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, most: usize) -> Vec<String> {
        let mut lines = LineReader::with_limit(text.as_bytes(), most);
        let shown = |line| match line {
            InputLine::Whole(line) => String::from_utf8(line).expect("text"),
            InputLine::TooLong(id) => {
                format!("too long: {}", serde_json::to_string(&id).expect("an id is JSON"))
            }
        };
        std::iter::from_fn(|| lines.next()).map(shown).collect()
    }

    #[test]
    fn each_line_is_one_also_the_last() {
        assert_eq!(lines("a\n\nb\r\nc", 10), ["a", "", "b\r", "c"]);
        assert!(lines("", 10).is_empty());
    }

    #[test]
    fn of_a_line_that_is_too_long_the_id_is_known_wherever_it_stands() {
        let long = "x".repeat(100);
        let text = format!(
            "{{\"id\":7,\"p\":\"{long}\"}}\n{{\"p\":\"{long}\",\"id\":\"a\"}}\n{long}\nshort\n"
        );
        let expected = ["too long: 7", "too long: \"a\"", "too long: null", "short"];
        assert_eq!(lines(&text, 20), expected);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit() {
        assert_eq!(lines("12345\n123456\n1", 5), ["12345", "too long: null", "1"]);
    }
}
