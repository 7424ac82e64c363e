//! Consent of the user. Questions are signed: a client of 2026-07-28 gets a question as a response
//! and calls again, and its answer counts only if this process asked exactly that.

use std::time::Duration;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::digest::{decode_hex, encode_hex};
use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::SystemRandom;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitResult, ElicitationAction,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::ServerState;
use super::tools::{ConsentProposal, ConsentQuestion};

/// Name of the answer in the second call.
const NAME: &str = "consent";
/// The one field of the form.
const FIELD: &str = "agree";
/// Minimum time in which a person reads and answers a question, in milliseconds.
const MIN_READING_MILLIS: u64 = 1_500;
/// Limit for an absent user, who must not hold up the agent.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);

/// Metadata of Codex about the turn that a call belongs to.
pub(super) const CODEX_TURN: &str = "x-codex-turn-metadata";

/// Result of asking.
#[derive(Debug)]
pub(super) enum ConsentResult {
    Yes,
    No,
    /// Nobody could be asked, or nobody answered.
    Unanswered,
    /// The client asks, and calls again.
    Pending(InputRequiredResult),
}

/// Answer to an earlier question, as a call brings it.
#[derive(Debug)]
pub(super) struct ConsentReply {
    responses: Option<InputResponses>,
    state: Option<String>,
}

impl ConsentReply {
    pub(super) fn take_from(request: &mut CallToolRequestParams) -> Self {
        let state = request.request_state.take();
        Self { responses: request.input_responses.take(), state }
    }

    fn answer(&self) -> Option<ElicitResult> {
        let answer = self.responses.as_ref()?.get(NAME)?.clone();
        serde_json::from_value(answer).ok()
    }
}

/// Asks the user, if the client supports it.
pub(super) async fn ask(
    proposal: &mut ConsentProposal,
    brought: &ConsentReply,
    state: &ServerState,
    context: &RequestContext<RoleServer>,
) -> ConsentResult {
    let able = context.client_capabilities().and_then(|it| it.elicitation);
    // Without details, the capability means forms.
    if !able.is_some_and(|it| it.form.is_some() || it.url.is_none()) {
        return ConsentResult::Unanswered;
    }
    let Some(form) = form(&proposal.question) else { return ConsentResult::Unanswered };
    let modern = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if !modern {
        let asked = ask_while_waiting(form, state, context);
        return state.leaving.run_until_cancelled(asked).await.unwrap_or(ConsentResult::Unanswered);
    }
    match state.consent_signer() {
        Some(seal) => ask_in_response(form, proposal, brought, seal),
        None => ConsentResult::Unanswered,
    }
}

/// Returns the answer, if this call brings it to this very question; otherwise the question.
fn ask_in_response(
    form: ElicitRequest,
    proposal: &mut ConsentProposal,
    brought: &ConsentReply,
    seal: &ConsentSigner,
) -> ConsentResult {
    let subject = proposal.subject();
    let ours = brought.state.as_deref().and_then(|state| seal.verify(state, &subject));
    if let (Some(asked), Some(answer)) = (ours, brought.answer()) {
        proposal.new = asked.new;
        return evaluate_reply(&answer, asked.at);
    }
    let requests = InputRequests::from([(NAME.to_owned(), InputRequest::Elicitation(form))]);
    let state = seal.sign(&subject, AskedQuestion { new: proposal.new, at: SystemClock.now() });
    ConsentResult::Pending(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Asks while the call waits. After a timeout or a cancellation the question is withdrawn, and a
/// late yes does not count.
async fn ask_while_waiting(
    form: ElicitRequest,
    state: &ServerState,
    context: &RequestContext<RoleServer>,
) -> ConsentResult {
    // Nobody answers more at once: the rest stay candidates without a question.
    let Ok(_asking) = state.questions.try_acquire() else { return ConsentResult::Unanswered };
    let request = ServerRequest::ElicitRequest(form);
    let at = SystemClock.now();
    let sent = context.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let Ok(mut asked) = sent.await else { return ConsentResult::Unanswered };
    tokio::select! {
        answer = &mut asked.rx => match answer {
            Ok(Ok(ClientResult::ElicitResult(result))) => evaluate_reply(&result, at),
            _ => ConsentResult::Unanswered,
        },
        () = cancelled_or_timed_out(context) => {
            // The client may be gone.
            let _ = asked.cancel(Some("the answer is no longer needed".to_owned())).await;
            ConsentResult::Unanswered
        }
    }
}

async fn cancelled_or_timed_out(context: &RequestContext<RoleServer>) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = sleep(ANSWER_TIMEOUT) => {}
    }
}

/// Only a ticked field is a yes, and only a person's no is a no.
fn evaluate_reply(result: &ElicitResult, asked: Timestamp) -> ConsentResult {
    let is_read = SystemClock.now().millis_since(asked) >= MIN_READING_MILLIS;
    let ticked = result.content.as_ref().and_then(|it| it.get(FIELD)).and_then(Value::as_bool);
    match (&result.action, ticked) {
        (ElicitationAction::Accept, Some(true)) => ConsentResult::Yes,
        (ElicitationAction::Accept, Some(false)) | (ElicitationAction::Decline, _) if is_read => {
            ConsentResult::No
        }
        _ => ConsentResult::Unanswered,
    }
}

/// True if the client reports a run without a person: `codex exec`.
pub(super) fn is_unattended(context: &RequestContext<RoleServer>) -> bool {
    let turn = context.meta.get(CODEX_TURN);
    turn.and_then(|turn| turn.get("turn_trigger")).is_some_and(|trigger| trigger == "exec")
}

/// Builds a form with one field to tick.
fn form(question: &ConsentQuestion) -> Option<ElicitRequest> {
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

/// HMAC key that lives as long as the process.
#[derive(Debug)]
pub(super) struct ConsentSigner(Key);

/// Facts about a question that the second call cannot know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AskedQuestion {
    /// True if the note was new.
    new: bool,
    at: Timestamp,
}

/// Hexadecimal digits of a time.
const TIME_DIGITS: usize = 16;

/// Marks for notes that were new, or known, when first asked about.
const MARKS: [(char, bool); 2] = [('n', true), ('k', false)];

impl ConsentSigner {
    /// Generates a key; none if the system has no random numbers.
    pub(super) fn generate() -> Option<Self> {
        Key::generate(HMAC_SHA256, &SystemRandom::new()).ok().map(Self)
    }

    /// Returns the state that the client sends back with an answer about `subject`.
    fn sign(&self, subject: &str, asked: AskedQuestion) -> String {
        let mark = if asked.new { 'n' } else { 'k' };
        let head = format!("{mark}{:0TIME_DIGITS$x}", asked.at.as_millis());
        let tag = encode_hex(hmac::sign(&self.0, &signed_message(&head, subject)).as_ref());
        format!("{head}{tag}")
    }

    /// Verifies a state; none if it is not ours, or not about `subject`.
    fn verify(&self, state: &str, subject: &str) -> Option<AskedQuestion> {
        let (head, tag) = state.split_at_checked(1 + TIME_DIGITS)?;
        let (mark, at) = head.split_at_checked(1)?;
        let new = MARKS.iter().find(|(known, _)| mark.starts_with(*known))?.1;
        let at = Timestamp::from_millis(i64::from_str_radix(at, 16).ok()?);
        // Constant-time comparison of the signatures.
        hmac::verify(&self.0, &signed_message(head, subject), &decode_hex(tag.as_bytes())?).ok()?;
        Some(AskedQuestion { new, at })
    }
}

fn signed_message(head: &str, subject: &str) -> Vec<u8> {
    format!("recoup/consent/2 {head} {subject}").into_bytes()
}
