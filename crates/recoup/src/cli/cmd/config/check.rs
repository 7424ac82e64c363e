//! `recoup config check`: every problem at once.

use clap::Args;
use serde::Serialize;

use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{ConfigProblem, FlagOverrides, GatheredConfig};

/// Report everything that is wrong; exit 2 if anything is.
#[derive(Debug, Args)]
pub(super) struct ConfigCheckArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ConfigCheckReport {
    ok: bool,
    problems: Vec<ConfigProblem>,
    warnings: Vec<String>,
}

impl ConfigCheckArgs {
    pub(super) fn run(self, overrides: &FlagOverrides) -> CommandResult {
        let (problems, warnings) = GatheredConfig::new(overrides)?.check();
        let report = ConfigCheckReport { ok: problems.is_empty(), problems, warnings };
        if self.json {
            ui::json(&report)?;
        } else {
            report.warnings.iter().for_each(ui::warn);
            report.problems.iter().for_each(ui::error);
            if report.ok {
                ui::say("The configuration is fine.");
            }
        }
        Ok(if report.ok { CommandAnswer::Yes } else { CommandAnswer::Unsound })
    }
}
