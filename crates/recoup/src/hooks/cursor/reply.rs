//! Renders replies for Cursor: one flat JSON object. Nothing here ever allows, denies or stops
//! anything: `permission` would approve a call in the user's place.

use serde::Serialize;

use crate::hooks::reply::{HookReply, utf16_len};

/// Cursor drops a longer text.
const MAX_UNITS: usize = 10_000;

/// Events whose reply may have context for the agent.
const CONTEXT_EVENTS: [&str; 4] =
    ["sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure"];

/// Events whose reply may have a notice for the person.
const NOTICE_EVENTS: [&str; 3] = ["sessionStart", "beforeSubmitPrompt", "preCompact"];

#[derive(Serialize)]
struct CursorOutput<'a> {
    /// Lets a prompt pass: the one field that its reply has in every version.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<&'a str>,
}

/// Renders the reply to an event; none if there is nothing to say.
pub(in crate::hooks) fn render(
    event: &str,
    reply: &HookReply,
    mut lost: impl FnMut(&str),
) -> Option<String> {
    let mut context = reply.context.as_deref().filter(|_| CONTEXT_EVENTS.contains(&event));
    if context.is_some_and(|text| utf16_len(text) > MAX_UNITS) {
        lost("there is no room for what the agent was to be told");
        context = None;
    }
    let notice = reply.notice.as_deref().filter(|_| NOTICE_EVENTS.contains(&event));
    let goes_on = (event == "beforeSubmitPrompt").then_some(true);
    let output = CursorOutput { goes_on, additional_context: context, user_message: notice };
    let says = context.is_some() || notice.is_some();
    says.then(|| serde_json::to_string(&output).expect("strings always serialize"))
}
