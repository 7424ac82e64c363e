//! `recoup learn`: rules that the user has stated to agents before, from the transcripts of clients.

mod show;

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::memory::{Memory, Note, NoteScope};
use recoup_core::{Error, ErrorKind, Result};

use super::stats::PeriodStart;
use crate::cli::app::App;
use crate::cli::failure::{CommandError, FaultPrinter};
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::clients::ClientDirs;
use crate::config::{FlagOverrides, env, find_client_dirs};
use crate::human;
use crate::learn::{LearnFindings, LearnRequest, LearnedRule, decide, find_rules};
use crate::transcripts::find::{TranscriptSource, find_transcripts};
use show::LearnReport;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct LearnArgs {
    /// Only what was said since: a duration such as 90d, or a date such as 2026-11-01 [default: all]
    #[arg(long, value_name = "DURATION|DATE", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only what was said in this project
    #[arg(long)]
    project: bool,
    /// Also what was said only once
    #[arg(long)]
    all: bool,
    /// Keep all rules that are shown, without asking
    #[arg(long, short)]
    yes: bool,
    /// As JSON; without --yes, nothing is kept
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Reads what Claude Code, Codex and Pi have written down on this machine, and sends nothing anywhere. \
One key decides about each rule: k keeps it in the projects in which you said it, a keeps it in all \
projects, d drops it for good, s skips it for now, q ends.

  recoup learn                 rules that you have stated more than once
  recoup learn --all           also those that you have stated once
  recoup learn --project       only in this project
  recoup learn --since 90d     only of the last 90 days
  recoup learn --yes           keep all that is shown";

impl LearnArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load(&FlagOverrides::default())?;
        let since = PeriodStart::parse(Some(self.since.as_deref().unwrap_or("forever")))?;
        let sources = find_transcripts(&client_dirs(app), since.start(SystemClock.now()));
        self.learn(app, &sources, since)
    }

    fn learn(&self, app: &App, sources: &[TranscriptSource], since: PeriodStart) -> CommandResult {
        let memory = app.memory();
        if let Some(reason) = memory.pause_reason(&NoteScope::Universal)? {
            return Err(Error::new(ErrorKind::Invalid, reason.to_string()).into());
        }
        let findings = find_with_progress(app, &memory, sources, since, self.project)?;
        let shown = |rule: &&LearnedRule| self.all || rule.is_repeated();
        let rules: Vec<&LearnedRule> = findings.rules.iter().filter(shown).collect();
        let mut report = LearnReport::new(&findings, &rules);
        if self.yes {
            let memory = app.memory_for_writing()?;
            let mut kept = KeptRules::default();
            for (rule, line) in rules.iter().zip(&mut report.rules) {
                let notes = kept.keep(&memory, rule, &findings, false)?;
                line.kept = notes.into_iter().map(|(note, _)| note.id.to_string()).collect();
            }
            kept.finish(app, &memory, &findings);
        }
        if self.json {
            ui::json(&report)?;
            return Ok(CommandAnswer::Yes);
        }
        show::print_summary(&findings, rules.len());
        if self.yes || !ui::can_ask() || rules.is_empty() {
            show::print_rules(&rules, &findings)?;
            show::print_left_out(&findings, &rules);
            if self.yes {
                ui::say(format_args!("{} kept", rules.len()));
            } else if !rules.is_empty() {
                ui::say(
                    "On a terminal, you decide about each; `recoup learn --yes` keeps them all",
                );
            }
            return Ok(CommandAnswer::Yes);
        }
        ask_about_each(app, &rules, &findings)?;
        show::print_left_out(&findings, &rules);
        Ok(CommandAnswer::Yes)
    }
}

/// Offers the search at the end of `recoup init`, if there are transcripts.
pub(super) fn offer() -> CommandResult {
    let app = App::load(&FlagOverrides::default())?;
    let since = PeriodStart::parse(Some("forever"))?;
    let sources = find_transcripts(&client_dirs(app), since.start(SystemClock.now()));
    let bytes: u64 = sources.iter().map(|it| it.bytes).sum();
    let question = format!(
        "Look in {} transcripts ({}) for rules that you have told agents before? Nothing leaves this \
         machine, and you decide about each.",
        human::count(sources.len() as u64),
        human::size(bytes)
    );
    if sources.is_empty() || !ui::confirm(question) {
        return Ok(CommandAnswer::Yes);
    }
    let args = LearnArgs { since: None, project: false, all: false, yes: false, json: false };
    args.learn(app, &sources, since)
}

pub(super) fn client_dirs(app: &App) -> ClientDirs {
    find_client_dirs(&app.settings.cwd)
}

/// Finds rules, with a progress bar.
pub(super) fn find_with_progress(
    app: &App,
    memory: &Memory,
    sources: &[TranscriptSource],
    since: PeriodStart,
    only_project: bool,
) -> Result<LearnFindings> {
    let request = LearnRequest {
        home: app.settings.home.clone(),
        memory,
        sources,
        since: since.start(SystemClock.now()),
        project: only_project.then(|| app.settings.project.id().clone()),
        hidden: &env::credentials(),
        keeps_headless: app.settings.keeps_headless,
        faults: Arc::new(FaultPrinter),
    };
    let mut bar = ui::ProgressDisplay::new("Listening (MiB)");
    let found = find_rules(&request, &mut |done, all| bar.show_mebibytes(done, all));
    bar.finish();
    found
}

/// Rules that were kept: where, so that all who have copies can be told.
#[derive(Default)]
struct KeptRules {
    scopes: BTreeSet<NoteScope>,
    places: BTreeSet<usize>,
}

impl KeptRules {
    fn keep(
        &mut self,
        memory: &Memory,
        rule: &LearnedRule,
        findings: &LearnFindings,
        everywhere: bool,
    ) -> Result<Vec<(Note, Vec<Note>)>> {
        let kept = decide::keep_rule(memory, rule, findings, everywhere)?;
        self.scopes.extend(kept.iter().map(|(note, _)| note.scope.clone()));
        self.places.extend(&rule.places);
        Ok(kept)
    }

    fn finish(self, app: &App, memory: &Memory, findings: &LearnFindings) {
        for place in self.places {
            findings.places[place].project.iter().for_each(|it| app.record_project(it));
        }
        // Best effort: the memory is stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        app.refresh_mirrors(&self.scopes.into_iter().collect::<Vec<_>>());
    }
}

/// Decision about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LearnDecision {
    Keep,
    KeepEverywhere,
    Drop,
    Skip,
    Quit,
}

impl LearnDecision {
    /// Decision of a key; none if the key means nothing here.
    fn of_key(key: char) -> Option<Self> {
        match key.to_ascii_lowercase() {
            'k' | 'y' => Some(Self::Keep),
            'a' => Some(Self::KeepEverywhere),
            'd' | 'n' => Some(Self::Drop),
            's' | ' ' | '\n' | '\r' => Some(Self::Skip),
            'q' | '\u{1b}' | '\u{3}' | '\u{4}' => Some(Self::Quit),
            _ => None,
        }
    }
}

fn ask_about_each(
    app: &App,
    rules: &[&LearnedRule],
    findings: &LearnFindings,
) -> Result<(), CommandError> {
    let memory = app.memory_for_writing()?;
    let mut kept = KeptRules::default();
    for (at, rule) in rules.iter().enumerate() {
        ui::say(format_args!("{}/{}  {}", at + 1, rules.len(), rule.statement.text));
        for line in show::details(rule, findings) {
            ui::say(format_args!("      {line}"));
        }
        let decision = loop {
            match ui::ask_key("keep, keep in all projects, drop, skip, quit? [k/a/d/s/q]") {
                None => break LearnDecision::Quit,
                Some(key) => {
                    if let Some(decision) = LearnDecision::of_key(key) {
                        break decision;
                    }
                }
            }
        };
        match decision {
            LearnDecision::Quit => break,
            LearnDecision::Skip => {}
            LearnDecision::Drop => decide::decline_rule(&memory, rule, findings)?,
            LearnDecision::Keep | LearnDecision::KeepEverywhere => {
                let everywhere = decision == LearnDecision::KeepEverywhere;
                for (note, instead_of) in kept.keep(&memory, rule, findings, everywhere)? {
                    ui::say(format_args!("Kept: {} ({})", note.text, note.id));
                    for old in instead_of {
                        ui::say(format_args!("Instead of: {} ({})", old.text, old.id));
                    }
                }
            }
        }
    }
    kept.finish(app, &memory, findings);
    Ok(())
}
