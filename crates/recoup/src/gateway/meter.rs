//! Meter of the answers that upstreams are paid for. Each is copied while it is read, whoever reads it, and
//! its tokens are counted when it ends: also when its client has gone, or never was one.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::Response;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use serde_json::Value;

use super::LiveSettings;
use super::assemble::assemble_stream;
use super::budgets::TokenSpend;
use super::decoder::PieceDecoder;
use super::endpoint::{AnswerTokens, ApiEndpoint};
use super::observed::RequestObserver;
use super::recording::is_event_stream;

/// Bytes of text that make a token, where an API does not say how many it used.
const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of an answer, once they are known.
pub(super) type TokenCell = Arc<OnceLock<AnswerTokens>>;

/// A request whose answer has a price.
#[derive(Debug)]
pub(super) struct PaidRequest {
    pub(super) endpoint: ApiEndpoint,
    pub(super) tenant: String,
    pub(super) model: String,
    pub(super) request_bytes: usize,
    pub(super) live: Arc<LiveSettings>,
    pub(super) observer: Arc<RequestObserver>,
}

/// An upstream's body, which is copied while it is read if it has a price.
#[derive(Debug)]
pub(super) struct MeteredBody {
    body: Incoming,
    meter: Option<AnswerMeter>,
}

/// Copy of an answer so far; charged when it is dropped.
#[derive(Debug)]
struct AnswerMeter(Option<Box<PaidAnswer>>);

/// An answer that has been paid for.
#[derive(Debug)]
pub(super) struct PaidAnswer {
    request: Arc<PaidRequest>,
    decoder: PieceDecoder,
    is_stream: bool,
    /// Beginning of it, encoded as it came, up to the limit.
    bytes: Vec<u8>,
    /// Bytes of all of it.
    length: usize,
    tokens: TokenCell,
}

impl MeteredBody {
    /// Measures an answer from here on; only one with status 200 has a price.
    pub(super) fn measure(
        response: Response<Incoming>,
        paid: Option<&Arc<PaidRequest>>,
    ) -> Response<Self> {
        let is_paid = response.status() == StatusCode::OK;
        let meter = paid.filter(|_| is_paid).map(|paid| AnswerMeter::new(paid, response.headers()));
        response.map(|body| Self { body, meter })
    }

    /// Its tokens, once they are known.
    pub(super) fn tokens(&self) -> TokenCell {
        let answer = self.meter.as_ref().and_then(|meter| meter.0.as_ref());
        answer.map(|answer| Arc::clone(&answer.tokens)).unwrap_or_default()
    }
}

impl Body for MeteredBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let (Some(data), Some(AnswerMeter(Some(answer)))) =
                    (frame.data_ref(), &mut self.meter)
                {
                    answer.push(data);
                }
            }
            // Charged before the client is told that this was the end: its line in the log has the tokens.
            Poll::Ready(None | Some(Err(_))) => self.meter = None,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl AnswerMeter {
    fn new(paid: &Arc<PaidRequest>, headers: &HeaderMap) -> Self {
        let limit = paid.live.settings.limits.answer_bytes;
        Self(Some(Box::new(PaidAnswer {
            request: Arc::clone(paid),
            decoder: PieceDecoder::of(headers, limit),
            is_stream: is_event_stream(headers),
            bytes: Vec::new(),
            length: 0,
            tokens: TokenCell::default(),
        })))
    }
}

impl Drop for AnswerMeter {
    fn drop(&mut self) {
        if let Some(answer) = self.0.take() {
            let observer = Arc::clone(&answer.request.observer);
            observer.charge(answer);
        }
    }
}

impl PaidAnswer {
    fn push(&mut self, piece: &[u8]) {
        self.length += piece.len();
        if self.length <= self.request.live.settings.limits.answer_bytes {
            self.bytes.extend_from_slice(piece);
        }
    }

    /// Bytes in memory.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn tenant(&self) -> &str {
        &self.request.tenant
    }

    /// Reads the tokens, and returns what they cost.
    pub(super) fn settle(mut self) -> TokenSpend {
        let tokens = self.read_tokens();
        let _ = self.tokens.set(tokens);
        let PaidRequest { endpoint, model, live, .. } = &*self.request;
        let price = live.prices.price_of(model);
        TokenSpend {
            tokens: tokens.input + tokens.output,
            micro_dollars: price.map_or(0, |price| tokens.cost(*endpoint, price)),
        }
    }

    /// Tokens as the API counts them; an estimate if it does not, as in streams of chat completions without
    /// `include_usage`, and in answers that were cut.
    fn read_tokens(&mut self) -> AnswerTokens {
        let endpoint = self.request.endpoint;
        let answer = self.read_answer().unwrap_or_default();
        let usage = endpoint.usage(&answer);
        if endpoint.is_free() || usage.input + usage.output > 0 {
            return usage;
        }
        let written = match endpoint {
            ApiEndpoint::Embeddings => 0,
            _ if answer.is_null() => self.length as u64,
            _ => text_bytes(&answer),
        };
        AnswerTokens {
            input: (self.request.request_bytes as u64).div_ceil(BYTES_PER_TOKEN),
            output: written.div_ceil(BYTES_PER_TOKEN),
            is_estimated: true,
            ..AnswerTokens::default()
        }
    }

    fn read_answer(&mut self) -> Option<Value> {
        if self.bytes.len() < self.length {
            return None;
        }
        let plain = self.decoder.push(&std::mem::take(&mut self.bytes).into())?;
        if self.is_stream {
            Some(assemble_stream(self.request.endpoint, &plain).body)
        } else {
            serde_json::from_slice(&plain).ok()
        }
    }
}

/// Length of all texts in an answer.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        _ => 0,
    }
}
