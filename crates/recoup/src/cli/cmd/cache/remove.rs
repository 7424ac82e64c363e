//! `recoup cache delete`, `invalidate`, `cleanup` and `clear`: forget one entry, some, those that are
//! no longer needed, or all.

use clap::Args;
use recoup_core::Error;
use recoup_core::cache::EntrySelection;
use recoup_core::key::EntryId;
use recoup_core::store::EvictionReport;
use serde::Serialize;

use super::select::{ResultSelectorArgs, describe_scope, expand_key};
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::megabytes_in_bytes;

#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    named: ResultSelectorArgs,
}

impl DeleteArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let cache = app.cache();
        let key = expand_key(app, &cache, self.named.resolve()?.key)?;
        let id = EntryId::new(app.scope(), key);
        let was_there = cache.remove(&id)?;
        let done = if was_there { "Deleted" } else { "No" };
        ui::say(format_args!("{done} entry for key: {}", id.key));
        Ok(if was_there { CommandAnswer::Yes } else { CommandAnswer::No })
    }
}

#[derive(Debug, Args)]
pub(super) struct InvalidateArgs {
    /// Results with a matching source path, as given or relative to the project's root; * also
    /// matches /
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    paths: Option<String>,
    /// Results with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Results of this operation
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct InvalidateReport {
    invalidated: usize,
}

impl InvalidateArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let Self { paths, tag, operation, json } = self;
        let selection =
            EntrySelection::from_criteria(paths.as_deref(), tag.as_deref(), operation.as_deref())?;
        let selection = selection.ok_or_else(|| Error::usage(
            "no entries selected: give --paths GLOB, --tag TAG or --operation NAME; `recoup cache clear` deletes all",
        ))?;
        let invalidated = app.cache().invalidate(&app.scope(), &selection)?;
        if json {
            ui::json(&InvalidateReport { invalidated })?;
        } else {
            ui::line(invalidated)?;
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
pub(super) struct CacheCleanupArgs {
    /// The size limit for this scope, in MB [default: `cache.max_size_mb` of the configuration]
    #[arg(long, value_name = "N")]
    max_size_mb: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CacheCleanupReport {
    expired: u64,
    evicted: u64,
    freed_bytes: u64,
}

impl CacheCleanupArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let cache = app.cache();
        let mut limits = cache.limits();
        if let Some(text) = &self.max_size_mb {
            // Whole or fractional, and unlike in the configuration also 0.
            let number = text.trim().parse::<f64>().ok();
            let number = number.filter(|number| (0.0..=1e9).contains(number)).ok_or_else(|| {
                let expected = "expected a number of MB such as 50";
                Error::usage(format!("invalid --max-size-mb {text:?}: {expected}"))
            })?;
            limits.max_bytes = Some(megabytes_in_bytes(number));
        }
        let EvictionReport { expired, least_used, bytes, .. } =
            cache.clean_up(&app.scope(), limits)?;
        if self.json {
            ui::json(&CacheCleanupReport { expired, evicted: least_used, freed_bytes: bytes })?;
        } else {
            ui::say(format_args!(
                "Removed {expired} expired and {least_used} least recently used entries ({})",
                human::size(bytes)
            ));
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
pub(super) struct ClearArgs {
    /// Do not ask for confirmation; required without a terminal
    #[arg(long, short)]
    yes: bool,
}

impl ClearArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let scope = app.scope();
        if !self.yes && !ui::can_ask() {
            return Err(Error::usage(format!(
                "nothing was deleted: cannot ask for confirmation without a terminal; repeat the \
                 command with --yes to delete all entries of {} in {}",
                describe_scope(app),
                app.settings.store
            ))
            .into());
        }
        if !self.yes && !ui::confirm(format_args!("Delete all entries in {scope}?")) {
            ui::say("Nothing was changed.");
            return Ok(CommandAnswer::No);
        }
        let removed = app.cache().clear(&scope)?;
        let entries = if removed == 1 { "entry" } else { "entries" };
        ui::say(format_args!("Removed {removed} {entries} from {scope}"));
        Ok(CommandAnswer::Yes)
    }
}
