//! `recoup memory edit`, `restore`, `promote` and `retire`: the owner changes one memory.

use clap::Args;
use recoup_core::memory::{Note, NoteId, Status};
use recoup_core::{Error, Result};

use super::report::Report;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, input, ui};

/// Say it in other words.
#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// The new text
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    words: Vec<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Bring back what was superseded or retired.
#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Agree to what an agent suggested or what was inferred: it is a rule of yours then.
#[derive(Debug, Args)]
pub(super) struct PromoteArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Let it count no longer, and keep it.
#[derive(Debug, Args)]
pub(super) struct RetireArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl EditArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let (id, text) = (NoteId::parse(&self.id)?, input::sentence(&self.words)?);
        let memory = app.memory_for_writing()?;
        let (note, instead_of) = memory.edit(&id, &text)?;
        // Best effort: the change is stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        tell("Changed", &note, &instead_of, self.json)
    }
}

impl RestoreArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let fits = |status| matches!(status, Status::Superseded | Status::Retired);
        let id = NoteId::parse(&self.id)?;
        let memory = app.memory_for_writing()?;
        demand(memory.note(&id)?.as_ref(), fits)?;
        let (note, instead_of) = memory.activate(&id, "restored")?;
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        tell("Restored", &note, &instead_of, self.json)
    }
}

impl PromoteArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let id = NoteId::parse(&self.id)?;
        let memory = app.memory_for_writing()?;
        let suggestion = memory.suggestion(&id)?;
        demand(Some(&suggestion.note), |status| status == Status::Candidate)?;
        let (note, instead_of) = memory.agree(&suggestion)?;
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        tell("Promoted", &note, &instead_of, self.json)
    }
}

impl RetireArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let id = NoteId::parse(&self.id)?;
        let memory = app.memory_for_writing()?;
        demand(memory.note(&id)?.as_ref(), |status| status != Status::Retired)?;
        let note = memory.retire(&id)?;
        app.refresh_mirrors(std::slice::from_ref(&note.scope));
        tell("Retired", &note, &[], self.json)
    }
}

/// Checks the status of a note; a missing note is reported by the operation that follows.
fn demand(note: Option<&Note>, fits: impl Fn(Status) -> bool) -> Result<()> {
    match note {
        Some(note) if !fits(note.status) => {
            Err(Error::usage(format!("{} is {}: there is nothing to do", note.id, note.status)))
        }
        _ => Ok(()),
    }
}

fn tell(word: &str, note: &Note, instead_of: &[Note], json: bool) -> Ended {
    if json {
        ui::json(&Report::new(note))?;
        return Ok(Answer::Yes);
    }
    ui::say(format_args!("{word}: {} ({})", note.text, note.id));
    for old in instead_of {
        ui::say(format_args!("Instead of: {} ({})", old.text, old.id));
    }
    Ok(Answer::Yes)
}
