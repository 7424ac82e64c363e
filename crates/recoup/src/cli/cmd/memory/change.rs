//! `recoup memory edit`, `restore`, `promote` and `retire`: the owner's word on one memory.

use clap::Args;
use recoup_core::memory::{Note, NoteId, Status};
use recoup_core::{Error, Result};

use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Say it in other words.
#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// What it says from now on
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    words: Vec<String>,
}

/// Bring back what was superseded or retired.
#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
}

/// Make a rule of what was only inferred.
#[derive(Debug, Args)]
pub(super) struct PromoteArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
}

/// Let it count no longer, and keep it.
#[derive(Debug, Args)]
pub(super) struct RetireArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
}

impl EditArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let id = NoteId::parse(&self.id)?;
        let note = app.memory_for_writing()?.edit(&id, &self.words.join(" "))?;
        ui::say(format_args!("Changed: {} ({id})", note.text));
        Ok(Answer::Yes)
    }
}

impl RestoreArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        activate(app, &self.id, "restored", "Restored", |status| {
            matches!(status, Status::Superseded | Status::Retired)
        })
    }
}

impl PromoteArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        activate(app, &self.id, "promoted", "Promoted", |status| status == Status::Candidate)
    }
}

impl RetireArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let id = NoteId::parse(&self.id)?;
        let note = app.memory_for_writing()?.retire(&id)?;
        ui::say(format_args!("Retired: {} ({id})", note.text));
        Ok(Answer::Yes)
    }
}

fn activate(app: &App, id: &str, what: &str, word: &str, fits: fn(Status) -> bool) -> Ended {
    let id = NoteId::parse(id)?;
    let memory = app.memory_for_writing()?;
    if let Some(note) = memory.note(&id)? {
        demand(&note, fits)?;
    }
    let (note, instead_of) = memory.activate(&id, what)?;
    ui::say(format_args!("{word}: {} ({id})", note.text));
    for old in instead_of {
        ui::say(format_args!("Instead of: {} ({})", old.text, old.id));
    }
    Ok(Answer::Yes)
}

fn demand(note: &Note, fits: fn(Status) -> bool) -> Result<()> {
    if fits(note.status) {
        return Ok(());
    }
    Err(Error::usage(format!("{} is {}: there is nothing to do", note.id, note.status)))
}
