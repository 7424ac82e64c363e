//! Request and response bodies. All connections share one limit, beyond which requests wait; a
//! message that takes too long is refused.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

use crate::mcp::in_flight::{InFlightBytes, InFlightLimits, InFlightRequest};
use crate::mcp::{LONGEST_MESSAGE as MOST, server, stdio};

/// Limits for the messages of all clients together.
pub(super) const HTTP_LIMITS: InFlightLimits = InFlightLimits { held: 48 << 20, unread: 24 << 20 };
/// Time limit for a message to arrive, or to wait for room.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

const AS_JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

/// Reads a whole message, once there is room for it.
pub(super) async fn read(
    State(load): State<Arc<InFlightBytes>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    if timeout(MESSAGE_TIMEOUT, wait_for_room(&load)).await.is_err() {
        let what = "too many requests in progress: try again when some of them are answered\n";
        return (StatusCode::SERVICE_UNAVAILABLE, what).into_response();
    }
    let (mut parts, body) = request.into_parts();
    let burden = load.charge_request(length(&parts.headers));
    let body = match timeout(MESSAGE_TIMEOUT, to_bytes(body, MOST)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let what = format!("a message may have at most {MOST} bytes\n");
            return (StatusCode::PAYLOAD_TOO_LARGE, what).into_response();
        }
        Err(_) => {
            return (StatusCode::REQUEST_TIMEOUT, "the message did not arrive in time\n")
                .into_response();
        }
    };
    burden.set_request_bytes(body.len());
    let version = parts.headers.get("mcp-protocol-version").and_then(|it| it.to_str().ok());
    if let Some(answer) = server::unknown_method_response(version, &body) {
        return (StatusCode::NOT_FOUND, AS_JSON, answer.to_string()).into_response();
    }
    parts.extensions.insert(burden.clone());
    let response = next.run(Request::from_parts(parts, body.clone().into())).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE
        && let Some(answer) = stdio::invalid_message_reply(body.to_vec())
        && let Ok(answer) = serde_json::to_vec(&answer)
    {
        // The SDK's status for anything that it cannot parse.
        return (StatusCode::BAD_REQUEST, AS_JSON, answer).into_response();
    }
    drop(body);
    response.map(|body| Body::new(CountedBody { body, _burden: burden }))
}

async fn wait_for_room(load: &InFlightBytes) {
    while load.requests_at_limit() {
        load.wait_for_release(InFlightBytes::requests_at_limit).await;
    }
}

/// Declared length; the maximum if there is none.
fn length(headers: &HeaderMap) -> usize {
    let said = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    said.unwrap_or(MOST).min(MOST)
}

/// A response body that counts as in flight until it is read or dropped.
struct CountedBody {
    body: Body,
    _burden: InFlightRequest,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
