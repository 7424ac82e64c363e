//! `recoup memory add`, `edit`, `restore`, `promote` and `retire`: the owner changes what is remembered.

use clap::Args;
use recoup_core::memory::{Note, NoteKind, NoteSource, NoteStatus, RecordOutcome, Statement};
use recoup_core::{Error, Result};

use super::{NoteIdArgs, NoteReport, parse_id};
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, input, ui};

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
    /// The topic: a newer memory on the same topic replaces this one
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl AddArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let kind = NoteKind::parse(&self.kind)?;
        let scope = app.note_scope(self.universal);
        let text = input::join_words(&self.words)?;
        let statement = Statement {
            paths: self.paths,
            topic: self.topic,
            ..Statement::new(kind, text, NoteSource::Manual, scope)
        };
        let memory = app.memory_for_writing()?;
        let recorded = memory.record(&statement)?;
        // Best effort: the memory is stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        app.refresh_mirrors(std::slice::from_ref(&recorded.note().scope));
        let (word, instead_of) = match &recorded {
            RecordOutcome::Stored { instead_of, .. } => ("Remembered", instead_of),
            RecordOutcome::Confirmed { instead_of, .. } => ("Already known", instead_of),
        };
        print_change(word, recorded.note(), instead_of, self.json)
    }
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// The id of the memory
    #[arg(value_name = "ID")]
    id: String,
    /// The new text
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    words: Vec<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl EditArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let (id, text) = (parse_id(&self.id)?, input::join_words(&self.words)?);
        let memory = app.memory_for_writing()?;
        let (note, instead_of) = memory.edit(&id, &text)?;
        // Best effort: the change is stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        print_change("Changed", &note, &instead_of, self.json)
    }
}

impl NoteIdArgs {
    /// Brings back what was superseded or retired.
    pub(super) fn restore(self, app: &App) -> CommandResult {
        let fits = |status| matches!(status, NoteStatus::Superseded | NoteStatus::Retired);
        let id = parse_id(&self.id)?;
        let memory = app.memory_for_writing()?;
        ensure_status(memory.note(&id)?.as_ref(), fits)?;
        let (note, instead_of) = memory.activate(&id, "restored")?;
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        print_change("Restored", &note, &instead_of, self.json)
    }

    /// Agrees to what an agent suggested or what was inferred: it is a rule of the user's then.
    pub(super) fn promote(self, app: &App) -> CommandResult {
        let id = parse_id(&self.id)?;
        let memory = app.memory_for_writing()?;
        let suggestion = memory.suggestion(&id)?;
        ensure_status(Some(&suggestion.note), |status| status == NoteStatus::Candidate)?;
        let (note, instead_of) = memory.agree(&suggestion)?;
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        print_change("Promoted", &note, &instead_of, self.json)
    }

    /// Lets it count no longer, and keeps it.
    pub(super) fn retire(self, app: &App) -> CommandResult {
        let id = parse_id(&self.id)?;
        let memory = app.memory_for_writing()?;
        ensure_status(memory.note(&id)?.as_ref(), |status| status != NoteStatus::Retired)?;
        let note = memory.retire(&id)?;
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        print_change("Retired", &note, &[], self.json)
    }
}

/// Checks the status of a note; a missing note is reported by the operation that follows.
fn ensure_status(note: Option<&Note>, fits: impl Fn(NoteStatus) -> bool) -> Result<()> {
    match note {
        Some(note) if !fits(note.status) => {
            Err(Error::usage(format!("{} is {}: nothing to do", note.id, note.status)))
        }
        _ => Ok(()),
    }
}

fn print_change(word: &str, note: &Note, instead_of: &[Note], json: bool) -> CommandResult {
    if json {
        ui::json(&NoteReport::new(note))?;
        return Ok(CommandAnswer::Yes);
    }
    ui::say(format_args!("{word}: {} ({})", note.text, note.id));
    for old in instead_of {
        ui::say(format_args!("Instead of: {} ({})", old.text, old.id));
    }
    Ok(CommandAnswer::Yes)
}
