//! `recoup memory export --team`: writes the agreed rules to a file of the repository.

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx;
use recoup_core::memory::team::{
    self, MergedRules, OmittedNote, RuleContribution, RuleDiff, TeamRules,
};
use recoup_core::memory::{Note, NoteFilter, NoteId, NoteScope};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::cli::app::AppContext;
use crate::cli::team::{TeamChangesReport, print_diff};
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::trust::{self, TrustStore, TrustedFile};

/// Maximum number of left-out notes that are listed.
const MOST_NAMED: usize = 20;

/// Options of `export --team`.
pub(super) struct TeamExport {
    pub(super) ids: Vec<String>,
    pub(super) dry_run: bool,
    pub(super) yes: bool,
    pub(super) json: bool,
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
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
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
        let written = !diff.is_empty() && self.confirm_write() && {
            write_team_file(app, &found, &merged)?;
            true
        };
        if self.json {
            let file = team::rule_file_path(app.settings.project.root()).display().to_string();
            let left_out = merged.left_out.into_iter().map(LeftOutReport::of).collect();
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

    fn parse_chosen_ids(&self, app: &AppContext, scope: &NoteScope) -> Result<Option<Vec<NoteId>>> {
        if self.ids.is_empty() {
            return Ok(None);
        }
        let memory = app.memory();
        let one = |id: &String| {
            let id = NoteId::parse(id)?;
            let note = memory.note(&id)?.ok_or_else(|| {
                let message = format!("there is no memory {id}; `recoup memory list` shows them");
                Error::new(ErrorKind::Absent, message)
            })?;
            ensure_shareable(&note, scope).map(|()| id)
        };
        self.ids.iter().map(one).collect::<Result<_>>().map(Some)
    }

    fn confirm_write(&self) -> bool {
        !self.dry_run && (self.yes || ui::confirm(format_args!("Write {}?", team::FILE)))
    }
}

/// Prints what would change, and what is left out.
fn print_changes(diff: &RuleDiff, left_out: &[OmittedNote], is_there: bool) {
    let file = team::FILE;
    match (diff.is_empty(), is_there) {
        (true, true) => {
            ui::say(format_args!("{file} stays as it is: it has all that is agreed on"));
        }
        (true, false) => ui::say("Nothing to share: no rule of this project is active"),
        (false, _) => {
            ui::say(format_args!("{file}, for everybody who reads this repository:"));
            print_diff(diff);
        }
    }
    for OmittedNote { id, text, why } in left_out.iter().take(MOST_NAMED) {
        ui::say(format_args!("Left out: {text} ({id}): {why}"));
    }
    if let Some(more) = left_out.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        ui::say(format_args!("… and {more} more; --json names them all"));
    }
}

/// Reads the team's file; none if it is invalid, after printing its problems.
fn read_team_file(app: &AppContext) -> Result<Option<TeamFile>> {
    let root = app.settings.project.root();
    let path = team::rule_file_path(root);
    if path.is_symlink() {
        let message = format!("{} is a link: put a file in its place", path.display());
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
            ui::hint("nothing was written: mend the file first");
            Ok(None)
        }
    }
}

fn ensure_shareable(note: &Note, scope: &NoteScope) -> Result<()> {
    let id = &note.id;
    if note.scope != *scope {
        let whose = match note.scope {
            NoteScope::Universal => "holds in all projects, and is yours alone",
            NoteScope::Project(_) => "is another project's",
        };
        return Err(Error::usage(format!("{id} {whose}: only this project's rules are shared")));
    }
    if !team::is_shareable(note) {
        let message = format!(
            "{id} is {} ({}): only what counts, and was said or agreed to, is shared",
            note.status,
            note.trust()
        );
        return Err(Error::usage(message));
    }
    Ok(())
}

fn write_team_file(app: &AppContext, found: &TeamFile, merged: &MergedRules) -> Result<()> {
    let (home, project) = (&app.settings.home, &app.settings.project);
    let path = team::rule_file_path(project.root());
    if team::read_rule_file(project.root())? != found.bytes {
        let message = format!("{} was changed by somebody else: say it again", path.display());
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
        "it has rules that you have not accepted; `recoup trust` shows them"
    });
    Ok(())
}

impl LeftOutReport {
    fn of(left: OmittedNote) -> Self {
        Self { id: left.id.to_string(), text: left.text, why: left.why }
    }
}
