//! `recoup mcp stats`: calls, hits and savings of each tool behind the proxy, and which tools would
//! be worth caching, with the line to add.

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::entry::day_number;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::cmd::stats::PeriodStart;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::{ConfigFile, FlagOverrides};
use crate::toolbox::{
    CallLog, CallStatsCollector, READ_ONLY_SAFEGUARDS, ReadOnlyConcern, ToolStats,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct McpStatsArgs {
    /// Only this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// From when on: a duration such as 7d, or a date such as 2026-11-01 [default: 30d]
    #[arg(long, value_name = "DURATION|DATE", allow_hyphen_values = true)]
    since: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Calls are counted by `recoup mcp proxy`, whether they are cached or not. Savings assume that a hit
would have taken as long as the server's calls of that tool on average. A tool is proposed for
caching if calls were repeated with the same arguments, and gave the same result.";

/// The report. The JSON is read by programs: fields are only added.
#[derive(Debug, Serialize)]
struct McpStatsReport {
    tools: Vec<ToolStats>,
    /// The user's configuration, to which advice is added.
    config: String,
    /// Words in names of tools that `readOnlyTools` never caches.
    never_cached_words: Vec<&'static str>,
    /// Words in names and properties of tools that `readOnlyTools` caches with sources only.
    sources_needed_words: Vec<&'static str>,
}

impl McpStatsArgs {
    pub(super) fn run(self) -> CommandResult {
        let Self { server, since, json } = self;
        let first = PeriodStart::parse(since.as_deref())?.first_day(SystemClock.now());
        let app = App::load(&FlagOverrides::default())?;
        let mut collector = CallStatsCollector::default();
        CallLog::below(&app.settings.home).for_each(|line| {
            let is_named = server.as_ref().is_none_or(|server| *server == line.server);
            if is_named && day_number(line.at) >= first {
                collector.add(line);
            }
        })?;
        let words = |concerns: &[ReadOnlyConcern]| -> Vec<&'static str> {
            let mut rows: Vec<_> = READ_ONLY_SAFEGUARDS
                .iter()
                .filter(|row| concerns.contains(&row.concern))
                .map(|row| row.word)
                .collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        let report = McpStatsReport {
            tools: collector.finish(),
            config: app.settings.home.join(ConfigFile::User.name()).display().to_string(),
            never_cached_words: words(&[ReadOnlyConcern::ClockOrChance]),
            sources_needed_words: words(&[
                ReadOnlyConcern::FilesByName,
                ReadOnlyConcern::FilesByProperty,
            ]),
        };
        if json {
            ui::json(&report)?;
        } else if report.tools.is_empty() {
            ui::say("No calls yet: `recoup mcp wrap` puts the proxy in front of your MCP servers");
        } else {
            report.print()?;
        }
        Ok(CommandAnswer::Yes)
    }
}

impl McpStatsReport {
    fn print(&self) -> CommandResult {
        let row = |it: &ToolStats| {
            let mean = it.mean_millis.map_or_else(|| "-".to_owned(), human::duration);
            let saved = match it.hits {
                0 => "-".to_owned(),
                _ => {
                    format!("{}, {}", human::duration(it.saved_millis), human::size(it.saved_bytes))
                }
            };
            vec![
                it.server.clone(),
                it.tool.clone(),
                human::count(it.calls),
                human::count(it.hits),
                human::count(it.errors),
                mean,
                saved,
                it.not_cached.clone().unwrap_or_default(),
            ]
        };
        let rows: Vec<Vec<String>> = self.tools.iter().map(row).collect();
        ui::table(
            &["server", "tool", "calls", "hits", "errors", "mean", "saved", "not cached"],
            &rows,
        )?;
        let advised: Vec<_> =
            self.tools.iter().filter_map(|it| Some((it, it.advice.as_ref()?))).collect();
        if !advised.is_empty() {
            let config = ui::printable(&self.config);
            ui::line(format_args!("\nWorth caching; add to {config}:"))?;
        }
        let mut section = "";
        for (stats, advice) in advised {
            if section != advice.section {
                section = &advice.section;
                ui::line(format_args!("  {}", ui::printable(section)))?;
            }
            ui::line(format_args!("  {}", ui::printable(&advice.line)))?;
            let mut why = format!(
                "{} of {} calls repeated an earlier one and gave the same result: {}",
                human::count(advice.would_hit),
                human::count(stats.calls),
                human::duration(advice.would_save_millis)
            );
            if advice.is_undeclared {
                why.push_str("; make sure that it only reads");
            }
            if advice.lacks_sources {
                why.push_str("; fill in the sources: the files that it reads");
            } else if advice.needs_sources {
                why.push_str("; make sure that the sources are all files that it reads");
            }
            ui::line(format_args!("    # {why}"))?;
        }
        ui::line(format_args!(
            "\nreadOnlyTools never caches tools whose names have one of these words: {}; with one of \
             these, only if sources are given: {}",
            self.never_cached_words.join(", "),
            self.sources_needed_words.join(", ")
        ))?;
        Ok(CommandAnswer::Yes)
    }
}
