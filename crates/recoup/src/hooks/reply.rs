//! The reply to an event: context for the agent, a notice for the person. Rendered in each client's
//! own format, within the size that it accepts.
//!
//! Nothing here ever allows a call of the agent's: that would approve it in the user's place. Only a
//! replay is allowed, and only where the user has said so. A call is refused, or the person is asked,
//! only for a rule of the user's.

use recoup_core::base::text::shorten_text;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clients::{AnswerLayout, AnswerSpec};

/// Length limit of a notice, in characters.
const MAX_NOTICE_CHARS: usize = 200;
/// Shortest useful notice, in characters.
const MIN_NOTICE_CHARS: usize = 20;

/// Beyond this Claude Code gives the model the path of a file instead, and Cursor drops a text.
const MAX_UNITS: usize = 10_000;

/// Cursor's events whose reply may have a notice for the person.
const CURSOR_NOTICE_EVENTS: [&str; 3] = ["sessionStart", "beforeSubmitPrompt", "preCompact"];

/// Reply to an event; usually empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookReply {
    /// For the agent.
    pub(crate) context: Option<String>,
    /// For the person: one line.
    pub(crate) notice: Option<String>,
    /// Decision about the call that is about to start.
    pub(crate) decision: Option<CallDecision>,
    /// Call that takes the place of the one that is about to start.
    pub(crate) replacement: Option<ReplacedCall>,
}

/// A command in the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacedCall {
    /// Input of the tool, with the other command.
    pub(crate) input: Value,
    /// True if it may run without a question.
    pub(crate) allows: bool,
}

/// Decision about a call that would break a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallDecision {
    /// The person decides, for this reason.
    Ask(String),
    /// The call is refused; the agent gets this reason.
    Refuse(String),
}

impl HookReply {
    /// Appends text for the agent.
    pub(crate) fn add_context(&mut self, text: &str) {
        self.context.get_or_insert_default().push_str(text);
    }

    /// Appends a notice for the person, forced into one line.
    pub(crate) fn add_notice(&mut self, text: &str) {
        let line = recoup_core::memory::lang::one_line(text).replace("&lt;", "<");
        let line = shorten_text(&line, MAX_NOTICE_CHARS);
        match &mut self.notice {
            None => self.notice = Some(format!("recoup: {line}")),
            Some(notice) => {
                notice.push_str("; ");
                notice.push_str(&line);
            }
        }
    }

    /// True if there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        self.context.is_none()
            && self.notice.is_none()
            && self.decision.is_none()
            && self.replacement.is_none()
    }
}

/// True if the client shows a notice at this event.
pub(super) fn shows_notice(layout: AnswerLayout, event: &str) -> bool {
    match layout {
        AnswerLayout::Nested | AnswerLayout::Extension => true,
        AnswerLayout::Flat | AnswerLayout::Text => false,
        AnswerLayout::Cursor => CURSOR_NOTICE_EVENTS.contains(&event),
    }
}

/// Renders the reply to an event in the client's own format; none if there is nothing to say.
/// Context for the agent takes precedence. Dropped parts are named to `lost`.
pub(super) fn render(
    answer: &AnswerSpec,
    event: &str,
    reply: &HookReply,
    mut lost: impl FnMut(&str),
) -> Option<String> {
    if let Some(decision) = &reply.decision {
        return Some(write_decision(answer.layout, event, decision));
    }
    let replacement = reply.replacement.as_ref();
    let form = AnswerForm { layout: answer.layout, event, replacement };
    let mut context = reply.context.as_deref().filter(|_| answer.takes_context_at(event));
    if context.is_some_and(|text| form.excess_units(&form.write(Some(text), None)) > 0) {
        lost("the context for the agent is too long, and was dropped");
        context = None;
    }
    let notice = reply.notice.as_deref().filter(|_| shows_notice(answer.layout, event));
    let told = notice.and_then(|notice| form.write_with_notice(context, notice));
    if told.is_none() && notice.is_some() {
        lost("the notice for the user is too long, and was dropped");
    }
    if told.is_some() || context.is_none() && replacement.is_none() {
        return told;
    }
    Some(form.write(context, None))
}

/// Writes a decision; its reason says everything that there is to say.
fn write_decision(layout: AnswerLayout, event: &str, decision: &CallDecision) -> String {
    let (word, reason) = match decision {
        CallDecision::Ask(reason) => ("ask", reason),
        CallDecision::Refuse(reason) => ("deny", reason),
    };
    match layout {
        AnswerLayout::Cursor => to_json(&json!({
            "permission": word, "user_message": reason, "agent_message": reason,
        })),
        AnswerLayout::Extension => to_json(&json!({ "decision": word, "reason": reason })),
        AnswerLayout::Nested | AnswerLayout::Flat | AnswerLayout::Text => to_json(&json!({
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": word,
                "permissionDecisionReason": reason,
            },
        })),
    }
}

/// Form of the answer to one event.
#[derive(Clone, Copy)]
struct AnswerForm<'a> {
    layout: AnswerLayout,
    event: &'a str,
    replacement: Option<&'a ReplacedCall>,
}

impl AnswerForm<'_> {
    fn write(self, context: Option<&str>, notice: Option<&str>) -> String {
        match self.layout {
            AnswerLayout::Nested => {
                let is_given = context.is_some() || self.replacement.is_some();
                let specific = || HookSpecificOutput {
                    hook_event_name: self.event,
                    additional_context: context,
                    updated_input: self.replacement.map(|it| &it.input),
                    permission_decision: self.replacement.filter(|it| it.allows).map(|_| "allow"),
                };
                to_json(&NestedOutput {
                    hook_specific_output: is_given.then(specific),
                    system_message: notice,
                })
            }
            AnswerLayout::Flat => to_json(&FlatOutput { additional_context: context }),
            AnswerLayout::Text => context.unwrap_or_default().to_owned(),
            AnswerLayout::Cursor => to_json(&CursorOutput {
                goes_on: (self.event == "beforeSubmitPrompt").then_some(true),
                additional_context: context,
                user_message: notice,
            }),
            AnswerLayout::Extension => {
                let input = self.replacement.map(|it| &it.input);
                to_json(&ExtensionOutput { context, notice, input })
            }
        }
    }

    /// Writes context and notice, with the notice, which is shown only once, cut to the remaining
    /// room.
    fn write_with_notice(self, context: Option<&str>, notice: &str) -> Option<String> {
        let whole = self.write(context, Some(notice));
        let over = self.excess_units(&whole);
        if over == 0 {
            return Some(whole);
        }
        // A character is at least one unit, and the ellipsis one more.
        let chars = notice.chars().count().checked_sub(over + 1)?;
        (chars >= MIN_NOTICE_CHARS).then(|| self.write(context, Some(&shorten_text(notice, chars))))
    }

    /// Number of units beyond the limit.
    fn excess_units(self, text: &str) -> usize {
        match self.layout {
            AnswerLayout::Extension => 0,
            _ => utf16_len(text).saturating_sub(MAX_UNITS),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NestedOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookSpecificOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlatOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

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

#[derive(Serialize)]
struct ExtensionOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a Value>,
}

fn to_json(output: &impl Serialize) -> String {
    serde_json::to_string(output).expect("strings always serialize")
}

/// Length of a text in UTF-16 units, as clients count it.
pub(super) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::hooks_of;
    use recoup_core::memory::HookClient;

    fn rendered(context: usize, notice: &str) -> (Option<String>, Vec<String>) {
        let context = (context > 0).then(|| "x".repeat(context));
        let reply = HookReply { context, notice: Some(notice.to_owned()), ..HookReply::default() };
        let mut lost = Vec::new();
        let answer = &hooks_of(HookClient::ClaudeCode).answer;
        let told = render(answer, "SessionStart", &reply, |what| lost.push(what.to_owned()));
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
        assert_eq!(lost, ["the notice for the user is too long, and was dropped"]);
        let (told, lost) = rendered(10_000, "recoup: learned: use tabs");
        assert!(!told.as_deref().unwrap().contains("additionalContext"));
        assert!(told.unwrap().contains("use tabs"));
        assert_eq!(lost, ["the context for the agent is too long, and was dropped"]);
    }
}
