//! Asking the user, through a client that can: what an agent wants to be a rule, or gone, is
//! the user's to decide, and a yes that the client brings from them is the user's own word.
//!
//! Clients of 2026-07-28 are answered with a question, and call again with what the user
//! said; older ones are asked while their call waits. The form has one field that must be
//! ticked: some clients accept a form without fields by themselves.
//!
//! Others decline every form by themselves, because they were told never to ask (Codex with the
//! approval policy `never`), and nothing in such an answer says so. What tells the two apart is
//! time: a program answers at once, and whoever has read the question has taken a while. So a no
//! that comes too fast for a person is nobody's: it is as if nobody had answered, what an agent
//! wrote down goes on waiting for the user, and the agent is told so. A person who is that fast
//! may be asked once more. Where the client says that nobody is there, nobody is asked.

use std::time::Duration;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitResult, ElicitationAction,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Desk;
use super::seal::{Asked, Seal};
use super::tools::{Proposal, Question};

/// By this name the answer is found in the second call.
const NAME: &str = "consent";
/// The one field of the form.
const FIELD: &str = "agree";
/// Nobody reads a question and answers it in less, in milliseconds.
const READING: u64 = 1_500;
/// A user who has gone for coffee must not hold up the agent.
const PATIENCE: Duration = Duration::from_mins(2);

/// What Codex says about the turn that a call comes from.
pub(super) const CODEX_TURN: &str = "x-codex-turn-metadata";

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
    desk: &Desk,
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
    if !modern {
        let asked = ask_meanwhile(form, desk, context);
        return desk.leaving.run_until_cancelled(asked).await.unwrap_or(Consent::Unanswered);
    }
    match desk.seal() {
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
    if let (Some(asked), Some(answer)) = (ours, brought.answer()) {
        proposal.new = asked.new;
        return verdict(&answer, asked.at);
    }
    let requests = InputRequests::from([(NAME.to_owned(), InputRequest::Elicitation(form))]);
    let state = seal.on(&subject, Asked { new: proposal.new, at: SystemClock.now() });
    Consent::Pending(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Asks while the call waits. Who takes too long, or has cancelled the call, is not asked
/// any more: the question is withdrawn, and a late yes is none.
async fn ask_meanwhile(
    form: ElicitRequest,
    desk: &Desk,
    context: &RequestContext<RoleServer>,
) -> Consent {
    // Nobody answers more at once: the rest waits for the user without a question.
    let Ok(_asking) = desk.questions.try_acquire() else { return Consent::Unanswered };
    let request = ServerRequest::ElicitRequest(form);
    let at = SystemClock.now();
    let sent = context.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let Ok(mut asked) = sent.await else { return Consent::Unanswered };
    tokio::select! {
        answer = &mut asked.rx => match answer {
            Ok(Ok(ClientResult::ElicitResult(result))) => verdict(&result, at),
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
fn verdict(result: &ElicitResult, asked: Timestamp) -> Consent {
    let is_read = SystemClock.now().millis_since(asked) >= READING;
    let ticked = result.content.as_ref().and_then(|it| it.get(FIELD)).and_then(Value::as_bool);
    match (&result.action, ticked) {
        (ElicitationAction::Accept, Some(true)) => Consent::Yes,
        (ElicitationAction::Accept, Some(false)) | (ElicitationAction::Decline, _) if is_read => {
            Consent::No
        }
        _ => Consent::Unanswered,
    }
}

/// Whether the client says that this call comes from a run without a person: `codex exec`.
pub(super) fn is_unattended(context: &RequestContext<RoleServer>) -> bool {
    let turn = context.meta.get(CODEX_TURN);
    turn.and_then(|turn| turn.get("turn_trigger")).is_some_and(|trigger| trigger == "exec")
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
