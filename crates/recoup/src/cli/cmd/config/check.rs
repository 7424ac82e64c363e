//! `recoup config check`: every problem at once.

use clap::Args;
use serde::Serialize;

use crate::cli::{Answer, Ended, ui};
use crate::config::{Gathered, Overrides, Problem};

/// Report everything that is wrong; exit 2 if anything is.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

impl CheckArgs {
    pub(super) fn run(self, overrides: &Overrides) -> Ended {
        let (problems, warnings) = Gathered::new(overrides)?.check();
        let report = Report { ok: problems.is_empty(), problems, warnings };
        if self.json {
            ui::json(&report)?;
        } else {
            report.warnings.iter().for_each(ui::warn);
            report.problems.iter().for_each(ui::error);
            if report.ok {
                ui::say("The configuration is fine.");
            }
        }
        Ok(if report.ok { Answer::Yes } else { Answer::Unsound })
    }
}
