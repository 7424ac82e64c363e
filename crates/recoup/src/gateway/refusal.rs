//! Answers of the gateway itself to requests that it refuses.

use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use recoup_core::key::Key;
use serde_json::json;

use super::body::AnswerBody;
use super::report::{CacheReport, CacheStatus};
use super::shared_response::UpstreamFault;

/// An answer of the gateway itself, in the form of an API's error.
#[derive(Debug)]
pub(super) struct GatewayRefusal {
    status: StatusCode,
    message: String,
    report: Option<Box<CacheReport>>,
    /// Seconds after which another attempt makes sense.
    retry_after: Option<i64>,
}

impl GatewayRefusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), report: None, retry_after: None }
    }

    /// Only a cached answer was wanted, and there is none.
    pub(super) fn not_cached(key: Option<Key>) -> Self {
        let reason = "only a cached answer was wanted";
        let report = Some(Box::new(CacheReport::unserved(CacheStatus::Miss, key, reason)));
        Self { report, ..Self::new(StatusCode::GATEWAY_TIMEOUT, "there is no cached answer") }
    }

    /// A replay has no recording of the request.
    pub(super) fn not_recorded(message: String) -> Self {
        let reason = "not in the cassette";
        let report = Some(Box::new(CacheReport::unserved(CacheStatus::Miss, None, reason)));
        Self { report, ..Self::new(StatusCode::FAILED_DEPENDENCY, message) }
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Adds the seconds after which another attempt makes sense.
    pub(super) fn retry_after(self, seconds: i64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    pub(super) fn into_response(self) -> Response<AnswerBody> {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        let message = format!("recoup gateway: {}", self.message);
        // Both APIs read this.
        let body =
            json!({ "type": "error", "error": { "type": kind, "message": message, "code": null } });
        let mut response = Response::new(AnswerBody::whole(body.to_string()));
        *response.status_mut() = self.status;
        let headers: &mut HeaderMap = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        let report = self.report.map_or_else(
            || CacheReport::unserved(CacheStatus::Bypass, None, self.message),
            |report| *report,
        );
        response.extensions_mut().insert(report);
        response
    }
}

impl From<UpstreamFault> for GatewayRefusal {
    fn from(fault: UpstreamFault) -> Self {
        Self::new(fault.status, fault.message)
    }
}
