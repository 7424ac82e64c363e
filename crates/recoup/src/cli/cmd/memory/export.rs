//! `recoup memory export` and `import`: notes as lines of JSON, and with `--team` the agreed rules in
//! a file of the repository.

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx;
use recoup_core::memory::team;
use recoup_core::memory::team::{MergedRules, OmittedNote, RuleContribution, RuleDiff, TeamRules};
use recoup_core::memory::{
    NoteFilter, NoteId, NoteImportReport, NoteScope, ParsedExport, export_notes, parse_export,
};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::parse_id;
use crate::cli::app::App;
use crate::cli::team::{TeamChangesReport, print_diff};
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::config::trust::{self, TrustStore, TrustedFile};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(super) struct ExportArgs {
    /// Also export the memories of other projects
    #[arg(long, conflicts_with = "team")]
    all: bool,
    /// Add the project's rules to recoup-rules.md at its root, for review and for the team
    #[arg(long)]
    team: bool,
    /// Only these of the project's rules; each replaces a contradicting rule in the file
    #[arg(value_name = "ID", requires = "team")]
    ids: Vec<String>,
    /// Only show what would be written
    #[arg(long, requires = "team")]
    dry_run: bool,
    /// Do not ask for confirmation; without a terminal nothing is asked
    #[arg(long, short, requires = "team")]
    yes: bool,
    /// Report as JSON what was written
    #[arg(long, requires = "team")]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file, or - for stdin
    #[arg(value_name = "FILE")]
    file: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl ExportArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let Self { all, team, ids, dry_run, yes, json } = self;
        if team {
            return TeamExport { ids, dry_run, yes, json }.run(app);
        }
        let here =
            NoteFilter { statuses: Vec::new(), ..NoteFilter::active_in(&app.note_scope(false)) };
        let wanted = if all { NoteFilter::default() } else { here };
        let notes = app.memory().notes(&wanted)?;
        ui::data(&[export_notes(&notes).as_bytes()])?;
        Ok(CommandAnswer::Yes)
    }
}

impl ImportArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let bytes = input::file_or_stdin(&self.file)?;
        let ParsedExport { notes, skipped } = parse_export(&input::decode_utf8("FILE", bytes)?)?;
        let memory = app.memory_for_writing()?;
        let NoteImportReport { added, known } = memory.import(&notes)?;
        // Best effort: the memories are stored, and the next command tries again.
        let _ = memory.snapshot_daily();
        let scopes: Vec<_> = notes.iter().map(|note| note.scope.clone()).collect();
        app.refresh_mirrors(&scopes);
        if self.json {
            let skipped: Vec<_> = skipped
                .iter()
                .map(|it| serde_json::json!({ "line": it.line, "why": it.why }))
                .collect();
            ui::json(&serde_json::json!({ "added": added, "known": known, "skipped": skipped }))?;
        } else {
            for it in &skipped {
                ui::error(format_args!("line {}: {}", it.line, it.why));
            }
            let left_out = match skipped.len() {
                0 => String::new(),
                count => format!("; {count} skipped"),
            };
            ui::say(format_args!("Imported {added}; {known} already known{left_out}"));
        }
        Ok(if skipped.is_empty() { CommandAnswer::Yes } else { CommandAnswer::No })
    }
}

/// Maximum number of left-out notes that are listed.
const MOST_NAMED: usize = 20;

/// Options of `export --team`.
struct TeamExport {
    ids: Vec<String>,
    dry_run: bool,
    yes: bool,
    json: bool,
}

#[derive(Serialize)]
struct TeamExportReport {
    file: String,
    written: bool,
    #[serde(flatten)]
    changes: TeamChangesReport,
    left_out: Vec<LeftOutReport>,
}

#[derive(Serialize)]
struct LeftOutReport {
    id: String,
    text: String,
    why: String,
}

/// The file as it was found.
struct TeamFile {
    bytes: Option<Vec<u8>>,
    rules: TeamRules,
}

impl TeamExport {
    fn run(self, app: &App) -> CommandResult {
        let Some(found) = read_team_file(app)? else { return Ok(CommandAnswer::No) };
        let scope = app.note_scope(false);
        let wanted = NoteFilter { scopes: vec![scope.clone()], statuses: Vec::new() };
        let notes = app.memory().notes(&wanted)?;
        let chosen = self.parse_chosen_ids(app, &scope)?;
        let home = &app.settings.home;
        let ledger = TrustStore::read(home)?;
        let accepted = trust::accepted_text(home, &ledger, app.settings.project.id())
            .and_then(|text| team::parse_rules(text.as_bytes()).ok())
            .unwrap_or_default();
        let share = RuleContribution {
            notes: &notes,
            accepted: &accepted.rules,
            chosen: chosen.as_deref(),
        };
        let merged = team::merge_rules(&found.rules, share);
        let diff = team::diff_rules(&found.rules.rules, &merged.team.rules);
        print_changes(&diff, &merged.left_out, found.bytes.is_some());
        let is_agreed =
            || !self.dry_run && (self.yes || ui::confirm(format_args!("Write {}?", team::FILE)));
        let written = !diff.is_empty() && is_agreed() && {
            write_team_file(app, &found, &merged)?;
            true
        };
        if self.json {
            let file = team::rule_file_path(app.settings.project.root()).display().to_string();
            let report = |left: OmittedNote| LeftOutReport {
                id: left.id.to_string(),
                text: left.text,
                why: left.why,
            };
            let left_out = merged.left_out.into_iter().map(report).collect();
            ui::json(&TeamExportReport {
                file,
                written,
                changes: TeamChangesReport::of(&diff),
                left_out,
            })?;
        }
        let refused = !diff.is_empty() && !written && !self.dry_run;
        Ok(if refused { CommandAnswer::No } else { CommandAnswer::Yes })
    }

    fn parse_chosen_ids(&self, app: &App, scope: &NoteScope) -> Result<Option<Vec<NoteId>>> {
        if self.ids.is_empty() {
            return Ok(None);
        }
        let memory = app.memory();
        let one = |id: &String| {
            let id = parse_id(id)?;
            let note = memory.note(&id)?.ok_or_else(|| {
                let message =
                    format!("no such memory: {id}; `recoup memory list --all` shows all ids");
                Error::new(ErrorKind::Absent, message)
            })?;
            if note.scope != *scope {
                let whose = match note.scope {
                    NoteScope::Universal => "applies in all projects, and is personal",
                    NoteScope::Project(_) => "belongs to another project",
                };
                let message = format!("{id} {whose}: only rules of this project can be shared");
                return Err(Error::usage(message));
            }
            if !team::is_shareable(&note) {
                let (status, trust) = (note.status, note.trust());
                return Err(Error::usage(format!(
                    "{id} is {status} ({trust}): only active memories that you said or confirmed can be shared"
                )));
            }
            Ok(id)
        };
        self.ids.iter().map(one).collect::<Result<_>>().map(Some)
    }
}

/// Prints what would change, and what is left out.
fn print_changes(diff: &RuleDiff, left_out: &[OmittedNote], is_there: bool) {
    let file = team::FILE;
    match (diff.is_empty(), is_there) {
        (true, true) => {
            ui::say(format_args!("{file} is up to date: it has all active rules of this project"));
        }
        (true, false) => ui::say("Nothing to share: this project has no active rules"),
        (false, _) => {
            ui::say(format_args!("Changes to {file}, for everybody who reads this repository:"));
            print_diff(diff);
        }
    }
    for OmittedNote { id, text, why } in left_out.iter().take(MOST_NAMED) {
        ui::say(format_args!("Left out: {text} ({id}): {why}"));
    }
    if let Some(more) = left_out.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        ui::say(format_args!("… and {more} more; use --json to list them all"));
    }
}

/// Reads the team's file; none if it is invalid, after printing its problems.
fn read_team_file(app: &App) -> Result<Option<TeamFile>> {
    let root = app.settings.project.root();
    let path = team::rule_file_path(root);
    if path.is_symlink() {
        let message = format!("{} is a symbolic link: replace it with a file", path.display());
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    let bytes = team::read_rule_file(root)?;
    match bytes.as_deref().map(team::parse_rules) {
        None => Ok(Some(TeamFile { bytes, rules: TeamRules::default() })),
        Some(Ok(rules)) => Ok(Some(TeamFile { bytes, rules })),
        Some(Err(problems)) => {
            for problem in problems {
                ui::error(format_args!("{}:{}: {}", team::FILE, problem.line, problem.why));
            }
            ui::hint("nothing was written: fix the file first");
            Ok(None)
        }
    }
}

fn write_team_file(app: &App, found: &TeamFile, merged: &MergedRules) -> Result<()> {
    let (home, project) = (&app.settings.home, &app.settings.project);
    let path = team::rule_file_path(project.root());
    if team::read_rule_file(project.root())? != found.bytes {
        let message = format!("{} was changed meanwhile: run the command again", path.display());
        return Err(Error::new(ErrorKind::Locked, message));
    }
    // Every rule in it was accepted or is the user's own: no consent is needed.
    let is_own =
        found.bytes.is_none() || trust::team_state(home, project) == team::RuleFileState::Accepted;
    let text = team::render_rules(&merged.team);
    fsx::write_output(&path, text.as_bytes())?;
    if is_own {
        fsx::ensure_private_dir(home)?;
        let file =
            TrustedFile { name: team::FILE, text: text.as_bytes(), project: Some(project.id()) };
        trust::grant_trust(home, project.root(), &[file], SystemClock.now())?;
    }
    ui::say(format_args!("Written: {}", path.display()));
    ui::hint(if is_own {
        "commit it; others accept it with `recoup trust`"
    } else {
        "the file has rules that you have not accepted; `recoup trust` shows them"
    });
    Ok(())
}
