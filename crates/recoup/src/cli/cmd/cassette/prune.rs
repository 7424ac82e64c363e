//! `recoup cassette prune`: removes exchanges that are not needed.

use std::path::PathBuf;

use clap::Args;
use recoup_core::Error;
use serde::Serialize;

use super::{ExchangeSummary, HEADINGS, stable_order};
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::FlagOverrides;
use crate::llm::CassetteFile;
use crate::toolbox::NamePattern;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct PruneArgs {
    /// The cassette
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Remove the exchanges with these numbers
    #[arg(value_name = "NUMBER")]
    numbers: Vec<usize>,
    /// Remove exchanges with this model; the name may have a *
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Remove exchanges with this path; it may have a *
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
If several criteria are given, all must match. Run all tests with --replay first, and then prune: every replay \
since the last change of the file counts.";

#[derive(Serialize)]
struct PruneReport {
    removed: Vec<ExchangeSummary>,
    kept: usize,
    dry_run: bool,
}

impl PruneArgs {
    pub(super) fn run(self) -> CommandResult {
        let file = CassetteFile::read(&self.file)?.whole()?;
        let count = file.exchanges.len();
        if let Some(wrong) = self.numbers.iter().find(|number| !(1..=count).contains(*number)) {
            let message =
                format!("{} has no number {wrong}: expected 1 to {count}", self.file.display());
            return Err(Error::usage(message).into());
        }
        let is_named = !self.numbers.is_empty() || self.model.is_some() || self.path.is_some();
        let used = if is_named {
            None
        } else {
            let home = &App::load(&FlagOverrides::default())?.settings.home;
            let used = file.used_numbers(home)?.ok_or_else(|| {
                Error::usage(format!(
                    "{file} was not replayed since it was last changed, so it is not known what is needed: run \
                     `recoup gateway --replay {file} -- COMMAND` first, or give numbers, --model or --path",
                    file = self.file.display()
                ))
            })?;
            if used.is_empty() && count > 0 {
                let message = format!("no replay of {} has used any of it", self.file.display());
                return Err(Error::usage(message).into());
            }
            Some(used)
        };
        let matches = |pattern: &Option<String>, value: &str| {
            pattern.as_ref().is_none_or(|it| NamePattern::new(it.clone()).matches(value))
        };
        let is_removed = |summary: &ExchangeSummary| match &used {
            Some(used) => !used.contains(&summary.number),
            None => {
                (self.numbers.is_empty() || self.numbers.contains(&summary.number))
                    && matches(&self.model, &summary.model)
                    && matches(&self.path, &summary.path)
            }
        };
        let (removed, kept): (Vec<_>, Vec<_>) =
            ExchangeSummary::of_file(&file).into_iter().partition(is_removed);
        if !self.dry_run {
            let order = stable_order(&file);
            let mut kept: Vec<usize> = kept.iter().map(|summary| summary.number - 1).collect();
            kept.sort_by_key(|at| (order[*at].clone(), *at));
            CassetteFile::write(&self.file, kept.iter().map(|at| &*file.exchanges[*at].text))?;
        }
        let (kept, dry_run) = (kept.len(), self.dry_run);
        if self.json {
            ui::json(&PruneReport { removed, kept, dry_run })?;
            return Ok(CommandAnswer::Yes);
        }
        let number = removed.len();
        if number > 0 {
            let rows: Vec<_> = removed.into_iter().map(ExchangeSummary::into_row).collect();
            ui::table(&HEADINGS, &rows)?;
        }
        let verb = if dry_run { "would remove" } else { "removed" };
        ui::say(format_args!("{verb} {number} of {count} exchanges from {}", self.file.display()));
        Ok(CommandAnswer::Yes)
    }
}
