//! The reply that Cursor reads from a hook: one flat JSON object. Nothing here ever allows, denies
//! or stops anything: `permission` would approve a call in the user's place.

use serde::Serialize;

use crate::hooks::reply::{Reply, units};

/// A longer text is dropped by Cursor.
const MOST_UNITS: usize = 10_000;

/// The events at which text for the agent arrives.
const TOLD: [&str; 4] = ["sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure"];

/// The events at which there is a field for the person.
const SHOWN: [&str; 3] = ["sessionStart", "beforeSubmitPrompt", "preCompact"];

#[derive(Serialize)]
struct CursorOutput<'a> {
    /// A prompt goes on: the one field that its answer has in every version.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<&'a str>,
}

/// A reply to the event of that name; none where there is nothing to say.
pub(in crate::hooks) fn render(
    event: &str,
    reply: &Reply,
    mut lost: impl FnMut(&str),
) -> Option<String> {
    let mut context = reply.context.as_deref().filter(|_| TOLD.contains(&event));
    if context.is_some_and(|text| units(text) > MOST_UNITS) {
        lost("there is no room for what the agent was to be told");
        context = None;
    }
    let notice = reply.notice.as_deref().filter(|_| SHOWN.contains(&event));
    let goes_on = (event == "beforeSubmitPrompt").then_some(true);
    let output = CursorOutput { goes_on, additional_context: context, user_message: notice };
    let says = context.is_some() || notice.is_some();
    says.then(|| serde_json::to_string(&output).expect("strings always serialize"))
}
