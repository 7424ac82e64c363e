//! `recoup watch`: cache events of all processes, as they happen.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use recoup_core::entry::{Event, Happening, Saved};
use recoup_core::ledger::Follow;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::projects::Names;
use crate::cli::ui::{padded, printable};
use crate::cli::{Answer, Ended, human, ui};
use crate::config::Overrides;

/// Polling interval: seems immediate, and costs next to nothing.
const STEP: Duration = Duration::from_millis(150);

const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();

/// Show hits and misses as they happen, in all processes.
#[derive(Debug, Args)]
pub(in crate::cli) struct WatchArgs {
    /// Hits and misses alone, without what is stored, refused or removed
    #[arg(long)]
    look_ups: bool,
    /// One JSON object on each line
    #[arg(long)]
    json: bool,
}

/// An event in the `--json` output.
#[derive(Serialize)]
struct Line<'a> {
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
    saved: Option<Saved>,
}

impl WatchArgs {
    /// Runs until it is interrupted or its reader is gone.
    pub(in crate::cli) fn run(self) -> Ended {
        let app = App::load(&Overrides::default())?;
        if !app.settings.notes.ledger {
            ui::warn("nothing is noted in this directory: ledger.enabled is false");
        }
        let mut follow = Follow::all_in(app.settings.home.join("ledger"))?;
        if !self.json {
            ui::aside("Watching; stop with Ctrl-C.");
        }
        let mut names = Names::read(&app.settings.home);
        loop {
            let news = follow.news()?;
            for event in news.iter().filter(|event| self.wants(event)) {
                if self.json {
                    ui::compact_json(&line(event))?;
                    continue;
                }
                if names.root(&event.id.scope).is_none() {
                    names = Names::read(&app.settings.home);
                }
                ui::picture(&format!("{}\n", told(event, &names)))?;
            }
            if ui::reader_leaves_within(STEP) {
                return Ok(Answer::Yes);
            }
        }
    }

    fn wants(&self, event: &Event) -> bool {
        !self.look_ups || event.what == Happening::Hit || event.what.is_miss()
    }
}

fn line(event: &Event) -> Line<'_> {
    let Event { at, id, kind, what, count, detail } = event;
    Line {
        at: at.to_string(),
        what: what.as_str(),
        count: *count,
        kind: kind.as_str(),
        scope: id.scope.as_str(),
        key: id.key.as_str(),
        identity: detail.by.as_deref(),
        stored_identity: detail.stored_by.as_deref(),
        age_ms: detail.age,
        reason: detail.why.as_ref().map(recoup_core::entry::Why::code),
        explained: detail.why.as_ref().map(ToString::to_string),
        saved: saved(event),
    }
}

/// Savings of a hit, as far as known.
fn saved(event: &Event) -> Option<Saved> {
    let saved = Saved::by_hits(&event.detail.cost, event.count);
    (event.what == Happening::Hit && !saved.is_nothing()).then_some(saved)
}

/// `12:00:07  hit          command    claude           3h  my-project  saved 12s · $0.04`
fn told(event: &Event, names: &Names) -> String {
    let Event { at, id, kind, what, count, detail } = event;
    let style = match what {
        Happening::Hit => GREEN,
        miss if miss.is_miss() => YELLOW,
        _ => DIM,
    };
    let time: String = at.to_string().chars().skip(11).take(8).collect();
    let by = match (&detail.by, &detail.stored_by) {
        (Some(by), Some(stored)) => format!("{by} ({stored})"),
        (by, _) => by.clone().unwrap_or_else(|| id.key.to_string()),
    };
    let age = detail.age.map_or(String::new(), human::span);
    let mut more: Vec<String> = Vec::new();
    more.extend((*count > 1).then(|| format!("{count} times")));
    more.extend(detail.why.as_ref().map(ToString::to_string));
    more.extend(saved(event).map(|saved| format!("saved {}", human::saved(saved).join(" · "))));
    let text = format!(
        "{DIM}{time}Z{DIM:#}  {style}{:<11}{style:#}  {:<9}  {} {age:>5}  {}  {}",
        what.as_str(),
        kind.as_str(),
        padded(&by, 20),
        padded(&names.of(&id.scope), 18),
        printable(&more.join(" · ")),
    );
    text.trim_end().to_owned()
}
