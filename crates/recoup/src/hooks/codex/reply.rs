//! What Codex reads from a hook: the same object as Claude Code, at fewer events. It is
//! strict about fields that an event does not have.

use crate::hooks::claude_code;
use crate::hooks::reply::Reply;

/// The events at which text for the agent arrives, as a `developer` message.
const TOLD: [&str; 5] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"];

/// A reply to the event of that name; none where there is nothing to say.
pub(in crate::hooks) fn render(
    event: &str,
    reply: &Reply,
    lost: impl FnMut(&str),
) -> Option<String> {
    let context = reply.context.clone().filter(|_| TOLD.contains(&event));
    claude_code::reply::render(event, &Reply { context, notice: reply.notice.clone() }, lost)
}
