//! `recoup memory sync`: rules and skills where Claude Code reads them.

use clap::Args;

use crate::cli::app::App;
use crate::cli::mirror::{remove_all_mirrors, warn_of_leftovers, warn_of_problems};
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::mirror::{MirrorAction, MirrorChange};

#[derive(Debug, Args)]
pub(super) struct SyncArgs {
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Remove everything that was written there, in every project
    #[arg(long)]
    remove: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl SyncArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let report = if self.remove {
            remove_all_mirrors(&app.settings.home, &app.settings.cwd, self.dry_run)
        } else {
            app.sync_mirrors(&app.settings.project, self.dry_run)?
        };
        let answer = if report.faults.is_empty() { CommandAnswer::Yes } else { CommandAnswer::No };
        if self.json {
            ui::json(&report)?;
            return Ok(answer);
        }
        for MirrorChange { path, did, .. } in &report.changes {
            let word = match did {
                MirrorAction::Written => "write ",
                MirrorAction::Removed => "remove",
            };
            ui::line(format_args!("{word} {}", ui::printable(&path.display().to_string())))?;
        }
        report.remarks.iter().for_each(ui::say);
        if self.remove {
            warn_of_leftovers(&report);
        } else {
            warn_of_problems(&report);
        }
        if report.changes.is_empty() && report.faults.is_empty() {
            ui::say("Nothing to change");
        } else if self.dry_run {
            ui::say("Nothing was changed: `recoup memory sync` would make these changes");
        }
        match (self.remove, app.settings.mirror.is_any()) {
            (false, false) => ui::hint(
                "rules sync and skills are off: set `rules.sync` or `skills.enabled` in your configuration file (`recoup config path`) to switch them on",
            ),
            (true, true) => ui::hint(
                "rules sync or skills are on and will write them again after the next answer: set `rules.sync` and `skills.enabled` to false in your configuration file (`recoup config path`) to switch them off",
            ),
            _ => {}
        }
        Ok(answer)
    }
}
