//! JSON-RPC messages as they pass: fields borrowed from a line, whose bytes nobody changes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// JSON-RPC error code for a method that the receiver does not have.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;

/// Fields of a message that decide what is done with it. Values are skipped, not built, so deep
/// nesting and large numbers do no harm.
#[derive(Debug, Deserialize)]
pub(crate) struct MessageFields<'a> {
    /// The id as it is written: `1`, `"1"` and `null` are different ones.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// Reads a field that may be `null`, as distinct from a missing one.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

impl<'a> MessageFields<'a> {
    /// Reads one message; none for anything else, which passes all the same: batches, banners, text
    /// that is not JSON.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        let object = text.starts_with(b"{").then_some(text)?;
        serde_json::from_slice(object).ok()
    }

    /// The id of an answer; none for requests and notifications.
    pub(crate) fn answered_id(&self) -> Option<&'a str> {
        let is_answer = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        self.id.filter(|_| is_answer).map(RawValue::get)
    }
}

/// An id or token as both sides understand it, to compare: servers may spell the same string or
/// number in another way. `1` and `"1"` are different ones.
pub(crate) fn normal_id(id: &str) -> Cow<'_, str> {
    if id.starts_with('"') {
        let parsed = id.contains('\\').then(|| serde_json::from_str::<String>(id).ok()).flatten();
        return parsed.map_or(Cow::Borrowed(id), |text| Cow::Owned(format!("\"{text}\"")));
    }
    // As JavaScript reads numbers. Large ones may become equal, as they do there.
    match id.parse::<f64>() {
        Ok(number) if number.is_finite() => Cow::Owned((number + 0.0).to_string()),
        _ => Cow::Borrowed(id),
    }
}

/// True for bytes that begin as JSON does that may hold messages, also if they are not read as one: a
/// batch, or an object that readers understand differently.
pub(crate) fn looks_like_messages(line: &[u8]) -> bool {
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
    matches!(text.first(), Some(b'{' | b'['))
}

/// `_meta` of parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestMeta<'a> {
    #[serde(borrow, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) protocol_version: Option<Cow<'a, str>>,
}

/// Parameters that the proxy itself reads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestParams<'a> {
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<&'a RawValue>,
    /// Id that a cancellation is about.
    #[serde(borrow, rename = "requestId")]
    pub(crate) request_id: Option<&'a RawValue>,
    /// Token that a progress notification is about.
    #[serde(borrow, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

impl<'a> RequestParams<'a> {
    /// Reads parameters; nothing of what is malformed.
    pub(crate) fn parse(params: Option<&'a RawValue>) -> Self {
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
    }

    /// `_meta` without what belongs to one request, as JSON.
    pub(crate) fn shared_meta(&self) -> Option<String> {
        let meta: BTreeMap<String, &RawValue> = serde_json::from_str(self.meta?.get()).ok()?;
        let is_shared = |name: &str| name.starts_with("io.modelcontextprotocol/");
        let shared: BTreeMap<_, _> = meta.iter().filter(|(name, _)| is_shared(name)).collect();
        serde_json::to_string(&shared).ok()
    }

    pub(crate) fn request_meta(&self) -> RequestMeta<'a> {
        self.meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default()
    }
}

/// A JSON-RPC error in answer to the request with this id, as a line.
pub(crate) fn error_line(id: &str, code: i32, message: &str, data: &serde_json::Value) -> Vec<u8> {
    let mut error = serde_json::json!({ "code": code, "message": message });
    if !data.is_null() {
        error["data"] = data.clone();
    }
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").into_bytes()
}

/// Size above which a line is no longer held, but passed on in pieces and not looked at.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Buffer that is kept between lines.
const KEPT_BUFFER_BYTES: usize = 1 << 20;

/// Piece of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadPiece {
    /// A line with its end, or the last bytes without one.
    Line,
    /// Part of a line that is too long to be held; more of it follows.
    Part,
    /// The last part of such a line.
    LastPart,
}

/// Reads lines, of any length.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    most: u64,
    in_long_line: bool,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self::with_limit(input, MAX_LINE_BYTES)
    }

    fn with_limit(input: R, most: u64) -> Self {
        Self { input: BufReader::with_capacity(64 << 10, input), most, in_long_line: false }
    }

    /// Reads the next piece into `line`; none at the end. A long line's memory is given back first.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Option<ReadPiece>> {
        line.clear();
        line.shrink_to(KEPT_BUFFER_BYTES);
        let most = if self.in_long_line { 64 << 10 } else { self.most };
        let read = (&mut self.input).take(most).read_until(b'\n', line)? as u64;
        let ended = line.last() == Some(&b'\n') || read < most;
        if read == 0 {
            return Ok(None);
        }
        let was_long = std::mem::replace(&mut self.in_long_line, !ended);
        Ok(Some(match (was_long, ended) {
            (false, true) => ReadPiece::Line,
            (true, true) => ReadPiece::LastPart,
            (_, false) => ReadPiece::Part,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, most: u64) -> Vec<(ReadPiece, String)> {
        let mut reader = LineReader::with_limit(text.as_bytes(), most);
        let (mut line, mut found) = (Vec::new(), Vec::new());
        while let Some(piece) = reader.next(&mut line).expect("memory is readable") {
            found.push((piece, String::from_utf8(line.clone()).expect("text")));
        }
        found
    }

    #[test]
    fn every_byte_of_every_line_is_read_once() {
        use ReadPiece::{LastPart, Line, Part};
        let of = |piece, text: &str| (piece, text.to_owned());
        assert_eq!(pieces("a\n\r\nb", 10), [of(Line, "a\n"), of(Line, "\r\n"), of(Line, "b")]);
        assert_eq!(
            pieces("12345678\nx\n", 4),
            [of(Part, "1234"), of(LastPart, "5678\n"), of(Line, "x\n")]
        );
        assert_eq!(pieces("12345", 4), [of(Part, "1234"), of(LastPart, "5")]);
    }

    #[test]
    fn ids_keep_their_type_and_spelling() {
        for id in ["1", "\"1\"", "1.0", "12345678901234567890123", "null", "\"\\u0061\""] {
            let line = format!("{{\"id\":{id},\"result\":{{}}}}\n");
            let fields = MessageFields::parse(line.as_bytes()).expect("a message");
            assert_eq!(fields.answered_id(), Some(id));
        }
    }

    #[test]
    fn ids_are_equal_if_readers_say_so() {
        let cafe = ["\"caf\\u00e9\"", "\"caf\u{e9}\"", "\"\\u0063af\u{e9}\""];
        for equal in
            [&cafe[..], &["100", "1.0e2", "100.0"], &["-0", "0"], &["\"a\\/b\"", "\"a/b\""]]
        {
            assert!(equal.iter().all(|id| normal_id(id) == normal_id(equal[0])), "{equal:?}");
        }
        let different = ["1", "\"1\"", "null", "1.5", "\"a\"", "\"\\\\a\"", "9007199254740991"];
        let normal: std::collections::BTreeSet<_> = different.into_iter().map(normal_id).collect();
        assert_eq!(normal.len(), different.len());
    }

    #[test]
    fn what_is_no_single_message_is_not_read_as_one() {
        for line in ["", "banner", "[{\"id\":1}]", "{\"id\":1,\"id\":2}", "{\"method\":1}", "{"] {
            assert!(MessageFields::parse(line.as_bytes()).is_none(), "{line}");
        }
    }
}
