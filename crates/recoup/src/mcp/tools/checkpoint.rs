//! `save_checkpoint` and `load_checkpoint`: the state of work, for the next conversation.

use recoup_core::memory::lang::one_line;
use recoup_core::memory::{CheckpointOutcome, WorkCheckpoint};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::arguments::OneOrMany;
use super::schema::{closed, flag, list, maybe_text, message, open, project, text, texts_of};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments};
use crate::mcp::McpServices;

/// Limit of all texts together, in characters.
const MOST: usize = 20_000;
/// Limit of one item: the same.
const LONGEST: u64 = 20_000;

pub(super) const SAVE: ToolSpec = ToolSpec {
    name: "save_checkpoint",
    title: "Save where the work stands",
    description: "Save where the work in this project stands, replacing the last checkpoint. Use \
                  it when work remains unfinished, and before a conversation ends or is compacted.",
    input: || {
        closed(
            &[
                ("completed", texts_of(LONGEST, "Done")),
                ("remaining", texts_of(LONGEST, "Next step first")),
                ("blockers", texts_of(LONGEST, "Blocked by")),
                ("notes", text("What else to know")),
                ("projectId", project()),
            ],
            &[],
        )
    },
    output: || {
        open(
            &[
                ("saved", flag("Whether it is saved")),
                ("left_out", list(&text("Which, and why"), "Parts that were not saved")),
                message(),
            ],
            &["saved", "left_out", "message"],
        )
    },
    nature: ToolEffect::Replaces,
    load: ToolVisibility::WhenFound,
    run: save,
};

pub(super) const LOAD: ToolSpec = ToolSpec {
    name: "load_checkpoint",
    title: "Load where the work stood",
    description: "Load the last checkpoint of save_checkpoint, to continue earlier work.",
    input: || closed(&[("projectId", project())], &[]),
    output: || {
        let items = |what| list(&text("An item"), what);
        let checkpoint = json!({
            "anyOf": [{ "type": "null" }, open(
                &[
                    ("completed", items("What is done")),
                    ("remaining", items("What remains")),
                    ("blockers", items("What blocks the work")),
                    ("notes", maybe_text("Further notes")),
                    ("saved_at", text("When it was saved")),
                ],
                &["completed", "remaining", "blockers", "notes", "saved_at"],
            )],
        });
        open(&[("checkpoint", checkpoint), message()], &["checkpoint", "message"])
    },
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
    run: load,
};

#[derive(Deserialize)]
struct SaveCheckpointArguments {
    #[serde(default)]
    completed: OneOrMany,
    #[serde(default)]
    remaining: OneOrMany,
    #[serde(default)]
    blockers: OneOrMany,
    notes: Option<String>,
    #[serde(rename = "projectId")]
    project: Option<String>,
}

#[derive(Deserialize)]
struct LoadCheckpointArguments {
    #[serde(rename = "projectId")]
    project: Option<String>,
}

fn save(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let SaveCheckpointArguments { completed, remaining, blockers, notes, project } =
        arguments::read(arguments)?;
    let scope = arguments::requested_scope(services, project.as_deref())?;
    let checkpoint = WorkCheckpoint {
        completed: completed.into_vec(),
        remaining: remaining.into_vec(),
        blockers: blockers.into_vec(),
        notes,
    };
    let WorkCheckpoint { completed, remaining, blockers, notes } = &checkpoint;
    let texts = completed.iter().chain(remaining).chain(blockers).chain(notes);
    let length: usize = texts.map(|text| text.chars().count()).sum();
    if length > MOST {
        return Err(Error::usage(format!(
            "a checkpoint may have at most {MOST} characters, and this has {length}: shorten it"
        )));
    }
    services.app.prepare_memory()?;
    // If the current project is excluded from memory, checkpoints for others are not saved either.
    let saved = match services.memory.pause_reason(&arguments::current_scope(services))? {
        Some(silence) => CheckpointOutcome::Silent(silence),
        None => services.memory.save_checkpoint(&scope, &checkpoint)?,
    };
    Ok(save_answer(&saved).into())
}

fn save_answer(saved: &CheckpointOutcome) -> ToolAnswer {
    let (text, left_out) = match saved {
        CheckpointOutcome::Silent(silence) => (format!("Not saved: {silence}."), Vec::new()),
        CheckpointOutcome::Done => {
            let said = "Nothing remains, so nothing is saved, and the last checkpoint is removed.";
            (said.to_owned(), Vec::new())
        }
        CheckpointOutcome::Without(left_out) => {
            let left_out: Vec<String> = left_out.iter().map(ToString::to_string).collect();
            let said = "Saved. load_checkpoint returns it in the next conversation.".to_owned();
            let lines = left_out.iter().map(|it| format!("Left out: {it}"));
            let lines: Vec<String> = std::iter::once(said).chain(lines).collect();
            (lines.join("\n"), left_out)
        }
    };
    let saved = matches!(saved, CheckpointOutcome::Without(_));
    let data = json!({ "saved": saved, "left_out": left_out });
    ToolAnswer::with_message(&text, text.as_str(), data)
}

fn load(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let LoadCheckpointArguments { project } = arguments::read(arguments)?;
    let scope = arguments::requested_scope(services, project.as_deref())?;
    let found = services.memory.load_checkpoint(&scope, &services.session)?;
    let Some((checkpoint, at)) = found else {
        let none = "No checkpoint for this project: none was saved, or three sessions have already \
                    loaded it.";
        return Ok(ToolAnswer::with_message(none, none, json!({ "checkpoint": null })).into());
    };
    let text = checkpoint_text(&checkpoint, &at.to_string());
    let WorkCheckpoint { completed, remaining, blockers, notes } = checkpoint;
    let data = json!({
        "completed": completed, "remaining": remaining, "blockers": blockers, "notes": notes,
        "saved_at": at.to_string(),
    });
    Ok(ToolAnswer::with_message(&opening(&at.to_string()), text, json!({ "checkpoint": data }))
        .into())
}

/// Introduction: a report of another agent, not an order.
fn opening(at: &str) -> String {
    format!("Where the work stood, as an agent wrote it down at {at}:")
}

/// Formats a checkpoint for an agent.
pub(in crate::mcp) fn checkpoint_text(checkpoint: &WorkCheckpoint, at: &str) -> String {
    let WorkCheckpoint { completed, remaining, blockers, notes } = checkpoint;
    let mut lines = vec![opening(at)];
    let notes: Vec<String> = notes.iter().cloned().collect();
    let parts =
        [("Done", completed), ("Remains", remaining), ("Blocked by", blockers), ("Notes", &notes)];
    for (title, items) in parts.into_iter().filter(|(_, items)| !items.is_empty()) {
        lines.push(format!("{title}:"));
        lines.extend(items.iter().map(|item| format!("- {}", one_line(item))));
    }
    lines.join("\n")
}
