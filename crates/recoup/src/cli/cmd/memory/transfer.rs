//! `recoup memory export` and `import`.

use clap::Args;
use recoup_core::memory::{NoteFilter, NoteImportReport, export_notes, parse_export};

use super::share::TeamExport;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Write memories as lines of JSON, or the project's rules to a file of the repository.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(super) struct ExportArgs {
    /// Everything: other projects too
    #[arg(long, conflicts_with = "team")]
    all: bool,
    /// Add the project's rules to recoup-rules.md at its root, for review and for the team
    #[arg(long)]
    team: bool,
    /// Only these of the project's rules; each takes the place of what the file says otherwise
    #[arg(value_name = "ID", requires = "team")]
    ids: Vec<String>,
    /// Only show what would be written
    #[arg(long, requires = "team")]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short, requires = "team")]
    yes: bool,
    /// Say as JSON what was written
    #[arg(long, requires = "team")]
    json: bool,
}

/// Take in what `export_notes` wrote.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file, or - for stdin
    #[arg(value_name = "FILE")]
    file: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl ExportArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let Self { all, team, ids, dry_run, yes, json } = self;
        if team {
            return TeamExport { ids, dry_run, yes, json }.run(app);
        }
        let here =
            NoteFilter { statuses: Vec::new(), ..NoteFilter::active_in(&app.note_scope(false)) };
        let wanted = if all { NoteFilter::default() } else { here };
        let notes = app.memory().notes(&wanted)?;
        ui::data(&[export_notes(&notes).as_bytes()])?;
        Ok(CommandAnswer::Yes)
    }
}

impl ImportArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let bytes = input::file_or_stdin("FILE", &self.file)?;
        let notes = parse_export(&input::decode_utf8("FILE", bytes)?)?;
        let memory = app.memory_for_writing()?;
        let NoteImportReport { added, known } = memory.import(&notes)?;
        // Best effort: the memories are stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        let scopes: Vec<_> = notes.iter().map(|note| note.scope.clone()).collect();
        app.refresh_mirrors(&scopes);
        if self.json {
            ui::json(&serde_json::json!({ "added": added, "known": known }))?;
        } else {
            ui::say(format_args!("Imported {added}; {known} were known"));
        }
        Ok(CommandAnswer::Yes)
    }
}
