//! `recoup suggest`: what is paid for again and again, by the evidence of the logs, and what to add to
//! the configuration.

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::entry::day_number;
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::init::InitContext;
use super::stats::PeriodStart;
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{self, CommandPattern, FlagOverrides};
use crate::exec::command_log::{CommandEvidence, CommandLog, evidence_of};
use crate::human;
use crate::install::{AnswerValue, install_changes, plan_keys};
use crate::toolbox::{CachingAdvice, CallLog, CallStatsCollector};

/// Fewest runs without a change that count as evidence.
const MIN_REPEATS: u64 = 2;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct SuggestArgs {
    /// Start of the period: a duration such as 7d, or a date such as 2026-11-01
    #[arg(long, value_name = "DURATION|DATE", default_value = "7d", allow_hyphen_values = true)]
    since: String,
    /// All projects, and not only this one
    #[arg(long)]
    all: bool,
    /// Add the suggested commands to your configuration
    #[arg(long, conflicts_with = "json")]
    apply: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Hooks note which commands agents run for a second or longer, with digests of their output and of \
the project's files, but neither the lines nor the output. A command is suggested if it ran again \
although no file had changed, and printed the same (but for numbers). Nothing is answered from the \
cache before it is in your configuration:

  [commands]
  \"cargo test *\" = { failures = true }
  \"npm run lint\" = \"1h\"

Name only commands that you run for what they print: a replay writes no files. `outputs = [\"dist\"]` \
runs a command again if these files are not as it left them.";

/// The report. The JSON is read by programs: fields are only added.
#[derive(Debug, Serialize)]
struct SuggestReport {
    commands: Vec<CommandSuggestion>,
    /// Commands whose output differed although no file had changed.
    unstable: Vec<CommandEvidence>,
    /// Clients that were started with the same prompt again.
    agents: Vec<CommandEvidence>,
    tools: Vec<CachingAdvice>,
}

#[derive(Debug, Serialize)]
struct CommandSuggestion {
    #[serde(flatten)]
    evidence: CommandEvidence,
    /// Line for the table `commands`.
    line: String,
}

impl SuggestArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load(&FlagOverrides::default())?;
        let report = self.gather(app)?;
        if self.json {
            ui::json(&report)?;
            return Ok(CommandAnswer::Yes);
        }
        report.print()?;
        if self.apply {
            report.apply(app)?;
        } else if !report.commands.is_empty() {
            ui::say("`recoup suggest --apply` adds these commands to your configuration");
        }
        Ok(CommandAnswer::Yes)
    }

    fn gather(&self, app: &App) -> Result<SuggestReport> {
        let first = PeriodStart::parse(Some(&self.since))?.first_day(SystemClock.now());
        let project = app.settings.project.id().to_string();
        let mut lines = CommandLog::below(&app.settings.home).read()?;
        lines.retain(|it| day_number(it.at) >= first && (self.all || it.project == project));
        let mut collector = CallStatsCollector::default();
        CallLog::below(&app.settings.home).for_each(|line| {
            if day_number(line.at) >= first {
                collector.add(line);
            }
        })?;
        let mut tools: Vec<CachingAdvice> =
            collector.finish().into_iter().filter_map(|it| it.advice).collect();
        tools.sort_by_key(|it| std::cmp::Reverse(it.would_save_millis));
        let mut report =
            SuggestReport { commands: Vec::new(), unstable: Vec::new(), agents: Vec::new(), tools };
        for evidence in evidence_of(&lines) {
            let is_named = |pattern: &str| {
                let rules = &app.settings.commands.rules;
                rules.iter().any(|rule| rule.pattern.as_str() == pattern)
            };
            match evidence.pattern.as_deref() {
                _ if evidence.unchanged < MIN_REPEATS => {}
                _ if evidence.is_agent => report.agents.push(evidence),
                Some(pattern) if is_named(pattern) => {}
                _ if evidence.same * 2 < evidence.unchanged => report.unstable.push(evidence),
                Some(pattern) if CommandPattern::parse(pattern).is_some() => {
                    let line = suggested_line(pattern, evidence.failures);
                    report.commands.push(CommandSuggestion { evidence, line });
                }
                _ => {}
            }
        }
        Ok(report)
    }
}

fn suggested_line(pattern: &str, failures: bool) -> String {
    let value = if failures { "{ failures = true }" } else { "\"1d\"" };
    format!("{pattern:?} = {value}")
}

impl SuggestReport {
    fn is_empty(&self) -> bool {
        let Self { commands, unstable, agents, tools } = self;
        commands.is_empty() && unstable.is_empty() && agents.is_empty() && tools.is_empty()
    }

    fn print(&self) -> Result<(), CommandError> {
        if self.is_empty() {
            ui::say(
                "Nothing to suggest yet: no command of an agent ran twice for a second or longer \
                 without a change in between",
            );
            return Ok(());
        }
        for CommandSuggestion { evidence, line } in &self.commands {
            ui::line(ui::printable(&describe(evidence)))?;
            ui::line(format_args!("  {}", ui::printable(line)))?;
        }
        for evidence in &self.agents {
            ui::line(ui::printable(&describe(evidence)))?;
            ui::line("  put `recoup exec --source . --` in front of it")?;
        }
        for advice in &self.tools {
            ui::line(format_args!(
                "{}: {} calls were repeated with the same arguments and result: {}",
                ui::printable(&advice.section),
                human::count(advice.would_hit),
                human::duration(advice.would_save_millis)
            ))?;
            ui::line(format_args!("  {}", ui::printable(&advice.line)))?;
        }
        for evidence in &self.unstable {
            ui::line(format_args!(
                "{} is not suggested: {} of {} runs without a changed file printed something else",
                ui::printable(&evidence.kind),
                human::count(evidence.unchanged - evidence.same),
                human::count(evidence.unchanged)
            ))?;
        }
        Ok(())
    }

    /// Adds the suggested commands to the user's configuration.
    fn apply(&self, app: &App) -> Result<()> {
        if self.commands.is_empty() {
            return Ok(());
        }
        let InitContext { places, config: path, .. } = InitContext::find()?;
        let (truth, ttl) = (AnswerValue::Truth(true), AnswerValue::Word("1d".to_owned()));
        let keys = self.commands.iter().filter_map(|it| {
            let pattern = it.evidence.pattern.as_deref()?;
            Some(if it.evidence.failures {
                (vec!["commands", pattern, "failures"], &truth)
            } else {
                (vec!["commands", pattern], &ttl)
            })
        });
        let change = plan_keys(&path, &keys.collect::<Vec<_>>(), &places)?;
        let shown = places.display_path(&path);
        for text in [&change.before, &change.after] {
            let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default());
            if let Some(problem) = config::problems_of_user_file(&text, &shown).first() {
                let message = format!("{problem}; nothing was changed (`recoup config check`)");
                return Err(Error::new(ErrorKind::Invalid, message));
            }
        }
        install_changes(&[change], &app.settings.home, SystemClock.now())?;
        let count = self.commands.len();
        ui::say(format_args!("{count} added to {shown}"));
        if !app.settings.commands.allows_replays {
            ui::say(
                "Allow replays where your agent runs without asking: add \"Bash(recoup replay:*)\" to \
                 permissions.allow of Claude Code, or set replay.allow = true",
            );
        }
        Ok(())
    }
}

/// "cargo test ran 41 times, 17 times with no file changed since its last run, 17 of them with the
/// same output: 23 min"
fn describe(evidence: &CommandEvidence) -> String {
    let CommandEvidence { kind, runs, unchanged, same, same_millis, .. } = evidence;
    format!(
        "{kind} ran {} times, {} times with no file changed since its last run, {} of them with the \
         same output: {}",
        human::count(*runs),
        human::count(*unchanged),
        human::count(*same),
        human::duration(*same_millis)
    )
}
