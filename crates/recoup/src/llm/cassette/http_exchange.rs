//! Exchanges of the gateway: any request over HTTP and its answer, byte for byte, as readable JSON.
//!
//! ```text
//! {"v":1,"kind":"http","request":{"upstream":"anthropic","method":"POST","path":"/v1/messages",
//!  "headers":{"anthropic-version":"2023-06-01"},"body":{"json":{…}}},
//!  "response":{"status":200,"headers":[["content-type","text/event-stream"]],
//!  "events":[{"event":"ping","data":{…}},{"text":"[DONE]"},{"raw":": comment\n\n"}]}}
//! ```
//!
//! A body is `json` (with its `layout`, unless it is compact), other `text`, or bytes in `base64`.

use std::collections::BTreeMap;

use recoup_core::base::text::{decode_base64, encode_base64};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::layout::{JsonLayout, JsonTokens};
use super::{HTTP, VERSION};

/// A request over HTTP, and its answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HttpExchange {
    v: u32,
    kind: String,
    pub(crate) request: ExchangeRequest,
    pub(crate) response: ExchangeResponse,
}

/// A request, without anything that belongs to the one who sent it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExchangeRequest {
    /// Name of the upstream.
    pub(crate) upstream: String,
    /// The API that it speaks, unless its name says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api: Option<String>,
    pub(crate) method: String,
    /// Path at the upstream, with the query.
    pub(crate) path: String,
    /// Headers that count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "ExchangeBody::is_empty")]
    pub(crate) body: ExchangeBody,
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExchangeResponse {
    pub(crate) status: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<ExchangeEvent>,
    #[serde(default, skip_serializing_if = "ExchangeBody::is_empty")]
    body: ExchangeBody,
}

/// Bytes of a body, in the form that people read best.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ExchangeBody {
    #[serde(default, skip_serializing_if = "JsonLayout::is_compact")]
    layout: JsonLayout,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// An event of a stream: `event: …` and `data: …` with an empty line behind them, or its bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ExchangeEvent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl HttpExchange {
    pub(crate) fn new(request: ExchangeRequest, response: ExchangeResponse) -> Self {
        Self { v: VERSION, kind: HTTP.to_owned(), request, response }
    }

    /// The text in a file.
    pub(super) fn to_text(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        let tokens = JsonTokens::parse(&text);
        tokens.map_or(text.clone(), |tokens| tokens.to_readable()) + "\n"
    }
}

impl ExchangeRequest {
    pub(crate) fn describe(&self) -> String {
        let (method, path, model) = (&self.method, self.bare_path(), self.model());
        let model = if model.is_empty() { model } else { format!(" for {model}") };
        format!("{method} {path}{model}")
    }

    /// Path without the query.
    pub(crate) fn bare_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Model that is asked; empty if the body names none.
    pub(crate) fn model(&self) -> String {
        #[derive(Default, Deserialize)]
        struct NamedModel {
            #[serde(default)]
            model: String,
        }
        let named =
            self.body.json.as_ref().map(|json| serde_json::from_str::<NamedModel>(json.get()));
        named.and_then(Result::ok).unwrap_or_default().model
    }
}

impl ExchangeResponse {
    /// An answer that is no stream.
    pub(crate) fn plain(status: u16, headers: Vec<(String, String)>, body: &[u8]) -> Self {
        Self { status, headers, events: Vec::new(), body: ExchangeBody::of(body) }
    }

    /// A stream, with the lengths of its events. They may leave a rest, which is an event that did not end.
    pub(crate) fn stream(
        status: u16,
        headers: Vec<(String, String)>,
        body: &[u8],
        lengths: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut rest = body;
        let mut events = Vec::new();
        for length in lengths {
            let (event, behind) = rest.split_at(length.min(rest.len()));
            events.push(ExchangeEvent::of(event));
            rest = behind;
        }
        if !rest.is_empty() {
            events.push(ExchangeEvent::of(rest));
        }
        Self { status, headers, events, body: ExchangeBody::default() }
    }

    /// Number of events; none if it is no stream.
    pub(crate) fn event_count(&self) -> Option<usize> {
        Some(self.events.len()).filter(|count| *count > 0)
    }

    /// Its bytes, as they came.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if self.events.is_empty() {
            return self.body.to_bytes();
        }
        self.events.iter().flat_map(ExchangeEvent::to_bytes).collect()
    }
}

impl ExchangeBody {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        let Ok(text) = str::from_utf8(bytes) else {
            return Self { base64: Some(encode_base64(bytes)), ..Self::default() };
        };
        if let Some(layout) = JsonLayout::of(text) {
            return Self { layout, json: raw_json(text), ..Self::default() };
        }
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        let Self { layout: _, json, text, base64 } = self;
        json.is_none() && text.is_none() && base64.is_none()
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Self { layout, json, text, base64 } = self;
        match (json, text, base64) {
            (Some(json), ..) => {
                JsonTokens::parse(json.get()).map(|it| it.to_text(*layout).into_bytes())
            }
            (_, Some(text), _) => Some(text.clone().into_bytes()),
            (.., Some(base64)) => decode_base64(base64.as_bytes(), usize::MAX),
            (None, None, None) => None,
        }
        .unwrap_or_default()
    }
}

impl ExchangeEvent {
    fn of(bytes: &[u8]) -> Self {
        let Ok(whole) = str::from_utf8(bytes) else {
            return Self { base64: Some(encode_base64(bytes)), ..Self::default() };
        };
        let read = |text: &str| {
            let (event, rest) = match text.strip_prefix("event: ") {
                Some(rest) => rest.split_once('\n').map(|(name, rest)| (Some(name), rest))?,
                None => (None, text),
            };
            let data = rest.strip_prefix("data: ")?.strip_suffix("\n\n")?;
            let event = event.map(str::to_owned);
            let is_json = data.starts_with(['{', '['])
                && JsonLayout::of(data).is_some_and(|layout| layout.is_compact());
            if data.contains(['\n', '\r']) {
                return None;
            }
            let (data, text) =
                if is_json { (raw_json(data), None) } else { (None, Some(data.to_owned())) };
            Some(Self { event, data, text, ..Self::default() })
        };
        // Whatever would not come back as it is stays as it is.
        read(whole)
            .filter(|event| event.to_bytes() == bytes)
            .unwrap_or_else(|| Self { raw: Some(whole.to_owned()), ..Self::default() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let Self { event, data, text, raw, base64 } = self;
        if let Some(raw) = raw {
            return raw.clone().into_bytes();
        }
        if let Some(base64) = base64 {
            return decode_base64(base64.as_bytes(), usize::MAX).unwrap_or_default();
        }
        let name = event.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
        let json = data.as_ref().and_then(|data| {
            JsonTokens::parse(data.get()).map(|it| it.to_text(JsonLayout::Compact))
        });
        let data = json.or_else(|| text.clone()).unwrap_or_default();
        format!("{name}data: {data}\n\n").into_bytes()
    }
}

fn raw_json(text: &str) -> Option<Box<RawValue>> {
    // Its ends must be those of the value.
    RawValue::from_string(text.trim_ascii().to_owned()).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::CassetteFile;
    use super::*;

    /// Bytes of bodies and streams: events, JSON in all layouts, text, and anything.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"event: ping\ndata: {\"type\":\"ping\"}\n\n".to_vec()),
            Just(b"data: [DONE]\n\n".to_vec()),
            Just(b"data: {\"a\": 1}\r\n\r\n".to_vec()),
            Just(b"data: a\ndata: b\n\n".to_vec()),
            Just("data: {\"text\":\"Gr\\u00fc\u{df}e \u{1f30d}\",\"n\":1.0e5}\n\n".into()),
            Just(b"{\n  \"a\": [\n    1.50\n  ]\n}\n".to_vec()),
            Just(b"{\"b\":1,\"a\":[],\"b\":{}}".to_vec()),
            "[a-z:{}\\[\\]\", \n\r\\\\]{0,8}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..8),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    /// The response as it comes back from a file.
    fn reread(response: ExchangeResponse, body: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let request = ExchangeRequest {
            upstream: "anthropic".to_owned(),
            api: None,
            method: "POST".to_owned(),
            path: "/v1/messages".to_owned(),
            headers: BTreeMap::new(),
            body: ExchangeBody::of(body),
        };
        let text = HttpExchange::new(request, response).to_text().repeat(2);
        let file = CassetteFile::parse(Path::new("a"), text.as_bytes()).expect("a cassette");
        assert!(file.is_whole && file.exchanges.len() == 2);
        let exchange = file.exchanges[1].http().expect("of a gateway");
        (exchange.request.body.to_bytes(), exchange.response.to_bytes())
    }

    proptest! {
        #[test]
        fn all_bytes_come_back_however_they_are_cut(
            body in bytes(),
            lengths in prop::collection::vec(0_usize..60, 0..12),
        ) {
            let stream = ExchangeResponse::stream(200, Vec::new(), &body, lengths);
            prop_assert_eq!(reread(stream, &body), (body.clone(), body.clone()));
            let plain = ExchangeResponse::plain(200, Vec::new(), &body);
            prop_assert_eq!(reread(plain, &body).1, body);
        }
    }

    #[test]
    fn events_and_bodies_are_readable() {
        let body = b"event: ping\ndata: {\"type\":\"ping\"}\n\ndata: [DONE]\n\n: comment\n\n";
        let stream = ExchangeResponse::stream(200, Vec::new(), body, [35, 14, 11]);
        assert_eq!(
            serde_json::to_string(&stream.events).expect("JSON"),
            "[{\"event\":\"ping\",\"data\":{\"type\":\"ping\"}},{\"text\":\"[DONE]\"},\
             {\"raw\":\": comment\\n\\n\"}]"
        );
        let body = serde_json::to_string(&ExchangeBody::of(b"{\n  \"a\": 1\n}\n"));
        assert_eq!(body.expect("JSON"), "{\"layout\":\"indented-line\",\"json\":{\n  \"a\": 1\n}}");
    }
}
