//! `delete_memory`: an agent removes its own notes. Rules, whoever stated them, and notes of other
//! projects are removed only with the user's consent.

use recoup_core::memory::inject::one_line;
use recoup_core::memory::{Forgotten, Note, NoteId, NoteScope, Status, Trust};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{Deed, Proposal, Question};
use super::schema::{closed, flag, list, message, open, project, text};
use super::{Answer, Load, Nature, Outcome, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "delete_memory",
    title: "Forget a memory",
    description: "Forget a memory by its id, when the user asks for that. A rule stays unless the \
        user confirms; tell the user what the answer says.",
    input,
    output,
    nature: Nature::Removes,
    load: Load::WhenFound,
    run,
};

#[derive(Deserialize)]
struct Arguments {
    id: String,
    #[serde(rename = "projectId")]
    project: Option<String>,
}

fn input() -> Value {
    closed(&[("id", text("From search_memory or load_rules")), ("projectId", project())], &["id"])
}

fn output() -> Value {
    open(
        &[
            ("id", text("From search_memory or load_rules")),
            ("removed", flag("Whether it is gone for good; otherwise nothing has changed")),
            ("unreached", list(&text("A file"), "What may still have it")),
            message(),
        ],
        &["id", "removed", "unreached", "message"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
    let Arguments { id, project } = arguments::read(arguments)?;
    let (id, scope) = (arguments::id(&id)?, arguments::scope(around, project.as_deref())?);
    let holds_there = |note: &Note| note.scope == NoteScope::Universal || note.scope == scope;
    let note = around.memory().note(&id)?.filter(holds_there).ok_or_else(|| absent(&id))?;
    if is_an_agents(around, &note) {
        return forget(around, &id).map(Outcome::Done);
    }
    Ok(Outcome::Asks(Box::new(Proposal {
        question: question(around, &note),
        unasked: unchanged(
            &note,
            &format!(
                "Nothing has changed: {}, and only the user can take it back. Tell them that `recoup \
             memory retire {id}` lets it count no longer, and `recoup memory forget {id}` removes \
             it for good.",
                whose(&note),
            ),
        ),
        new: false,
        just_said: false,
        deed: Deed::Forget(note),
    })))
}

fn absent(id: &NoteId) -> Error {
    Error::usage(format!("there is no memory {id} in this project; search_memory tells ids"))
}

/// True for an unconfirmed note by an agent of this project.
fn is_an_agents(around: &dyn Surroundings, note: &Note) -> bool {
    let is_near = note.scope == NoteScope::Universal || note.scope == arguments::here(around);
    is_near && note.trust() < Trust::Agreed && note.status != Status::Active
}

fn whose(note: &Note) -> &'static str {
    match (note.trust(), note.status) {
        (Trust::Stated, _) => "the user said it",
        (Trust::Agreed, _) => "it is a rule of the team that the user has accepted",
        (Trust::Recorded, Status::Active) => {
            "it counts as the user's rule, which an agent recorded"
        }
        (_, Status::Active) => "it counts as a rule, learned from earlier work",
        _ => "it is another project's",
    }
}

fn question(around: &dyn Surroundings, note: &Note) -> Question {
    let place = match &note.scope {
        NoteScope::Universal => "all your projects".to_owned(),
        NoteScope::Project(id) => format!("the project {}", around.name_of(id)),
    };
    let what = match (note.trust(), note.status) {
        (Trust::Stated, _) => "this rule of yours",
        (Trust::Agreed, _) => "this rule of the team",
        (Trust::Recorded, Status::Active) => "this rule of yours, which an agent recorded,",
        (_, Status::Active) => "this rule, learned from earlier work,",
        _ => "this note of an agent's",
    };
    let text = format!("Remove {what} for good, for {place}?\n\n{}", one_line(&note.text));
    Question { text, tick: "Remove it for good" }
}

/// Removes the note after consent, if it is still as shown.
pub(super) fn agreed(around: &dyn Surroundings, shown: &Note) -> Result<Answer> {
    match around.memory().note(&shown.id)? {
        Some(note) if note.text == shown.text => forget(around, &note.id),
        _ => Err(Error::usage(format!("{} has changed meanwhile: look at it again", shown.id))),
    }
}

/// Answer after the user declined.
pub(super) fn declined(note: &Note) -> Answer {
    unchanged(note, "The user said no: nothing has changed, and it still counts.")
}

fn unchanged(note: &Note, text: &str) -> Answer {
    let data = json!({ "id": note.id.as_str(), "removed": false, "unreached": [] });
    Answer::saying(text, text, data)
}

/// Removes a note for good.
fn forget(around: &dyn Surroundings, id: &NoteId) -> Result<Answer> {
    let Forgotten { unreached, .. } = around.forget(id)?;
    let places: Vec<String> = unreached.iter().map(|path| path.display().to_string()).collect();
    let mut lines = vec!["It is removed for good.".to_owned()];
    lines.extend(
        places.iter().map(|place| format!("This may still have it, tell the user: {place}")),
    );
    let data = json!({ "id": id.as_str(), "removed": true, "unreached": places });
    let message = lines.join("\n");
    Ok(Answer::saying(&message, message.as_str(), data))
}
