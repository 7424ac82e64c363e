//! `recoup memory report`: how often rules were given, used and repeated.

use clap::Args;
use recoup_core::memory::learn::{CheckEffect, RuleEffect};
use recoup_core::memory::{CheckStrength, NoteFilter};
use serde::Serialize;

use super::NoteReport;
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(super) struct MemoryReportArgs {
    /// In all projects
    #[arg(long)]
    all: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

const HEADINGS: [&str; 6] = ["ID", "GIVEN", "USED", "REPEATED", "CALLS AFTER IT", "TEXT"];

/// A rule and its usage counts.
#[derive(Debug, Serialize)]
struct RuleUsageLine {
    #[serde(flatten)]
    note: NoteReport,
    given: u64,
    cited: u64,
    repeated: u64,
    succeeded: u64,
    failed: u64,
    /// Effect of its check, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckUsage>,
}

/// Counts of a rule's check.
#[derive(Debug, Serialize)]
struct CheckUsage {
    broken_before: u64,
    kept: u64,
    kept_because: u64,
    broken: u64,
    broken_after_reminder: u64,
    reminded: u64,
    asked: u64,
    overridden: u64,
    blocked: u64,
    proposed: Option<CheckStrength>,
}

impl CheckUsage {
    fn new(it: &CheckEffect) -> Self {
        Self {
            broken_before: it.broken_before,
            kept: it.kept,
            kept_because: it.kept_because,
            broken: it.broken,
            broken_after_reminder: it.broken_after_reminder,
            reminded: it.reminded,
            asked: it.asked,
            overridden: it.overridden,
            blocked: it.blocked,
            proposed: it.needs_strength().then_some(CheckStrength::Ask),
        }
    }
}

impl MemoryReportArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let mut wanted = NoteFilter::active_in(&app.note_scope(false));
        if self.all {
            wanted.scopes.clear();
        }
        let memory = app.memory();
        let report = memory.rule_effects(&wanted)?;
        let checks = memory.check_effects(&wanted)?;
        if self.json {
            let line = |it: &RuleEffect| {
                let of_rule = |check: &&CheckEffect| check.rule.note.id == it.note.id;
                RuleUsageLine::new(it, checks.iter().find(of_rule))
            };
            ui::json(&report.iter().map(line).collect::<Vec<_>>())?;
        } else if report.is_empty() {
            ui::say("No rules here yet; use `recoup memory add` to add one");
        } else {
            let count = |what: fn(&RuleEffect) -> bool| report.iter().filter(|it| what(it)).count();
            let summary = format!(
                "{} rule{} in the last 90 days: {} used, {} repeated by you, {} never given to an agent\n\n",
                report.len(),
                if report.len() == 1 { "" } else { "s" },
                count(|it| it.cited > 0),
                count(|it| it.repeated > 0),
                count(|it| it.given == 0),
            );
            ui::data(&[summary.as_bytes()])?;
            let mut rows = ui::RowStream::new(&HEADINGS);
            let often = |count: u64| if count == 0 { String::new() } else { count.to_string() };
            for it in &report {
                let after = match (it.succeeded, it.failed) {
                    (0, 0) => String::new(),
                    (worked, failed) => format!("{worked} worked, {failed} failed"),
                };
                rows.add(vec![
                    it.note.id.to_string(),
                    often(it.given),
                    often(it.cited),
                    often(it.repeated),
                    after,
                    it.note.text.clone(),
                ])?;
            }
            rows.finish()?;
            print_checks(&checks)?;
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Prints a sentence about each rule with a check that concerned a call, and proposes a stronger
/// check for those that a reminder did not keep.
fn print_checks(checks: &[CheckEffect]) -> Result<(), CommandError> {
    let met: Vec<_> = checks.iter().filter(|it| it.concerned() > 0).collect();
    if met.is_empty() {
        return Ok(());
    }
    ui::data(&[b"\nRules compared with what agents did:\n"])?;
    for it in &met {
        ui::data(&[format!(
            "  {}  {}: {}\n",
            it.rule.note.id,
            it.rule.note.text,
            describe_effect(it)
        )
        .as_bytes()])?;
    }
    for it in met.iter().filter(|it| it.needs_strength()) {
        let id = &it.rule.note.id;
        let why = if it.repeated > 0 { "you had to repeat it" } else { "broken after a reminder" };
        ui::say(format_args!("{why}: `recoup memory enforce {id} ask` makes the client ask you"));
    }
    Ok(())
}

/// Describes what became of a rule: "kept 37 of 38 times since Monday, 3 times because of the
/// reminder".
fn describe_effect(it: &CheckEffect) -> String {
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let since = it.since.map_or(String::new(), |at| format!(" since {}", &at.to_string()[..10]));
    let kept = if it.kept == 0 && it.blocked == 0 {
        format!("broken {}{since}", times(it.broken))
    } else {
        let concerned = it.concerned();
        let kept = it.kept + it.blocked;
        format!("kept {kept} of {concerned} times{since}")
    };
    let parts = [
        (it.kept_because, "because of the reminder"),
        (it.blocked, "because the call was refused"),
        (it.overridden, "broken with your consent"),
        (it.broken_before, "broken before you said it"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| format!("{} {what}", times(*count)));
    std::iter::once(kept).chain(parts).collect::<Vec<_>>().join(", ")
}

impl RuleUsageLine {
    fn new(it: &RuleEffect, check: Option<&CheckEffect>) -> Self {
        Self {
            check: check.map(CheckUsage::new),
            note: NoteReport::new(&it.note),
            given: it.given,
            cited: it.cited,
            repeated: it.repeated,
            succeeded: it.succeeded,
            failed: it.failed,
        }
    }
}
