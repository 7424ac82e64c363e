//! `recoup memory add`.

use clap::Args;
use recoup_core::memory::{NoteKind, NoteSource, NoteStatement, RecordOutcome};

use super::report::NoteReport;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Remember something.
#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// The rule or fact to remember
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    words: Vec<String>,
    /// The kind of memory: correction, preference, project-knowledge, devops, failure
    #[arg(long, value_name = "KIND", default_value = "preference")]
    kind: String,
    /// Apply it in all projects, not only in this one
    #[arg(long)]
    universal: bool,
    /// Apply it to these files only: a glob from the project's root
    #[arg(long, value_name = "GLOB")]
    paths: Option<String>,
    /// The topic: a newer memory on the same topic takes its place
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl AddArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let kind = NoteKind::parse(&self.kind)?;
        let scope = app.note_scope(self.universal);
        let text = input::join_words(&self.words)?;
        let statement = NoteStatement {
            paths: self.paths,
            topic: self.topic,
            ..NoteStatement::new(kind, text, NoteSource::Manual, scope)
        };
        let memory = app.memory_for_writing()?;
        let recorded = memory.record(&statement)?;
        // Best effort: the memory is stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        app.refresh_mirrors(std::slice::from_ref(&recorded.note().scope));
        if self.json {
            ui::json(&NoteReport::new(recorded.note()))?;
            return Ok(CommandAnswer::Yes);
        }
        let note = recorded.note();
        let (word, instead_of) = match &recorded {
            RecordOutcome::Stored { instead_of, .. } => ("Remembered", instead_of),
            RecordOutcome::Confirmed { instead_of, .. } => ("Known already", instead_of),
        };
        ui::say(format_args!("{word}: {} ({})", note.text, note.id));
        for old in instead_of {
            ui::say(format_args!("Instead of: {} ({})", old.text, old.id));
        }
        Ok(CommandAnswer::Yes)
    }
}
