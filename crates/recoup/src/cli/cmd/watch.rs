//! `recoup watch`: cache events of all processes, as they happen.

use std::time::Duration;

use clap::Args;
use recoup_core::entry::{CostSavings, EntryEvent, EntryEventKind};
use recoup_core::ledger::LedgerFollower;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::projects::ProjectNames;
use crate::cli::ui::{DIM, GREEN, YELLOW, padded, printable};
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::FlagOverrides;

/// Polling interval: seems immediate, and costs next to nothing.
const POLL_INTERVAL: Duration = Duration::from_millis(150);

#[derive(Debug, Args)]
pub(in crate::cli) struct WatchArgs {
    /// Show only hits and misses, not entries that are stored, refused or removed
    #[arg(long)]
    look_ups: bool,
    /// One JSON object on each line
    #[arg(long)]
    json: bool,
}

/// An event in the `--json` output.
#[derive(Serialize)]
struct WatchLine<'a> {
    at: String,
    what: &'static str,
    count: u64,
    kind: &'static str,
    scope: &'a str,
    key: &'a str,
    identity: Option<&'a str>,
    stored_identity: Option<&'a str>,
    age_ms: Option<u64>,
    reason: Option<&'static str>,
    explained: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved: Option<CostSavings>,
}

impl WatchArgs {
    /// Runs until it is interrupted or its reader is gone.
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load(&FlagOverrides::default())?;
        if !app.settings.usage_log.ledger {
            ui::warn("look-ups in this directory are not shown: ledger.enabled is false");
        }
        let mut follow = LedgerFollower::all_in(app.settings.home.join("ledger"))?;
        if !self.json {
            ui::say_dimmed("Watching; stop with Ctrl-C.");
        }
        let mut names = ProjectNames::read(&app.settings.home);
        loop {
            let news = follow.poll_events()?;
            let is_lookup = |it: &EntryEvent| it.what == EntryEventKind::Hit || it.what.is_miss();
            for event in news.iter().filter(|event| !self.look_ups || is_lookup(event)) {
                if self.json {
                    ui::compact_json(&json_line(event))?;
                    continue;
                }
                if names.root(&event.id.scope).is_none() {
                    names = ProjectNames::read(&app.settings.home);
                }
                ui::print_styled(&format!("{}\n", event_text(event, &names)))?;
            }
            if ui::wait_for_reader_exit(POLL_INTERVAL) {
                return Ok(CommandAnswer::Yes);
            }
        }
    }
}

fn json_line(event: &EntryEvent) -> WatchLine<'_> {
    let EntryEvent { at, id, kind, what, count, detail } = event;
    WatchLine {
        at: at.to_string(),
        what: what.as_str(),
        count: *count,
        kind: kind.as_str(),
        scope: id.scope.as_str(),
        key: id.key.as_str(),
        identity: detail.by.as_deref(),
        stored_identity: detail.stored_by.as_deref(),
        age_ms: detail.age,
        reason: detail.why.as_ref().map(recoup_core::entry::EventReason::code),
        explained: detail.why.as_ref().map(ToString::to_string),
        saved: saved(event),
    }
}

/// Savings of a hit, as far as known.
fn saved(event: &EntryEvent) -> Option<CostSavings> {
    let saved = CostSavings::by_hits(&event.detail.cost, event.count);
    (event.what == EntryEventKind::Hit && !saved.is_zero()).then_some(saved)
}

/// `12:00:07  hit          command    claude           3h  my-project  saved 12s · $0.04`
fn event_text(event: &EntryEvent, names: &ProjectNames) -> String {
    let EntryEvent { at, id, kind, what, count, detail } = event;
    let style = match what {
        EntryEventKind::Hit => GREEN,
        miss if miss.is_miss() => YELLOW,
        _ => DIM,
    };
    let time: String = at.to_string().chars().skip(11).take(8).collect();
    let by = match (&detail.by, &detail.stored_by) {
        (Some(by), Some(stored)) => format!("{by} ({stored})"),
        (by, _) => by.clone().unwrap_or_else(|| id.key.to_string()),
    };
    let age = detail.age.map_or(String::new(), human::short_duration);
    let mut more: Vec<String> = Vec::new();
    more.extend((*count > 1).then(|| format!("{count} times")));
    more.extend(detail.why.as_ref().map(ToString::to_string));
    more.extend(saved(event).map(|saved| format!("saved {}", human::savings(saved).join(" · "))));
    let text = format!(
        "{DIM}{time}Z{DIM:#}  {style}{:<11}{style:#}  {:<9}  {} {age:>5}  {}  {}",
        what.as_str(),
        kind.as_str(),
        padded(&by, 20),
        padded(&names.display_name(&id.scope), 18),
        printable(&more.join(" · ")),
    );
    text.trim_end().to_owned()
}
