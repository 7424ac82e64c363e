//! `recoup waste`: what was paid for twice, by the clients' own transcripts.

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::entry::CostSavings;
use serde::Serialize;

use super::learn::{client_dirs, find_with_progress};
use super::stats::PeriodStart;
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{FlagOverrides, prices};
use crate::human;
use crate::transcripts::find::find_transcripts;
use crate::transcripts::parallel::ReadAmount;
use crate::waste::{WasteKind, WasteRequest, WasteSums, WastedWork, find_waste};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct WasteArgs {
    /// Start of the period: a duration such as 7d, or a date such as 2026-11-01
    #[arg(long, value_name = "DURATION|DATE", default_value = "30d", allow_hyphen_values = true)]
    since: String,
    /// Only this project
    #[arg(long)]
    project: bool,
    /// Maximum number of commands, files, corrections and causes to show of each kind
    #[arg(long, value_name = "N", default_value_t = 3)]
    top: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Reads what Claude Code, Codex and Pi have written down on this machine, and sends nothing anywhere. \
Tokens are the clients' own figures; dollars are list prices, or your own (`prices` in the configuration). A call \
has its share of the request that made it. What may have changed a file ends all claims before it, \
so this is the least that was paid twice.";

/// Limits of the figures.
const LIMITS: [&str; 4] = [
    "changes that you made by hand or in other programs are not in transcripts: a repetition may have had a reason",
    "times include waiting for a permission; a turn has everything up to your next prompt",
    "cached input of other models than Claude counts in full, and models without a known price have no dollars",
    "kinds may overlap: a repeated command may be part of a repeated correction's turn",
];

/// The report. The JSON is read by programs: fields are only added.
#[derive(Debug, Serialize)]
struct WasteReport<'a> {
    since: &'a str,
    transcripts: usize,
    bytes: u64,
    unreadable: usize,
    /// All requests of the period.
    requests: WasteFigures,
    prices: String,
    kinds: Vec<KindReport<'a>>,
    limits: [&'static str; 4],
}

#[derive(Debug, Serialize)]
struct WasteFigures {
    times: u64,
    #[serde(flatten)]
    cost: CostSavings,
    /// Requests without a known price.
    unpriced: u64,
}

#[derive(Debug, Serialize)]
struct KindReport<'a> {
    kind: &'static str,
    #[serde(flatten)]
    figures: WasteFigures,
    command: &'static str,
    subjects: Vec<SubjectReport<'a>>,
}

#[derive(Debug, Serialize)]
struct SubjectReport<'a> {
    subject: &'a str,
    #[serde(flatten)]
    figures: WasteFigures,
}

impl From<WastedWork> for WasteFigures {
    fn from(work: WastedWork) -> Self {
        let WastedWork { times, cost, unpriced } = work;
        Self { times, cost, unpriced }
    }
}

impl WasteArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load(&FlagOverrides::default())?;
        let period = PeriodStart::parse(Some(&self.since))?;
        let since = period.start(SystemClock.now());
        let sources = find_transcripts(&client_dirs(app), since);
        let learned = find_with_progress(app, &app.memory(), &sources, period, self.project)?;
        let request = WasteRequest {
            home: app.settings.home.clone(),
            sources: &sources,
            since,
            project: self.project.then(|| app.settings.project.id().clone()),
            prices: &app.settings.prices,
            repeated: &learned.repeated,
        };
        let mut bar = ui::ProgressDisplay::new("Counting (MiB)");
        let (sums, amount) = find_waste(&request, &mut |done, all| bar.show_mebibytes(done, all));
        bar.finish();
        if self.json {
            let prices = app.settings.prices.describe();
            ui::json(&self.report(&sums, sources.len(), amount, prices))?;
        } else {
            self.print(&sums, sources.len(), amount)?;
        }
        Ok(CommandAnswer::Yes)
    }

    fn report<'a>(
        &'a self,
        sums: &'a WasteSums<'_>,
        transcripts: usize,
        amount: ReadAmount,
        prices: String,
    ) -> WasteReport<'a> {
        let kinds = WasteKind::ALL.into_iter().map(|kind| {
            let subjects = sums.subjects(kind);
            let report = |(subject, work): &(&'a str, WastedWork)| SubjectReport {
                subject,
                figures: (*work).into(),
            };
            KindReport {
                kind: kind.as_str(),
                figures: total(&subjects).into(),
                command: kind.remedy().0,
                subjects: subjects.iter().take(self.top).map(report).collect(),
            }
        });
        WasteReport {
            since: &self.since,
            transcripts,
            bytes: amount.bytes,
            unreadable: amount.unreadable,
            requests: sums.all.into(),
            prices,
            kinds: kinds.collect(),
            limits: LIMITS,
        }
    }

    fn print(
        &self,
        sums: &WasteSums<'_>,
        transcripts: usize,
        amount: ReadAmount,
    ) -> Result<(), CommandError> {
        ui::say(format_args!(
            "{} transcripts ({}), {} requests since {}: {}",
            human::count(transcripts as u64),
            human::size(amount.bytes),
            human::count(sums.all.times),
            self.since,
            describe_cost(&sums.all)
        ));
        let mut is_empty = true;
        for kind in WasteKind::ALL {
            let subjects = sums.subjects(kind);
            if subjects.is_empty() {
                continue;
            }
            is_empty = false;
            ui::line(format_args!("{}: {}", kind.title(), describe(&total(&subjects))))?;
            for (subject, work) in subjects.iter().take(self.top) {
                ui::line(format_args!("  {}: {}", ui::printable(subject), describe(work)))?;
            }
            if subjects.len() > self.top {
                ui::line(format_args!("  and {} more", subjects.len() - self.top))?;
            }
            let (command, effect) = kind.remedy();
            ui::line(format_args!("  -> `{command}` {effect}"))?;
        }
        if is_empty {
            ui::say("Nothing was paid for twice, as far as transcripts tell");
            return Ok(());
        }
        ui::say_dimmed(format_args!(
            "Dollars are list prices of {}, cached input included",
            prices::DATE
        ));
        for limit in LIMITS {
            ui::say_dimmed(format_args!("Not known: {limit}"));
        }
        Ok(())
    }
}

fn total(subjects: &[(&str, WastedWork)]) -> WastedWork {
    let mut total = WastedWork::default();
    for (_, work) in subjects {
        total.add(work);
    }
    total
}

/// "12 times, 3m 5s · 45.0k tokens · $1.20"
fn describe(work: &WastedWork) -> String {
    let times = if work.times == 1 {
        "once".to_owned()
    } else {
        format!("{} times", human::count(work.times))
    };
    format!("{times}, {}", describe_cost(work))
}

fn describe_cost(work: &WastedWork) -> String {
    let parts = human::savings(work.cost);
    if parts.is_empty() { "no known cost".to_owned() } else { parts.join(" · ") }
}
