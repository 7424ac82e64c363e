//! `recoup cache ls`.

use clap::Args;
use recoup_core::store::Flow;

use super::report::Report;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, human, ui};

/// Keys are cut to this many characters; `show` takes them as they are shown.
const KEY_CHARS: usize = 16;

/// List what is kept, the newest first.
#[derive(Debug, Args)]
pub(super) struct LsArgs {
    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

impl LsArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let mut reports = collect(app)?;
        reports.truncate(self.limit.unwrap_or(usize::MAX));
        if self.json {
            ui::json(&reports)?;
        } else if reports.is_empty() {
            ui::say(format_args!("Nothing is kept in {}", app.scope()));
        } else {
            let headings = ["KEY", "KIND", "STORED", "EXPIRES", "SIZE", "HITS", "ABOUT"];
            ui::table(&headings, &reports.iter().map(row).collect::<Vec<_>>())?;
        }
        Ok(Answer::Yes)
    }
}

fn collect(app: &App) -> recoup_core::Result<Vec<Report>> {
    let cache = app.cache();
    let now = cache.clock().now();
    let mut reports = Vec::new();
    cache.scan(&app.scope(), &mut |id, head| {
        match head {
            Ok(head) => reports.push(Report::new(id, head, now)),
            Err(error) => ui::warn(format_args!("{}: {error}", id.key)),
        }
        Flow::Continue(())
    })?;
    reports.sort_unstable_by(|a, b| a.age.cmp(&b.age).then_with(|| a.key.cmp(&b.key)));
    Ok(reports)
}
fn row(report: &Report) -> Vec<String> {
    vec![
        report.key.chars().take(KEY_CHARS).collect(),
        report.kind.clone(),
        report.age(),
        report.expiry(),
        human::size(report.size),
        report.hits.to_string(),
        report.about(),
    ]
}
