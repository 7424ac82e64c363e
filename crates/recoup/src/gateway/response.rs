//! Answers to clients: from the cache, shared with others, or passed through.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

use super::LiveSettings;
use super::assemble::{assemble_stream, to_stream};
use super::body::{AnswerBody, PacedBody, PassedBody};
use super::endpoint::ApiEndpoint;
use super::meter::MeteredBody;
use super::recording::{self, RecordedAnswer};
use super::refusal::GatewayRefusal;
use super::report::{CacheReport, CacheStatus};
use super::shared_response::SharedReader;
use super::upstream::end_to_end;

/// An answer from the cache.
#[derive(Debug)]
pub(super) struct ServedAnswer {
    pub(super) recorded: RecordedAnswer,
    pub(super) report: CacheReport,
}

/// A recorded answer, at once or at its own pace.
pub(super) fn recorded_response(live: &LiveSettings, served: ServedAnswer) -> Response<AnswerBody> {
    let ServedAnswer { recorded, report } = served;
    let is_stream = recorded.is_stream();
    let RecordedAnswer { headers, events, body } = recorded;
    let body = if is_stream && live.settings.keeps_pace {
        AnswerBody::Paced(Box::new(PacedBody::new(body, events)))
    } else {
        AnswerBody::whole(body)
    };
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response.extensions_mut().insert(report);
    response
}

/// The answer in another form, where that is exact.
pub(super) fn translate(
    endpoint: ApiEndpoint,
    recorded: &RecordedAnswer,
    form: &str,
) -> Option<RecordedAnswer> {
    let mut headers = recorded.headers.clone();
    if form.is_empty() {
        let assembled = assemble_stream(endpoint, &recorded.body);
        if !assembled.is_exact || !assembled.is_complete {
            return None;
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = serde_json::to_vec(&assembled.body).ok()?.into();
        return Some(RecordedAnswer { headers, events: Vec::new(), body });
    }
    let events = to_stream(endpoint, &recorded.body, form)?;
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    let lengths = events.iter().map(|event| recording::RecordedEvent(0, event.len())).collect();
    let body = events.concat().into();
    Some(RecordedAnswer { headers, events: lengths, body })
}

/// Answer of a reader of a shared response.
pub(super) async fn shared_answer(
    reader: SharedReader,
) -> Result<Response<AnswerBody>, GatewayRefusal> {
    let head = reader.head().await?;
    let is_raw = reader.is_raw();
    let mut response = Response::new(AnswerBody::Shared(reader));
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers.clone();
    if is_raw {
        *response.extensions_mut() = head.extensions.clone();
    } else {
        // What it reads was decoded, and what belongs to the leader is not for others.
        *response.headers_mut() = recording::kept_headers(&head.headers);
    }
    let mut report = head.report.clone();
    if !is_raw && report.status == CacheStatus::Miss {
        let reason = Some("shared with a request on its way".to_owned());
        let (age, upstream_call) = (Some(0), None);
        report = CacheReport { status: CacheStatus::Hit, reason, age, upstream_call, ..report };
    }
    response.extensions_mut().insert(report);
    Ok(response)
}

/// An upstream's answer as it is.
pub(super) fn passed_answer(
    response: Response<MeteredBody>,
    report: CacheReport,
    silence: Duration,
) -> Response<AnswerBody> {
    let (head, body) = response.into_parts();
    begun_answer(head, Bytes::new(), body, report, silence)
}

/// An upstream's answer as it is, of which something was read already.
pub(super) fn begun_answer(
    mut head: hyper::http::response::Parts,
    begun: Bytes,
    body: MeteredBody,
    report: CacheReport,
    silence: Duration,
) -> Response<AnswerBody> {
    head.headers = end_to_end(&head.headers);
    head.extensions.insert(report);
    head.version = hyper::Version::HTTP_11;
    Response::from_parts(head, AnswerBody::Passed(Box::new(PassedBody::new(begun, body, silence))))
}

pub(super) fn plain_answer(status: StatusCode, text: impl Into<Bytes>) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::whole(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
