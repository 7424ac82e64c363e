//! Renders replies for our Pi extension: `{"context": …, "notice": …}`, both optional.

use serde::Serialize;

use crate::hooks::reply::HookReply;

#[derive(Serialize)]
struct PiOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'a str>,
}

/// Events at which the extension can pass context to the agent.
const CONTEXT_EVENTS: [&str; 2] = ["before_agent_start", "tool_result"];

/// Renders the reply to an event; none if there is nothing to say.
pub(in crate::hooks) fn render(event: &str, reply: &HookReply) -> Option<String> {
    let context = reply.context.as_deref().filter(|_| CONTEXT_EVENTS.contains(&event));
    let output = PiOutput { context, notice: reply.notice.as_deref() };
    let says = output.context.is_some() || output.notice.is_some();
    says.then(|| serde_json::to_string(&output).expect("strings always serialize"))
}
