//! `recoup import`: what other programs keep comes in, with a table of what and why not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use recoup_core::memory::NoteScope;
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::memory::ReviewDecision;
use super::place::StoreScopeArgs;
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::import::{
    ImportOptions, ImportSource, ImportedItem, ItemKind, ItemOutcome, record_rule,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    recoup import ~/.claude-recall --dry-run   what would come in, and why something would not\n  \
    recoup import ~/.claude-mem/claude-mem.db\n  \
    recoup import .                            rules of CLAUDE.md, AGENTS.md and the like, one by one\n  \
    recoup import ~/.ai-agent/cache.db --scope global")]
pub(in crate::cli) struct ImportCommandArgs {
    /// Databases, exports, directories of entries, files with rules, or directories that have these
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Only show what would come in, and why something would not
    #[arg(long)]
    dry_run: bool,
    /// Take all rules of files, without asking
    #[arg(long, short)]
    yes: bool,
    /// Another program's name for this project, if it is not that of its directory; may be given
    /// several times
    #[arg(long = "project", value_name = "NAME")]
    project_names: Vec<String>,
    /// As JSON, item by item
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreScopeArgs,
}

/// Reason for a rule that the user does not want.
const NOT_CHOSEN: &str = "not chosen";

/// Outcome for one source.
#[derive(Debug, Serialize)]
struct SourceReport {
    path: String,
    program: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    counts: BTreeMap<&'static str, usize>,
    items: Vec<ImportedItem>,
}

#[derive(Debug, Serialize)]
struct ImportCommandReport {
    dry_run: bool,
    sources: Vec<SourceReport>,
}

impl ImportCommandArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load(&self.place.overrides())?;
        let Self { paths, dry_run, yes, project_names, json, place: _ } = self;
        let options = ImportOptions { dry_run, project_names };
        let mut found = Vec::new();
        for path in &paths {
            found.push((path, ImportSource::find(path)));
        }
        let has_choices =
            found.iter().flat_map(|(_, it)| it.iter().flatten()).any(ImportSource::is_chosen_from);
        if has_choices && !dry_run && !yes && !ui::can_ask() {
            return Err(Error::usage(
                "choosing rules needs a terminal; use --dry-run to list them, or --yes to take all",
            )
            .into());
        }
        let (mut sources, mut kind) = (Vec::new(), None);
        for (path, found) in found {
            match found {
                Err(error) => sources.push(failed_source(path, "", &error, &mut kind)),
                Ok(all) => {
                    for source in all {
                        let (path, program) = (source.path.clone(), source.program());
                        sources.push(match source.import(app, &options) {
                            Err(error) => failed_source(&path, program, &error, &mut kind),
                            Ok(items) => SourceReport::new(&path, program, items),
                        });
                    }
                }
            }
        }
        if !dry_run && choose_rules(app, &mut sources, yes)? {
            app.refresh_mirrors(&[app.note_scope(false), NoteScope::Universal]);
        }
        sources.iter_mut().for_each(SourceReport::count);
        report(&ImportCommandReport { dry_run, sources }, json)?;
        Ok(match kind {
            None => CommandAnswer::Yes,
            Some(ErrorKind::Usage | ErrorKind::Absent) => CommandAnswer::Unsound,
            Some(_) => CommandAnswer::No,
        })
    }
}

impl SourceReport {
    fn new(path: &Path, program: &'static str, items: Vec<ImportedItem>) -> Self {
        let path = path.display().to_string();
        Self { path, program, error: None, counts: BTreeMap::new(), items }
    }

    fn count(&mut self) {
        for outcome in ItemOutcome::ALL {
            let count = self.items.iter().filter(|item| item.outcome == outcome).count();
            self.counts.insert(outcome.field(), count);
        }
    }

    /// Summary for people: `3 imported, 2 known`.
    fn summary(&self) -> String {
        let named = ItemOutcome::ALL.into_iter().filter_map(|outcome| {
            let count = self.counts.get(outcome.field()).copied().filter(|count| *count > 0)?;
            let plural = if outcome == ItemOutcome::Candidate && count > 1 { "s" } else { "" };
            Some(format!("{count} {}{plural}", outcome.word()))
        });
        let named: Vec<String> = named.collect();
        if named.is_empty() { "nothing in it".to_owned() } else { named.join(", ") }
    }
}

fn failed_source(
    path: &Path,
    program: &'static str,
    error: &Error,
    kind: &mut Option<ErrorKind>,
) -> SourceReport {
    ui::error(error);
    *kind = kind.or(Some(error.kind()));
    SourceReport { error: Some(error.to_string()), ..SourceReport::new(path, program, Vec::new()) }
}

/// Lets the user choose among the rules of files; true if one was recorded.
fn choose_rules(app: &App, sources: &mut [SourceReport], all: bool) -> Result<bool> {
    let is_offered = |item: &&mut ImportedItem| item.outcome == ItemOutcome::Offered;
    let count: usize = sources
        .iter()
        .map(|it| it.items.iter().filter(|it| it.outcome == ItemOutcome::Offered).count())
        .sum();
    let mut offered: Vec<(String, &mut ImportedItem)> = sources
        .iter_mut()
        .flat_map(|it| {
            let path = it.path.clone();
            it.items.iter_mut().filter(is_offered).map(move |item| (path.clone(), item))
        })
        .collect();
    let (mut recorded, mut has_quit) = (false, false);
    for (at, (path, item)) in offered.iter_mut().enumerate() {
        let decision = if all {
            ReviewDecision::Keep
        } else if has_quit {
            ReviewDecision::Quit
        } else {
            let text = item.offered.as_ref().map_or(item.text.as_str(), |it| &it.text);
            ui::say(format_args!("{}/{count}  {text} ({path})", at + 1));
            ReviewDecision::ask()
        };
        let text = match decision {
            ReviewDecision::Keep => Ok(None),
            ReviewDecision::Edit => {
                let text = ui::ask_text("new text:");
                if text.is_empty() { Err(NOT_CHOSEN.to_owned()) } else { Ok(Some(text)) }
            }
            ReviewDecision::Drop | ReviewDecision::Skip | ReviewDecision::Quit => {
                has_quit |= decision == ReviewDecision::Quit;
                Err(NOT_CHOSEN.to_owned())
            }
        };
        let taken = match text {
            Ok(text) => match record_rule(app, item, text) {
                // The text that the user gave it must not be kept.
                Err(error) if error.kind() == ErrorKind::Invalid => Err(error.to_string()),
                recorded => Ok(recorded?),
            },
            Err(why) => Err(why),
        };
        if let Err(why) = taken {
            (item.outcome, item.why) = (ItemOutcome::LeftOut, Some(why));
            continue;
        }
        recorded = true;
    }
    Ok(recorded)
}

fn report(all: &ImportCommandReport, json: bool) -> Result<(), CommandError> {
    if json {
        return ui::json(all);
    }
    if all.dry_run {
        let rows: Vec<Vec<String>> = all.sources.iter().flat_map(rows_of).collect();
        if !rows.is_empty() {
            ui::table(&["WHAT", "WOULD BE", "TEXT OR KEY", "WHY"], &rows)?;
        }
    }
    let sources = all.sources.iter().filter(|it| it.error.is_none());
    for source in sources.clone() {
        ui::say(format_args!("{} ({}): {}", source.path, source.program, source.summary()));
    }
    let has = |outcome: ItemOutcome| {
        sources.clone().any(|it| it.items.iter().any(|it| it.outcome == outcome))
    };
    if all.dry_run {
        ui::hint("nothing was written");
    } else {
        if has(ItemOutcome::Candidate) {
            ui::hint("candidates wait for you: recoup memory review, in their projects");
        }
        if has(ItemOutcome::LeftOut) {
            ui::hint("--dry-run says why something stays out");
        }
    }
    Ok(())
}

/// Rows of the table: what comes in, one by one, and what stays out, by reason with one example.
fn rows_of(source: &SourceReport) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut left_out: BTreeMap<(&str, &str), (usize, &str)> = BTreeMap::new();
    for item in &source.items {
        let kind = item.kind.word();
        if item.outcome == ItemOutcome::LeftOut {
            let why = item.why.as_deref().unwrap_or_default();
            left_out.entry((kind, why)).or_insert((0, &item.text)).0 += 1;
        } else {
            let outcome = item.outcome.word().to_owned();
            rows.push(vec![kind.to_owned(), outcome, item.text.clone(), String::new()]);
        }
    }
    for ((kind, why), (count, example)) in left_out {
        let outcome = ItemOutcome::LeftOut.word().to_owned();
        let text = match count {
            1 => example.to_owned(),
            count => format!("{count}, such as: {example}"),
        };
        rows.push(vec![kind.to_owned(), outcome, text, why.to_owned()]);
    }
    rows
}

impl ItemKind {
    fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Rule => "rule",
            Self::Entry => "entry",
            Self::Checkpoint => "checkpoint",
        }
    }
}

impl ItemOutcome {
    const ALL: [Self; 5] =
        [Self::Imported, Self::Candidate, Self::Offered, Self::Known, Self::LeftOut];

    fn word(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::Candidate => "candidate",
            Self::Offered => "offered",
            Self::Known => "known",
            Self::LeftOut => "left out",
        }
    }

    /// Name of its count in JSON.
    fn field(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::Candidate => "candidates",
            Self::Offered => "offered",
            Self::Known => "known",
            Self::LeftOut => "left_out",
        }
    }
}
