//! What Claude Code reads from a hook: one JSON object, of a size that it takes whole.

use serde::Serialize;

use crate::hooks::reply::{Reply, units};

/// One more, and the model gets the path of a file instead.
const MOST_UNITS: usize = 10_000;

/// The events at which text for the agent arrives, and does no more than that: at `Stop`
/// and `SubagentStop` the agent would go on.
const TOLD: [&str; 7] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStart",
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// A reply to the event of that name; none where there is nothing to say. What the agent
/// needs goes before what the person would like to know.
pub(in crate::hooks) fn render(event: &str, reply: &Reply) -> Option<String> {
    let context = reply.context.as_deref().filter(|_| TOLD.contains(&event));
    let notice = reply.notice.as_deref();
    [(context, notice), (context, None), (None, notice)]
        .into_iter()
        .filter(|(context, notice)| context.is_some() || notice.is_some())
        .map(|(context, notice)| json(event, context, notice))
        .find(|json| units(json) <= MOST_UNITS)
}

fn json(event: &str, context: Option<&str>, notice: Option<&str>) -> String {
    let specific = |text| Specific { hook_event_name: event, additional_context: text };
    let output = Output { hook_specific_output: context.map(specific), system_message: notice };
    serde_json::to_string(&output).expect("strings always serialize")
}
