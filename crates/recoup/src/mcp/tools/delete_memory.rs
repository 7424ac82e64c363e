//! `delete_memory`: an agent removes its own notes. Rules, whoever stated them, and notes of other
//! projects are removed only with the user's consent.

use recoup_core::memory::lang::one_line;
use recoup_core::memory::{ForgetReport, Note, NoteId, NoteScope, NoteStatus, NoteTrust};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::schema::{closed, flag, list, message, open, project, text};
use super::{ConsentProposal, ConsentQuestion, ProposedAction};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments};
use crate::mcp::McpServices;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "delete_memory",
    title: "Forget a memory",
    description: "Forget a memory by its id, when the user asks for that. A rule stays unless the \
        user confirms; tell the user what the answer says.",
    input: || {
        closed(
            &[("id", text("From search_memory or load_rules")), ("projectId", project())],
            &["id"],
        )
    },
    output: || {
        open(
            &[
                ("id", text("From search_memory or load_rules")),
                ("removed", flag("Whether it was removed for good; otherwise nothing has changed")),
                ("unreached", list(&text("A file"), "Files that may still contain it")),
                message(),
            ],
            &["id", "removed", "unreached", "message"],
        )
    },
    nature: ToolEffect::Removes,
    load: ToolVisibility::WhenFound,
    run,
};

#[derive(Deserialize)]
struct DeleteMemoryArguments {
    id: String,
    #[serde(rename = "projectId")]
    project: Option<String>,
}

fn run(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let DeleteMemoryArguments { id, project } = arguments::read(arguments)?;
    let (id, scope) =
        (arguments::parse_note_id(&id)?, arguments::requested_scope(services, project.as_deref())?);
    let holds_there = |note: &Note| note.scope == NoteScope::Universal || note.scope == scope;
    let note = services.memory.note(&id)?.filter(holds_there).ok_or_else(|| {
        Error::usage(format!("no memory {id} in this project; search_memory returns ids"))
    })?;
    let is_near =
        note.scope == NoteScope::Universal || note.scope == arguments::current_scope(services);
    // Agents remove unconfirmed notes by agents of this project.
    if is_near && note.trust() < NoteTrust::Agreed && note.status != NoteStatus::Active {
        return forget(services, &id).map(ToolOutcome::Done);
    }
    let whose = match (note.trust(), note.status) {
        (NoteTrust::Stated, _) => "the user said it",
        (NoteTrust::Agreed, _) => "it is a team rule that the user has accepted",
        (NoteTrust::Recorded, NoteStatus::Active) => {
            "it is a rule of the user, recorded by an agent"
        }
        (_, NoteStatus::Active) => "it is a rule learned from earlier work",
        _ => "it belongs to another project",
    };
    Ok(ToolOutcome::Asks(Box::new(ConsentProposal {
        question: question(services, &note),
        unasked: unchanged(
            &note,
            &format!(
                "Nothing has changed: {whose}, and only the user can remove it. Tell them that \
                 `recoup memory retire {id}` disables it, and `recoup memory forget {id}` removes \
                 it for good."
            ),
        ),
        new: false,
        just_said: false,
        deed: ProposedAction::Forget(note),
    })))
}

fn question(services: &McpServices, note: &Note) -> ConsentQuestion {
    let place = match &note.scope {
        NoteScope::Universal => "all your projects".to_owned(),
        NoteScope::Project(id) => format!("the project {}", services.app.project_name(id)),
    };
    let what = match (note.trust(), note.status) {
        (NoteTrust::Stated, _) => "your rule",
        (NoteTrust::Agreed, _) => "this team rule",
        (NoteTrust::Recorded, NoteStatus::Active) => "your rule, recorded by an agent,",
        (_, NoteStatus::Active) => "this rule, learned from earlier work,",
        _ => "this note by an agent",
    };
    let text = format!("Remove {what} for good, for {place}?\n\n{}", one_line(&note.text));
    ConsentQuestion { text, tick: "Remove it for good" }
}

/// Removes the note after consent, if it is still as shown.
pub(super) fn delete_agreed(services: &McpServices, shown: &Note) -> Result<ToolAnswer> {
    match services.memory.note(&shown.id)? {
        Some(note) if note.text == shown.text => forget(services, &note.id),
        _ => Err(Error::usage(format!("{} has changed meanwhile: look at it again", shown.id))),
    }
}

/// Answer after the user declined.
pub(super) fn declined_answer(note: &Note) -> ToolAnswer {
    unchanged(note, "The user said no: nothing has changed, and it stays active.")
}

fn unchanged(note: &Note, text: &str) -> ToolAnswer {
    let data = json!({ "id": note.id.as_str(), "removed": false, "unreached": [] });
    ToolAnswer::with_message(text, text, data)
}

/// Removes a note for good.
fn forget(services: &McpServices, id: &NoteId) -> Result<ToolAnswer> {
    let ForgetReport { unreached, .. } = services.app.forget(std::slice::from_ref(id))?;
    let places: Vec<String> = unreached.iter().map(|path| path.display().to_string()).collect();
    let mut lines = vec!["It is removed for good.".to_owned()];
    lines.extend(
        places.iter().map(|place| format!("Tell the user that this may still contain it: {place}")),
    );
    let data = json!({ "id": id.as_str(), "removed": true, "unreached": places });
    let message = lines.join("\n");
    Ok(ToolAnswer::with_message(&message, message.as_str(), data))
}
