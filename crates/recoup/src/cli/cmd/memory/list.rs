//! `recoup memory list`, `show`, `search` and `rules`: what is remembered, and what agents are given.

use std::num::NonZeroUsize;

use clap::Args;
use recoup_core::key::Scope;
use recoup_core::memory::recall::inject::BlockBudget;
use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{Note, NoteFilter, NoteScope, NoteStatus};

use super::enforce::CheckReport;
use super::{NoteIdArgs, NoteReport, parse_id};
use crate::cli::app::App;
use crate::cli::projects::ProjectNames;
use crate::cli::{CommandAnswer, CommandResult, human, input, ui};
use crate::config::trust;

/// List what is remembered here, the latest first.
///
/// A terminal shows the latest 50 and how many more there are.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Also list other projects, and memories that are superseded or retired
    #[arg(long)]
    all: bool,
    /// Only memories with this status: candidate, active, superseded, retired
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// Maximum number of agents' notes that are proposed below a list.
const MOST_PROPOSED: usize = 5;

impl ListArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let (memory, here) = (app.memory(), app.note_scope(false));
        let mut wanted =
            if self.all { NoteFilter::default() } else { NoteFilter::active_in(&here) };
        if let Some(status) = &self.status {
            wanted.statuses = vec![NoteStatus::parse(status)?];
        }
        let is_page = !self.json && !self.all && self.limit.is_none() && ui::stdout_is_terminal();
        let limit = self.limit.unwrap_or(if is_page { ui::PAGE_ROWS } else { usize::MAX });
        let notes = memory.latest_notes(&wanted, limit)?;
        if self.json {
            ui::json(&notes.iter().map(NoteReport::new).collect::<Vec<_>>())?;
            return Ok(CommandAnswer::Yes);
        }
        let mut rows = ui::RowStream::new(&["ID", "KIND", "SCOPE", "STATUS", "SOURCE", "TEXT"]);
        let scopes = ScopeNames::of(self.all, app);
        notes.iter().try_for_each(|note| rows.add(row(&scopes, note)))?;
        if !rows.finish()? {
            ui::say("No memories here; use `recoup memory add` to add one");
        } else if is_page {
            let more = memory.count_notes(&wanted)?.saturating_sub(ui::PAGE_ROWS as u64);
            if more > 0 {
                ui::say(format_args!("… {} more: --limit N", human::count(more)));
            }
        }
        for note in memory.noted_by_agents(&here)?.iter().take(MOST_PROPOSED) {
            if note.is_proposed() {
                ui::hint(format_args!(
                    "agents noted this in {} sessions: {}; `recoup memory promote {}` makes it a \
                     rule, `recoup memory retire {}` drops it",
                    note.evidence, note.text, note.id, note.id
                ));
            }
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Display names of scopes. With --all each project has its own name.
struct ScopeNames {
    here: NoteScope,
    others: Option<ProjectNames>,
}

impl ScopeNames {
    fn of(all: bool, app: &App) -> Self {
        let others = all.then(|| ProjectNames::read(&app.settings.home));
        Self { here: app.note_scope(false), others }
    }

    fn name(&self, scope: &NoteScope) -> String {
        match (scope, &self.others) {
            (NoteScope::Universal, _) => "universal".to_owned(),
            (NoteScope::Project(_), None) => "project".to_owned(),
            (here, Some(_)) if *here == self.here => "this project".to_owned(),
            (NoteScope::Project(id), Some(names)) => names.display_name(&Scope::project(id)),
        }
    }
}

fn row(scopes: &ScopeNames, note: &Note) -> Vec<String> {
    let scope = scopes.name(&note.scope);
    let paths = note.paths.as_ref().map_or_else(String::new, |paths| format!(", {paths}"));
    vec![
        note.id.to_string(),
        note.kind.to_string(),
        format!("{scope}{paths}"),
        note.status.to_string(),
        note.source.to_string(),
        match note.until.as_deref().filter(|until| !note.text.contains(until)) {
            Some(until) => format!("{} ({until})", note.text),
            None => note.text.clone(),
        },
    ]
}

impl NoteIdArgs {
    /// Tells everything about one memory.
    pub(super) fn show(self, app: &App) -> CommandResult {
        let id = parse_id(&self.id)?;
        let Some(note) = app.memory().note(&id)? else {
            ui::error(format_args!(
                "no such memory: {id}; `recoup memory list --all` shows all ids"
            ));
            return Ok(CommandAnswer::No);
        };
        let memory = app.memory();
        let check = memory.checked_rule(&id)?.map(|rule| CheckReport::new(&rule, app));
        let recorded_by = memory.recorder(&id)?;
        let report = NoteReport { recorded_by, check, ..NoteReport::new(&note) };
        if self.json {
            ui::json(&report)?;
            return Ok(CommandAnswer::Yes);
        }
        let mut fields = vec![
            ("id", report.id),
            ("text", report.text),
            ("kind", report.kind.to_string()),
            ("status", report.status.to_string()),
            ("source", format!("{} (trust: {})", report.source, report.trust)),
            ("scope", report.scope),
        ];
        let some = [
            ("recorded by", report.recorded_by),
            ("quote", report.quote),
            ("paths", report.paths),
            ("topic", report.topic),
            ("until", report.until),
            ("ends", report.ends_at),
            ("superseded by", report.superseded_by),
            ("check", report.check.as_ref().map(|it| it.check.clone())),
            ("enforced", report.check.as_ref().map(CheckReport::strength_in_words)),
        ];
        fields.extend(some.into_iter().filter_map(|(name, value)| Some((name, value?))));
        fields.push(("evidence", report.evidence.to_string()));
        fields.push(("said", report.created_at));
        fields.push(("last said", report.updated_at));
        ui::fields(&fields)?;
        Ok(CommandAnswer::Yes)
    }
}

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
    pub(super) fn run(self, app: &App) -> CommandResult {
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
            ui::say("No memory matches");
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

#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// The budget in tokens
    #[arg(long, value_name = "N", default_value_t = BlockBudget::default().tokens)]
    tokens: u32,
}

impl RulesArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let budget = BlockBudget { tokens: self.tokens, ..BlockBudget::default() };
        match app.rules(budget)? {
            Some(block) => ui::data(&[block.text().as_bytes()])?,
            None if !app.memory().rules(&app.note_scope(false), budget)?.is_empty() => {
                ui::hint(format_args!("no rule fits into a budget of {} tokens", self.tokens));
            }
            None => {}
        }
        if let Some(line) = trust::team_state(&app.settings.home, &app.settings.project).advice() {
            ui::hint(line);
        }
        Ok(CommandAnswer::Yes)
    }
}
