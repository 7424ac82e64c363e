//! `recoup stats`: savings of the cache.

mod gather;
mod picture;

use clap::Args;
use recoup_core::base::clock::{Timestamp, date_to_day};
use recoup_core::cache::Ttl;
use recoup_core::entry::day_number;
use recoup_core::key::Scope;
use recoup_core::{Error, Result};

use super::place::StoreScopeArgs;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};
use gather::{StatsOptions, StatsReport};

/// Unlike elsewhere, the default is all scopes and not the project.
const SCOPE_HELP: &str =
    "Only this scope: project, global, tenant:NAME or session:NAME [default: all]";

#[derive(Debug, Args)]
#[command(mut_arg("scope", |scope| scope.help(SCOPE_HELP)))]
pub(in crate::cli) struct StatsArgs {
    /// Start of the period: a duration such as 7d, or a date such as 2026-11-01 [default: 30d]
    #[arg(long, value_name = "DURATION|DATE", allow_hyphen_values = true)]
    since: Option<String>,
    /// All scopes of the store: the default, unless --scope names one
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    /// Maximum number of projects, identities and entries to show
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
        let app = App::load(&overrides)?;
        let scope: Option<Scope> = one_scope.then(|| app.scope());
        let report = StatsReport::gather(app, &StatsOptions { scope, since, top })?;
        if let Some(why) = &report.behind {
            ui::warn(format_args!("the latest look-ups are not counted yet: {why}"));
        }
        if json {
            ui::json(&report)?;
        } else if report.is_empty() {
            let StatsReport { title, since, .. } = &report;
            ui::say(format_args!(
                "No look-ups or entries yet ({title}, since {since}). Try: recoup exec -- COMMAND"
            ));
        } else {
            ui::print_styled(&picture::render_report(&report))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

const DEFAULT: Ttl = Ttl::days(30);
const DAY: u64 = 86_400_000;

/// Start of the reported period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum PeriodStart {
    /// So many milliseconds ago.
    Ago(u64),
    /// A day, counted from 1970.
    Day(i64),
    /// The beginning.
    Ever,
}

impl PeriodStart {
    pub(in crate::cli) fn parse(given: Option<&str>) -> Result<Self> {
        let Some(text) = given else { return Ok(Self::of(DEFAULT)) };
        if let Some(day) = date_to_day(text.trim()) {
            return Ok(Self::Day(day));
        }
        match Ttl::parse_with_unit("--since", text) {
            Ok(Ttl::Off) | Err(_) => Err(Error::usage(format!(
                "invalid --since {text:?}: expected a duration such as 7d, forever, or a date such as 2026-11-01"
            ))),
            Ok(ttl) => Ok(Self::of(ttl)),
        }
    }

    fn of(ttl: Ttl) -> Self {
        ttl.as_millis().map_or(Self::Ever, Self::Ago)
    }

    /// Beginning of the first day.
    pub(in crate::cli) fn start(self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(self.first_day(now).saturating_mul(DAY.cast_signed()))
    }

    /// First day to count, as a whole: `7d` are seven days, today included.
    pub(in crate::cli) fn first_day(self, now: Timestamp) -> i64 {
        match self {
            Self::Day(day) => day,
            Self::Ever => i64::MIN,
            Self::Ago(millis) => {
                let days = i64::try_from(millis.div_ceil(DAY)).unwrap_or(i64::MAX);
                day_number(now).saturating_sub(days.saturating_sub(1))
            }
        }
    }
}
