//! Recorded answers: what is stored of an answer, and how it is served again.
//!
//! ```text
//! {"v":1,"status":200,"headers":[["content-type","text/event-stream"]],"events":[[12,57],[13,80]]}\n
//! the bytes of the body, decoded; of a stream: of all events, whose times and lengths are above
//! ```

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use super::upstream::is_connection_header;

/// Version of the format.
const VERSION: u32 = 1;

/// Headers that are not kept: they belong to the connection, the moment or the user.
const UNKEPT_HEADERS: [&str; 8] = [
    "content-length", "content-encoding", "date", "set-cookie", "retry-after", "alt-svc", "age",
    "vary",
];

/// An answer as it is stored, decoded.
#[derive(Debug, Clone)]
pub(super) struct RecordedAnswer {
    pub(super) headers: HeaderMap,
    /// Time and length of each event; empty if it is no stream.
    pub(super) events: Vec<RecordedEvent>,
    pub(super) body: Bytes,
}

/// Milliseconds since the request, and the length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedEvent(pub(super) u64, pub(super) usize);

/// First line of the stored form.
#[derive(Debug, Serialize, Deserialize)]
struct RecordHead {
    v: u32,
    status: u16,
    headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<RecordedEvent>,
}

impl RecordedAnswer {
    /// The stored form.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let headers = self.headers.iter().filter(|(name, _)| is_kept(name));
        let headers = headers.filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let head = RecordHead {
            v: VERSION,
            status: 200,
            headers: headers.collect(),
            events: self.events.clone(),
        };
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.reserve_exact(1 + self.body.len());
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Reads the stored form; none if it is of a later version or damaged.
    pub(super) fn from_bytes(stored: &Bytes) -> Option<Self> {
        let end = memchr::memchr(b'\n', stored)?;
        let head: RecordHead = serde_json::from_slice(&stored[..end]).ok()?;
        let body = stored.slice(end + 1..);
        let length: usize = head.events.iter().map(|event| event.1).sum();
        if head.v != VERSION || (!head.events.is_empty() && length != body.len()) {
            return None;
        }
        let mut headers = HeaderMap::with_capacity(head.headers.len() + 4);
        for (name, value) in head.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            headers.append(name, HeaderValue::from_str(&value).ok()?);
        }
        Some(Self { headers, events: head.events, body })
    }

    /// True if it is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        is_event_stream(&self.headers)
    }
}

/// True if the headers announce a stream of events.
pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(hyper::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// Headers that are not of one moment, connection or user.
pub(super) fn kept_headers(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Headers that make recordings differ although the answers are the same, or that name an account.
const VOLATILE_HEADERS: [&str; 16] = [
    "server", "via", "request-id", "x-request-id", "cf-ray", "cf-cache-status", "report-to", "nel",
    "server-timing", "traceresponse", "openai-processing-ms", "openai-organization",
    "openai-project", "anthropic-organization-id", "x-envoy-upstream-service-time",
    "x-cloud-trace-context",
];

/// Kept headers for a cassette, by name.
pub(super) fn cassette_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let kept = headers.iter().filter(|(name, _)| {
        is_kept(name)
            && !VOLATILE_HEADERS.contains(&name.as_str())
            && !is_connection_header(name, headers)
    });
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let mut kept: Vec<(String, String)> = kept.filter_map(text).collect();
    // Stable: a header that occurs twice keeps its order.
    kept.sort_by(|a, b| a.0.cmp(&b.0));
    kept
}

fn is_kept(name: &HeaderName) -> bool {
    let name = name.as_str();
    !UNKEPT_HEADERS.contains(&name) && !name.contains("ratelimit") && !name.starts_with("recoup-")
}

/// Splits a stream into events as its bytes arrive: an event ends with an empty line.
#[derive(Debug)]
pub(super) struct EventSplitter {
    /// Length of the event that has not ended yet.
    length: usize,
    /// True if the line so far is empty.
    is_line_empty: bool,
    /// True if the event has a line that is not empty.
    has_line: bool,
    /// True after a carriage return, whose newline may follow.
    after_return: bool,
}

impl EventSplitter {
    pub(super) fn new() -> Self {
        Self { length: 0, is_line_empty: true, has_line: false, after_return: false }
    }

    /// Takes a piece, and returns the lengths of the events that it completes.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<usize> {
        let mut lengths = Vec::new();
        for byte in piece {
            let is_second =
                std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            // The newline of an event that ended with its return belongs to the next one.
            self.length += 1;
            match byte {
                b'\n' if is_second => {}
                b'\n' | b'\r' => {
                    if self.is_line_empty && self.has_line {
                        lengths.push(std::mem::take(&mut self.length));
                        self.has_line = false;
                    }
                    self.is_line_empty = true;
                }
                _ => (self.is_line_empty, self.has_line) = (false, true),
            }
        }
        lengths
    }
}
