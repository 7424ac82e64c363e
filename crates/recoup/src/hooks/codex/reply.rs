//! Renders replies for Codex: the same object as Claude Code's, at fewer events. Codex rejects
//! fields that an event does not have.

use crate::hooks::claude_code;
use crate::hooks::reply::HookReply;

/// Events whose reply may have context for the agent, which arrives as a `developer` message.
const CONTEXT_EVENTS: [&str; 5] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"];

/// Renders the reply to an event; none if there is nothing to say.
pub(in crate::hooks) fn render(
    event: &str,
    reply: &HookReply,
    lost: impl FnMut(&str),
) -> Option<String> {
    let context = reply.context.clone().filter(|_| CONTEXT_EVENTS.contains(&event));
    claude_code::reply::render(event, &HookReply { context, notice: reply.notice.clone() }, lost)
}
