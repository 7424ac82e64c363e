//! Renders replies for Claude Code: one JSON object, within the size that it accepts.

use recoup_core::base::text::shorten_text;
use serde::Serialize;

use crate::hooks::reply::{HookReply, utf16_len};

/// Beyond this the model gets the path of a file instead.
const MAX_UNITS: usize = 10_000;
/// Shortest useful notice, in characters.
const MIN_NOTICE_CHARS: usize = 20;

/// Events whose reply may have context for the agent. At `Stop` and `SubagentStop` it would make
/// the agent go on.
const CONTEXT_EVENTS: [&str; 7] = [
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
struct ClaudeOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookSpecificOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// Renders the reply to an event; none if there is nothing to say. Context for the agent takes
/// precedence; the notice, which is shown only once, is cut to the remaining room. Dropped parts
/// are named to `lost`.
pub(in crate::hooks) fn render(
    event: &str,
    reply: &HookReply,
    mut lost: impl FnMut(&str),
) -> Option<String> {
    let mut context = reply.context.as_deref().filter(|_| CONTEXT_EVENTS.contains(&event));
    if context.is_some_and(|text| utf16_len(&json(event, Some(text), None)) > MAX_UNITS) {
        lost("there is no room for what the agent was to be told");
        context = None;
    }
    let notice = reply.notice.as_deref();
    let told = notice.and_then(|notice| with_notice(event, context, notice));
    if told.is_none() && notice.is_some() {
        lost("there is no room for what the person was to be told");
    }
    told.or_else(|| Some(json(event, Some(context?), None)))
}

/// Renders context and notice, with the notice cut to the remaining room.
fn with_notice(event: &str, context: Option<&str>, notice: &str) -> Option<String> {
    let whole = json(event, context, Some(notice));
    let over = utf16_len(&whole).saturating_sub(MAX_UNITS);
    if over == 0 {
        return Some(whole);
    }
    // A character is at least one unit, and the ellipsis one more.
    let chars =
        notice.chars().count().checked_sub(over + 1).filter(|chars| *chars >= MIN_NOTICE_CHARS)?;
    Some(json(event, context, Some(&shorten_text(notice, chars))))
}

fn json(event: &str, context: Option<&str>, notice: Option<&str>) -> String {
    let specific = |text| HookSpecificOutput { hook_event_name: event, additional_context: text };
    let output =
        ClaudeOutput { hook_specific_output: context.map(specific), system_message: notice };
    serde_json::to_string(&output).expect("strings always serialize")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(context: usize, notice: &str) -> (Option<String>, Vec<String>) {
        let context = (context > 0).then(|| "x".repeat(context));
        let reply = HookReply { context, notice: Some(notice.to_owned()) };
        let mut lost = Vec::new();
        let told = render("SessionStart", &reply, |what| lost.push(what.to_owned()));
        assert!(told.as_deref().is_none_or(|told| utf16_len(told) <= MAX_UNITS));
        (told, lost)
    }

    #[test]
    fn a_notice_is_cut_before_it_is_dropped() {
        let notice = format!("recoup: learned: {}", "use \"tabs\" ".repeat(80));
        for context in [0, 100, 9_200, 9_500, 9_700] {
            let (told, lost) = rendered(context, &notice);
            let told = told.unwrap();
            assert!(told.contains("\"systemMessage\":\"recoup: learned: use"), "{told}");
            assert_eq!(told.contains('…'), context > 9_000, "{context}");
            assert_eq!(lost, [""; 0]);
        }
    }

    #[test]
    fn what_has_no_room_is_named() {
        let (told, lost) = rendered(9_900, "recoup: learned: use tabs");
        assert!(told.unwrap().contains("additionalContext"));
        assert_eq!(lost, ["there is no room for what the person was to be told"]);
        let (told, lost) = rendered(10_000, "recoup: learned: use tabs");
        assert!(!told.as_deref().unwrap().contains("additionalContext"));
        assert!(told.unwrap().contains("use tabs"));
        assert_eq!(lost, ["there is no room for what the agent was to be told"]);
    }
}
