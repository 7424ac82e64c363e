//! Asking the user, through a client that can: what an agent wants to be a rule, or gone, is
//! the user's to decide, and a yes that the client brings from them is the user's own word.
//!
//! Clients of 2026-07-28 are answered with a question, and call again with what the user
//! said; older ones are asked while their call waits. The form has one field that must be
//! ticked: some clients accept a form without fields by themselves.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitResult, ElicitationAction,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::seal::Seal;
use super::tools::{Proposal, Question};

/// By this name the answer is found in the second call.
const NAME: &str = "consent";
/// The one field of the form.
const FIELD: &str = "agree";
/// A user who has gone for coffee must not hold up the agent.
const PATIENCE: Duration = Duration::from_mins(2);

/// What came of asking.
#[derive(Debug)]
pub(super) enum Consent {
    Yes,
    No,
    /// Nobody could be asked, or nobody answered.
    Unanswered,
    /// The client asks, and calls again.
    Pending(InputRequiredResult),
}

/// What a call brings of an earlier question.
#[derive(Debug)]
pub(super) struct Brought {
    responses: Option<InputResponses>,
    state: Option<String>,
}

impl Brought {
    pub(super) fn with(request: &mut CallToolRequestParams) -> Self {
        let state = request.request_state.take();
        Self { responses: request.input_responses.take(), state }
    }

    fn answer(&self) -> Option<ElicitResult> {
        let answer = self.responses.as_ref()?.get(NAME)?.clone();
        serde_json::from_value(answer).ok()
    }
}

/// Asks, where the client can.
pub(super) async fn ask(
    proposal: &mut Proposal,
    brought: &Brought,
    seal: Option<&Seal>,
    context: &RequestContext<RoleServer>,
) -> Consent {
    let able = context.client_capabilities().and_then(|it| it.elicitation);
    // A client that says only that it can ask means forms.
    if !able.is_some_and(|it| it.form.is_some() || it.url.is_none()) {
        return Consent::Unanswered;
    }
    let Some(form) = form(&proposal.question) else { return Consent::Unanswered };
    let modern = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    match seal {
        _ if !modern => ask_meanwhile(form, context).await,
        Some(seal) => ask_again(form, proposal, brought, seal),
        None => Consent::Unanswered,
    }
}

/// The answer, if this call brings it to this very question; else the question.
fn ask_again(
    form: ElicitRequest,
    proposal: &mut Proposal,
    brought: &Brought,
    seal: &Seal,
) -> Consent {
    let subject = proposal.subject();
    let ours = brought.state.as_deref().and_then(|state| seal.opened(state, &subject));
    if let (Some(new), Some(answer)) = (ours, brought.answer()) {
        proposal.new = new;
        return verdict(&answer);
    }
    let requests = InputRequests::from([(NAME.to_owned(), InputRequest::Elicitation(form))]);
    let state = seal.on(&subject, proposal.new);
    Consent::Pending(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Asks while the call waits. Who takes too long, or has cancelled the call, is not asked
/// any more: the question is withdrawn, and a late yes is none.
async fn ask_meanwhile(form: ElicitRequest, context: &RequestContext<RoleServer>) -> Consent {
    let request = ServerRequest::ElicitRequest(form);
    let sent = context.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let Ok(mut asked) = sent.await else { return Consent::Unanswered };
    tokio::select! {
        answer = &mut asked.rx => match answer {
            Ok(Ok(ClientResult::ElicitResult(result))) => verdict(&result),
            _ => Consent::Unanswered,
        },
        () = over(context) => {
            // A client that is gone need not be told.
            let _ = asked.cancel(Some("nobody waits for the answer any more".to_owned())).await;
            Consent::Unanswered
        }
    }
}

async fn over(context: &RequestContext<RoleServer>) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = sleep(PATIENCE) => {}
    }
}

/// Only a ticked field is a yes, and only a person who says so says no.
fn verdict(result: &ElicitResult) -> Consent {
    let ticked = result.content.as_ref().and_then(|it| it.get(FIELD)).and_then(Value::as_bool);
    match (&result.action, ticked) {
        (ElicitationAction::Accept, Some(true)) => Consent::Yes,
        (ElicitationAction::Accept, Some(false)) | (ElicitationAction::Decline, _) => Consent::No,
        _ => Consent::Unanswered,
    }
}

/// A form with one field, to be ticked.
fn form(question: &Question) -> Option<ElicitRequest> {
    let request = json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": question.text,
            "requestedSchema": {
                "type": "object",
                "properties": { FIELD: { "type": "boolean", "title": question.tick } },
                "required": [FIELD],
            },
        },
    });
    serde_json::from_value(request).ok()
}
