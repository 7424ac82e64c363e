//! `delete_memory`: an agent takes back what it wrote down, and lets what the user said
//! count no longer. Only the user removes their own words for good.

use recoup_core::memory::inject::one_line;
use recoup_core::memory::{Forgotten, NoteId, Trust};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::{closed, flag, list, open, text};
use super::{Agreed, Answer, Load, Nature, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "delete_memory",
    title: "Forget a memory",
    description: "Forget a memory by its id (search_memory and load_rules tell it), when the user \
        asks for that. What an agent stored is removed for good. What the user said counts no longer, \
        and is removed for good once they confirm.",
    input,
    output,
    nature: Nature::Removes,
    load: Load::WhenFound,
    run,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
}

fn input() -> Value {
    closed(&[("id", text("The memory's id"))], &["id"])
}

fn output() -> Value {
    open(
        &[
            ("id", text("The memory's id")),
            ("removed", flag("Whether it is gone for good; otherwise it only counts no longer")),
            ("unreached", list(&text("A file"), "What may still have it")),
        ],
        &["id", "removed", "unreached"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Answer> {
    let Arguments { id } = arguments::read(arguments)?;
    let id = NoteId::parse(&id)?;
    let absent = || Error::usage(format!("there is no memory {id}; search_memory tells ids"));
    let note = around.memory().note(&id)?.ok_or_else(absent)?;
    if note.trust() < Trust::Agreed {
        return forget(around, &id);
    }
    around.memory().retire(&id)?;
    around.changed(&note.scope);
    let text = format!(
        "It counts no longer. The user said it, so it is not removed: `recoup memory forget {id}` \
         does that, and `recoup memory restore {id}` brings it back."
    );
    let data = json!({ "id": id.as_str(), "removed": false, "unreached": [] });
    let question =
        format!("This rule counts no longer. Remove it for good?\n\n{}", one_line(&note.text));
    Ok(Answer::new(text, data).asking(question, Agreed::Forget(id)))
}

/// Removes it for good.
pub(in crate::mcp) fn forget(around: &dyn Surroundings, id: &NoteId) -> Result<Answer> {
    let Forgotten { unreached, .. } = around.forget(id)?;
    let places: Vec<String> = unreached.iter().map(|path| path.display().to_string()).collect();
    let mut lines = vec!["It is removed for good.".to_owned()];
    lines.extend(
        places.iter().map(|place| format!("This may still have it, tell the user: {place}")),
    );
    Ok(Answer::new(
        lines.join("\n"),
        json!({ "id": id.as_str(), "removed": true, "unreached": places }),
    ))
}
