//! `recoup stats`: savings of the cache.

mod gather;
mod parts;
mod picture;
mod since;

use clap::Args;
use recoup_core::key::Scope;

use super::place::StoreScopeArgs;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, ui};
use gather::{StatsOptions, StatsReport};
use since::PeriodStart;

/// Unlike elsewhere, the default is all scopes and not the project.
const SCOPE_HELP: &str =
    "Only this scope: project, global, tenant:NAME or session:NAME [default: all]";

/// Tell what the cache was worth: hits, misses and why, time, tokens and dollars saved.
#[derive(Debug, Args)]
#[command(mut_arg("scope", |scope| scope.help(SCOPE_HELP)))]
pub(in crate::cli) struct StatsArgs {
    /// From when on: a duration such as 7d, or a date such as 2026-11-01 [default: 30d]
    #[arg(long, value_name = "DURATION|DATE", allow_hyphen_values = true)]
    since: Option<String>,
    /// All scopes of the store: the default, unless --scope names one
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    /// How many projects, identities and entries are shown
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreScopeArgs,
}

impl StatsArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let Self { since, all: _, top, json, place } = self;
        let overrides = place.overrides();
        let one_scope = overrides.scope.is_some();
        let since = PeriodStart::parse(since.as_deref())?;
        let app = AppContext::load(&overrides)?;
        let scope: Option<Scope> = one_scope.then(|| app.scope());
        let report = StatsReport::gather(app, &StatsOptions { scope, since, top })?;
        if let Some(why) = &report.behind {
            ui::warn(format_args!("the latest look-ups are not counted yet: {why}"));
        }
        if json {
            ui::json(&report)?;
        } else if report.is_empty() {
            ui::say(picture::empty_report_message(&report));
        } else {
            ui::print_styled(&picture::render_report(&report))?;
        }
        Ok(CommandAnswer::Yes)
    }
}
