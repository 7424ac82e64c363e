//! Asking the user, through a client that can: what an agent wants to be a rule is the
//! user's to decide, and a yes that the client brings from them is the user's own word.
//!
//! Clients of 2026-07-28 are answered with a question, and call again with what the user
//! said; older ones are asked while their call waits.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitResult, ElicitationAction,
    InputRequest, InputRequests, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tokio::time::timeout;

use super::tools::Question;

/// By this name the answer is found in the second call.
const NAME: &str = "consent";
/// A user who has gone for coffee must not hold up the agent.
const PATIENCE: Duration = Duration::from_mins(2);

/// What came of asking.
#[derive(Debug)]
pub(super) enum Consent {
    Given,
    NotGiven,
    /// The client asks, and calls again.
    Pending(InputRequiredResult),
}

/// Asks, where the client can.
pub(super) async fn ask(
    question: &Question,
    said: Option<bool>,
    context: &RequestContext<RoleServer>,
) -> Consent {
    if let Some(agreed) = said {
        return if agreed { Consent::Given } else { Consent::NotGiven };
    }
    let able = context.client_capabilities().and_then(|it| it.elicitation);
    // A client that says only that it can ask means forms.
    if !able.is_some_and(|it| it.form.is_some() || it.url.is_none()) {
        return Consent::NotGiven;
    }
    let Some(request) = request(question) else { return Consent::NotGiven };
    let modern = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if modern {
        let requests = InputRequests::from([(NAME.to_owned(), InputRequest::Elicitation(request))]);
        return Consent::Pending(InputRequiredResult::from_input_requests(requests));
    }
    let sent = context.peer.send_request(ServerRequest::ElicitRequest(request));
    match timeout(PATIENCE, sent).await {
        Ok(Ok(ClientResult::ElicitResult(result))) if is_yes(&result) => Consent::Given,
        _ => Consent::NotGiven,
    }
}

/// What the user said, if this call brings it.
pub(super) fn said(request: &CallToolRequestParams) -> Option<bool> {
    let answers = request.input_responses.as_ref()?;
    let answer = answers.get(NAME).cloned();
    let result = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
    Some(result.is_some_and(|result| is_yes(&result)))
}

fn is_yes(result: &ElicitResult) -> bool {
    result.action == ElicitationAction::Accept
}

/// A form without fields: yes or no.
fn request(question: &Question) -> Option<ElicitRequest> {
    let request = json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": question.text,
            "requestedSchema": { "type": "object", "properties": {} },
        },
    });
    serde_json::from_value(request).ok()
}
