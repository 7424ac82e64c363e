//! `recoup cache ls`.

use clap::Args;
use recoup_core::store::{ScanFilter, ScanFlow};

use super::find;
use super::report::EntryReport;
use crate::cli::app::AppContext;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, human, ui};

/// Length of abbreviated generated keys, which every command accepts.
const KEY_CHARS: usize = 16;

/// List what is kept, the newest first.
///
/// A terminal shows the newest 50 and how many more there are.
#[derive(Debug, Args)]
pub(super) struct LsArgs {
    /// Show at most this many
    #[arg(long, value_name = "N", conflicts_with = "all")]
    limit: Option<usize>,
    /// Show all of them, also on a terminal
    #[arg(long)]
    all: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

impl LsArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let is_page = !self.json && !self.all && self.limit.is_none() && ui::stdout_is_terminal();
        let limit = self.limit.unwrap_or(if is_page { ui::PAGE_ROWS } else { usize::MAX });
        if self.json {
            ui::json_list(|write| for_each_entry(app, limit, |report| write(&report)))?;
            return Ok(CommandAnswer::Yes);
        }
        let mut rows =
            ui::RowStream::new(&["KEY", "KIND", "STORED", "EXPIRES", "SIZE", "HITS", "ABOUT"]);
        for_each_entry(app, limit, |report| rows.add(row(&report)))?;
        if !rows.finish()? {
            ui::say(format_args!("Nothing is kept in {}", app.scope()));
        } else if is_page {
            let more =
                app.cache().usage(&app.scope())?.entries.saturating_sub(ui::PAGE_ROWS as u64);
            if more > 0 {
                ui::say(format_args!("… {} more: --limit N, --all", human::count(more)));
            }
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Passes the newest entries to `show` as they are read, until it fails.
fn for_each_entry(
    app: &AppContext,
    limit: usize,
    mut show: impl FnMut(EntryReport) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let cache = app.cache();
    let now = cache.clock().now();
    let filter = ScanFilter { newest: Some(limit), ..ScanFilter::of_scope(&app.scope()) };
    let mut shown = Ok(());
    cache.scan_filtered(&filter, &mut |id, head| {
        match head {
            Ok(head) => shown = show(EntryReport::new(id, head, now)),
            Err(error) => ui::warn(format_args!("{}: {error}", id.key)),
        }
        if shown.is_ok() { ScanFlow::Continue(()) } else { ScanFlow::Break(()) }
    })?;
    shown
}

fn row(report: &EntryReport) -> Vec<String> {
    let is_cut = find::is_generated(&report.key);
    vec![
        report.key.chars().take(if is_cut { KEY_CHARS } else { usize::MAX }).collect(),
        report.kind.clone(),
        report.age(),
        report.expiry(),
        human::size(report.size),
        report.hits.to_string(),
        report.about(),
    ]
}
