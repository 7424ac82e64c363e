//! `recoup memory export` and `import`.

use clap::Args;
use recoup_core::memory::{Wanted, export, parse};

use crate::cli::app::App;
use crate::cli::{Answer, Ended, input, ui};

/// Write memories as lines of JSON.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Everything: other projects too
    #[arg(long)]
    all: bool,
}

/// Take in what `export` wrote.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file, or - for stdin
    #[arg(value_name = "FILE")]
    file: String,
}

impl ExportArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let here = Wanted { statuses: Vec::new(), ..Wanted::active_in(&app.note_scope(false)) };
        let wanted = if self.all { Wanted::default() } else { here };
        let notes = app.memory().notes(&wanted)?;
        ui::data(&[export(&notes).as_bytes()])?;
        Ok(Answer::Yes)
    }
}

impl ImportArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let bytes = input::file_or_stdin("FILE", &self.file)?;
        let notes = parse(&input::utf8("FILE", bytes)?)?;
        let imported = app.memory_for_writing()?.import(&notes)?;
        ui::say(format_args!("Imported {}; {} were known", imported.added, imported.known));
        Ok(Answer::Yes)
    }
}
