//! `recoup memory report`: how often rules were given, used and repeated.

use clap::Args;
use recoup_core::memory::NoteFilter;
use recoup_core::memory::learn::RuleEffect;
use serde::Serialize;

use super::NoteReport;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(super) struct MemoryReportArgs {
    /// In all projects
    #[arg(long)]
    all: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

const HEADINGS: [&str; 6] = ["ID", "GIVEN", "USED", "REPEATED", "CALLS AFTER IT", "TEXT"];

/// A rule and its usage counts.
#[derive(Debug, Serialize)]
struct RuleUsageLine {
    #[serde(flatten)]
    note: NoteReport,
    given: u64,
    cited: u64,
    repeated: u64,
    succeeded: u64,
    failed: u64,
}

impl MemoryReportArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let mut wanted = NoteFilter::active_in(&app.note_scope(false));
        if self.all {
            wanted.scopes.clear();
        }
        let report = app.memory().rule_effects(&wanted)?;
        if self.json {
            ui::json(&report.iter().map(RuleUsageLine::new).collect::<Vec<_>>())?;
        } else if report.is_empty() {
            ui::say("No rules here yet; use `recoup memory add` to add one");
        } else {
            let count = |what: fn(&RuleEffect) -> bool| report.iter().filter(|it| what(it)).count();
            let summary = format!(
                "{} rule{} in the last 90 days: {} used, {} repeated by you, {} never given to an agent\n\n",
                report.len(),
                if report.len() == 1 { "" } else { "s" },
                count(|it| it.cited > 0),
                count(|it| it.repeated > 0),
                count(|it| it.given == 0),
            );
            ui::data(&[summary.as_bytes()])?;
            let mut rows = ui::RowStream::new(&HEADINGS);
            let often = |count: u64| if count == 0 { String::new() } else { count.to_string() };
            for it in &report {
                let after = match (it.succeeded, it.failed) {
                    (0, 0) => String::new(),
                    (worked, failed) => format!("{worked} worked, {failed} failed"),
                };
                rows.add(vec![
                    it.note.id.to_string(),
                    often(it.given),
                    often(it.cited),
                    often(it.repeated),
                    after,
                    it.note.text.clone(),
                ])?;
            }
            rows.finish()?;
        }
        Ok(CommandAnswer::Yes)
    }
}

impl RuleUsageLine {
    fn new(it: &RuleEffect) -> Self {
        Self {
            note: NoteReport::new(&it.note),
            given: it.given,
            cited: it.cited,
            repeated: it.repeated,
            succeeded: it.succeeded,
            failed: it.failed,
        }
    }
}
