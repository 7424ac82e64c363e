//! `recoup memory search` and `rules`.

use std::num::NonZeroUsize;

use clap::Args;
use recoup_core::memory::NoteFilter;
use recoup_core::memory::inject::BlockBudget;
use recoup_core::memory::search::SearchQuery;

use super::report::NoteReport;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, input, ui};
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
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let text = input::join_words(&self.words)?;
        let here = NoteFilter::active_in(&app.note_scope(false)).scopes;
        let scopes = if self.all { &[] } else { &here[..] };
        let query = SearchQuery { scopes, limit: self.limit.get(), ..SearchQuery::new(&text) };
        let found = app.memory().search(&query)?;
        let reports: Vec<NoteReport> =
            found.iter().map(|(note, _)| NoteReport::new(note)).collect();
        if self.json {
            ui::json(&reports)?;
        } else if reports.is_empty() {
            ui::say("Nothing that is remembered answers that");
        } else {
            let row = |report: &NoteReport| {
                vec![report.id.clone(), report.kind.to_string(), report.text.clone()]
            };
            let mut rows = ui::RowStream::new(&["ID", "KIND", "TEXT"]);
            reports.iter().try_for_each(|report| rows.add(row(report)))?;
            rows.finish()?;
        }
        Ok(if reports.is_empty() { CommandAnswer::No } else { CommandAnswer::Yes })
    }
}

/// Print exactly what an agent is given.
#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// The budget in tokens
    #[arg(long, value_name = "N", default_value_t = BlockBudget::default().tokens)]
    tokens: u32,
}

impl RulesArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let budget = BlockBudget { tokens: self.tokens, ..BlockBudget::default() };
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
        Ok(CommandAnswer::Yes)
    }
}
