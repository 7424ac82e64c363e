//! Why a server gave no answer over HTTP, as the client is told.

use recoup_core::base::text::shorten_text;
use reqwest::header::{HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::http::{BodyFault, read_refusal, root_cause};

/// Characters of refusals to repeat.
const MAX_SHOWN_CHARS: usize = 300;

/// Reason why there is no answer.
#[derive(Debug)]
pub(crate) struct HttpFault {
    pub(crate) message: String,
    pub(crate) data: Value,
    pub(crate) status: Option<StatusCode>,
}

impl From<BodyFault> for HttpFault {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::CutOff(error) => Self::of_request(error),
            BodyFault::TooLarge(most) => {
                Self::new(format!("the answer has more than {most} bytes"))
            }
        }
    }
}

impl HttpFault {
    pub(crate) fn new(message: String) -> Self {
        Self { message, data: Value::Null, status: None }
    }

    pub(crate) fn of_request(error: reqwest::Error) -> Self {
        let doing = if error.is_connect() { "no connection" } else { "no answer" };
        Self::new(format!("{doing}: {}", root_cause(&error.without_url())))
    }

    /// Describes a body that does not answer the request.
    pub(crate) fn of_strange_body(
        status: StatusCode,
        kind: Option<&HeaderValue>,
        body: &[u8],
    ) -> Self {
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("no content type");
        let mut message =
            format!("the server answered {status} with {kind}, which is no answer to the request");
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        if let Some(said) = json.pointer("/error/message").and_then(Value::as_str) {
            message = format!("{message}: {}", shorten_text(said, MAX_SHOWN_CHARS));
        }
        let data = json!({ "status": status.as_u16(), "contentType": kind });
        Self { message, data, status: Some(status) }
    }

    /// Describes an answer with a status other than success; returns its body, too.
    pub(crate) async fn of_refusal(response: Response, credentials_hint: &str) -> (Self, Vec<u8>) {
        let status = response.status();
        let text = |name| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (challenge, elsewhere) = (text(WWW_AUTHENTICATE), text(LOCATION));
        let body = read_refusal(response).await;
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let said = json.pointer("/error/message").and_then(Value::as_str).map(str::to_owned);
        let said = said.unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned());
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut message = format!("the server answered {status}");
        if !said.is_empty() {
            message = format!("{message}: {}", shorten_text(&said, MAX_SHOWN_CHARS));
        }
        let mut data = json!({ "status": status.as_u16() });
        if let Some(challenge) = challenge {
            message = format!("{message} (WWW-Authenticate: {challenge}; {credentials_hint})");
            data["wwwAuthenticate"] = challenge.into();
        }
        if let Some(elsewhere) = elsewhere.filter(|_| status.is_redirection()) {
            message = format!("{message}: it redirects to {elsewhere}, where nothing is sent");
        }
        (Self { message, data, status: Some(status) }, body)
    }
}
