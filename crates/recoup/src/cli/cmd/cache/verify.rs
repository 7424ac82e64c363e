//! `recoup cache verify`.

use clap::Args;
use recoup_core::cache::Damaged;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Read everything in this scope and check it; exit 1 if something is damaged and stays so.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Remove what is damaged
    #[arg(long)]
    repair: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    entries: usize,
    damaged: Vec<Row>,
    repaired: bool,
}

#[derive(Serialize)]
struct Row {
    key: String,
    damage: String,
}

impl From<&Damaged> for Row {
    fn from(found: &Damaged) -> Self {
        Self { key: found.id.key.to_string(), damage: found.damage.to_string() }
    }
}

impl VerifyArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let cache = app.cache_behind();
        let mut progress = ui::Progress::new("Verifying");
        let verified = cache.verify(&app.scope(), &mut |done, all| progress.show(done, all))?;
        progress.finish();
        let repaired = self.repair && !verified.damaged.is_empty();
        if repaired {
            cache.repair(&verified.damaged)?;
        }
        let damaged: Vec<Row> = verified.damaged.iter().map(Row::from).collect();
        let report = Report { entries: verified.entries, damaged, repaired };
        self.tell(&report)?;
        let sound = report.damaged.is_empty() || repaired;
        Ok(if sound { Answer::Yes } else { Answer::No })
    }

    fn tell(&self, report: &Report) -> Result<(), crate::cli::Failure> {
        if self.json {
            return ui::json(report);
        }
        for Row { key, damage } in &report.damaged {
            ui::warn(format_args!("{key}: {damage}"));
        }
        let what_now = match (report.damaged.is_empty(), report.repaired) {
            (true, _) => "all sound".to_owned(),
            (false, true) => format!("{} damaged, now removed", report.damaged.len()),
            (false, false) => {
                format!("{} damaged; --repair removes them", report.damaged.len())
            }
        };
        ui::say(format_args!("{} entries: {what_now}", report.entries));
        Ok(())
    }
}
