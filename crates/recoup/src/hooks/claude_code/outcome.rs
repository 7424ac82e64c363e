//! Outcome of a call in Claude Code's transcript: a `tool_result`, and the client's own data beside
//! it. A tool can print anything into its result, so a denial by the user is believed only if the
//! client's data does not contradict it.

use recoup_core::memory::transcript::{Ended, EntryKind, Outcome};
use serde_json::value::RawValue;

use super::transcript::Line;
use crate::hooks::wire::{self, Block, Text, tagged};

pub(super) const DENIED: &str = "The user doesn't want to proceed with this tool use";
/// Beginning of a result if the client refused the call.
pub(super) const REFUSED: &str = "<tool_use_error>";
const NOT_NOW: &str = "The user doesn't want to take this action right now";
const REJECTED: &str = "User rejected tool use";
/// Beginning of a message after a person interrupted the agent.
pub(super) const INTERRUPTED: &str = "[Request interrupted by user";

/// Parses the outcome in a block.
pub(super) fn of(block: &Block<'_>, line: &Line<'_>) -> Option<EntryKind> {
    if block.kind != "tool_result" {
        return None;
    }
    let text = block.content.map(wire::text_of).unwrap_or_default();
    let ended = ended(&text, block.is_error == Some(true), line);
    let output = match ended {
        Ended::Failed { exit: Some(_) } => text.split_once('\n').map_or("", |(_, output)| output),
        Ended::Refused => tagged(&text, "tool_use_error").unwrap_or(&text),
        _ => &text,
    };
    Some(EntryKind::Outcome(Outcome::new(block.tool_use_id.as_deref()?, ended, output)))
}

fn ended(text: &str, is_error: bool, line: &Line<'_>) -> Ended {
    if is_interrupted(line) || (is_error && text.starts_with(INTERRUPTED)) {
        return Ended::Interrupted;
    }
    match decision(line) {
        Some(Decision::Person) => return Ended::Denied,
        Some(Decision::Rule) => return Ended::Refused,
        None => {}
    }
    if !is_error {
        return Ended::Succeeded;
    }
    if text.starts_with(REFUSED) || is_not_permitted(text) {
        return Ended::Refused;
    }
    if is_denied(text, line) { Ended::Denied } else { Ended::Failed { exit: exit_code(text) } }
}

enum Decision {
    Person,
    Rule,
}

/// Returns who denied the call before it began: a person or a rule.
fn decision(line: &Line<'_>) -> Option<Decision> {
    let decision = line.permission_decision?;
    let says_no =
        wire::field(decision, "decision").is_some_and(|it| it == "reject" || it == "deny");
    let source = wire::field(decision, "source").unwrap_or_default();
    says_no.then_some(if source.starts_with("user") { Decision::Person } else { Decision::Rule })
}

fn is_denied(text: &str, line: &Line<'_>) -> bool {
    let says_so = text.starts_with(DENIED) || text.starts_with(NOT_NOW);
    // An error that a tool returned has `Error: …` there.
    says_so && client_text(line).is_none_or(|text| text == REJECTED)
}

fn is_not_permitted(text: &str) -> bool {
    text.starts_with("Claude requested permissions") || text.starts_with("Permission to use ")
}

fn client_text(line: &Line<'_>) -> Option<String> {
    let Text(text) = serde_json::from_str(line.tool_use_result?.get()).ok()?;
    Some(text.into_owned())
}

fn is_interrupted(line: &Line<'_>) -> bool {
    let flag = |result: &RawValue| {
        #[derive(serde::Deserialize)]
        struct Flag {
            #[serde(default)]
            interrupted: bool,
        }
        serde_json::from_str::<Flag>(result.get()).is_ok_and(|flag| flag.interrupted)
    };
    line.tool_use_result.is_some_and(flag)
}

/// Parses `Exit code 2` on the first line.
pub(super) fn exit_code(text: &str) -> Option<i32> {
    let first = text.lines().next()?;
    first.strip_prefix("Exit code ")?.trim().parse().ok()
}
