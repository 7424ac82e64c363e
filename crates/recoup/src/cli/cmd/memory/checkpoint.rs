//! `recoup memory checkpoint`: where work in this project stands, as an agent saved it.

use clap::{Args, ValueEnum};
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::WorkCheckpoint;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Show or clear the checkpoint of the work in this project; exit 1 if none is saved.
///
/// An agent saves it when work stays unfinished, and the next sessions get it: until one has
/// nothing left to do, but for at most a week or three sessions.
#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// Show the checkpoint, or clear it
    #[arg(
        value_name = "show|clear",
        default_value = "show",
        hide_default_value = true,
        hide_possible_values = true
    )]
    action: CheckpointAction,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckpointAction {
    Show,
    Clear,
}

#[derive(Serialize)]
struct CheckpointReport<'a> {
    completed: &'a [String],
    remaining: &'a [String],
    blockers: &'a [String],
    notes: Option<&'a str>,
    saved_at: String,
    /// True if it was removed just now.
    cleared: bool,
}

impl CheckpointArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let (memory, scope) = (app.memory(), app.note_scope(false));
        let Some((checkpoint, saved_at)) = memory.checkpoint(&scope)? else {
            ui::error("no checkpoint saved for this project");
            return Ok(CommandAnswer::No);
        };
        let cleared = self.action == CheckpointAction::Clear;
        if cleared {
            app.memory_for_writing()?.drop_checkpoint(&scope)?;
        }
        if self.json {
            let WorkCheckpoint { completed, remaining, blockers, notes } = &checkpoint;
            let (notes, saved_at) = (notes.as_deref(), saved_at.to_string());
            ui::json(&CheckpointReport {
                completed,
                remaining,
                blockers,
                notes,
                saved_at,
                cleared,
            })?;
        } else if cleared {
            ui::say("Cleared: new sessions no longer get this checkpoint");
        } else {
            ui::fields(&fields(&checkpoint, saved_at))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

fn fields(checkpoint: &WorkCheckpoint, saved_at: Timestamp) -> Vec<(&'static str, String)> {
    let WorkCheckpoint { completed, remaining, blockers, notes } = checkpoint;
    let parts = [
        ("remaining", &remaining[..]),
        ("blockers", blockers),
        ("done", completed),
        ("notes", notes.as_slice()),
    ];
    let mut fields: Vec<(&str, String)> = parts
        .iter()
        .flat_map(|(name, items)| items.iter().map(|item| (*name, item.clone())))
        .collect();
    fields.push(("saved", saved_at.to_string()));
    fields
}
