//! `recoup memory search` and `rules`.

use std::num::NonZeroUsize;

use clap::Args;
use recoup_core::memory::Wanted;
use recoup_core::memory::inject::Budget;
use recoup_core::memory::search::Query;

use super::report::Report;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, input, ui};
use crate::config::trust;

/// Find memories by their words.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// The words to look for
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    words: Vec<String>,
    /// In all projects
    #[arg(long)]
    all: bool,
    /// At most this many
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

impl SearchArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let text = input::sentence(&self.words)?;
        let here = Wanted::active_in(&app.note_scope(false)).scopes;
        let scopes = if self.all { &[] } else { &here[..] };
        let query = Query { scopes, limit: self.limit.get(), ..Query::new(&text) };
        let found = app.memory().search(&query)?;
        let reports: Vec<Report> = found.iter().map(|(note, _)| Report::new(note)).collect();
        if self.json {
            ui::json(&reports)?;
        } else if reports.is_empty() {
            ui::say("Nothing that is remembered answers that");
        } else {
            let row = |report: &Report| {
                vec![report.id.clone(), report.kind.to_string(), report.text.clone()]
            };
            let mut rows = ui::RowStream::new(&["ID", "KIND", "TEXT"]);
            reports.iter().try_for_each(|report| rows.add(row(report)))?;
            rows.finish()?;
        }
        Ok(if reports.is_empty() { Answer::No } else { Answer::Yes })
    }
}

/// Print exactly what an agent is given.
#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// The budget in tokens
    #[arg(long, value_name = "N", default_value_t = Budget::default().tokens)]
    tokens: u32,
}

impl RulesArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let budget = Budget { tokens: self.tokens, ..Budget::default() };
        match app.rules(budget)? {
            Some(block) => ui::data(&[block.text().as_bytes()])?,
            None if !app.memory().rules(&app.note_scope(false), budget)?.is_empty() => {
                ui::hint(format_args!("no rule fits into {} tokens", self.tokens));
            }
            None => {}
        }
        if let Some(line) = trust::team_state(&app.settings.home, &app.settings.project).advice() {
            ui::hint(line);
        }
        Ok(Answer::Yes)
    }
}
