//! `recoup uninstall`: removes what `init` put in, and with `--purge` what is remembered.

use std::path::Path;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::{Error, Result};
use serde::Serialize;

use super::change_mode::{ChangeModeArgs, ConsentReport, MissingFlag};
use super::init::{FileReport, InitContext, changed_meanwhile_error};
use crate::cli::failure::CommandError;
use crate::cli::mirror::{remove_all_mirrors, warn_of_leftovers};
use crate::cli::{CommandAnswer, CommandResult, failure, ui};
use crate::config::{self, FlagOverrides, ResolvedSettings};
use crate::install::purge::{self, PurgePlan, PurgeTarget};
use crate::install::{self, AgentClient, InstallLevel, InstallLock, UndoPlan, UndoRequest};
use crate::mirror::{self, MirrorAction};

#[derive(Debug, Args)]
pub(in crate::cli) struct UninstallArgs {
    /// Only from this client; may be given several times
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// Only the set-up for all projects
    #[arg(long)]
    user: bool,
    /// Only the set-up for this project
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// Also delete all memories and cached results, permanently
    #[arg(long, conflicts_with_all = ["clients", "user", "project"])]
    purge: bool,
    #[command(flatten)]
    mode: ChangeModeArgs,
}

#[derive(Serialize)]
struct UninstallReport {
    /// True if the changes were made.
    written: bool,
    files: Vec<FileReport>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<String>,
    /// Mirrored rules and skills that are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    mirrored: Option<mirror::MirrorReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purged: Option<PurgeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<MissingFlag>,
}

#[derive(Serialize)]
struct PurgeReport {
    deleted: Vec<String>,
    left: Vec<String>,
    /// Data outside our home, which is left, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<String>,
}

impl UninstallArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let ended = self.execute();
        if self.mode.json { failure::report_as_json(ended) } else { ended }
    }

    fn execute(&self) -> CommandResult {
        let around = InitContext::find()?;
        self.execute_in(&around).map_err(|failure| failure.with_shown_paths(&around.places))
    }

    fn execute_in(&self, around: &InitContext) -> CommandResult {
        let InitContext { places, cwd, .. } = around;
        let own = &*places.own;
        let wanted = self.parse_targets()?;
        let mut undo = UndoPlan::make(places, &wanted)?;
        // Top-level keys of our configuration.
        let words: Vec<&str> = config::show::all_keys()
            .map(|key| key.name.split('.').next().unwrap_or(key.name))
            .chain(["prices", "mcpServers", "restTools", "openapi"])
            .collect();
        let ground = PurgeTarget { own, user_home: &places.dirs.home, words: &words };
        let purge = self.purge.then(|| purge::plan_purge(ground)).transpose()?;
        let deletes = purge.as_ref().is_some_and(|purge| !purge.ours.is_empty());
        let mut report = build_report(&undo, purge.as_ref(), places);
        report.mirrored = self.includes_mirrors().then(|| remove_all_mirrors(own, cwd, true));
        if !self.mode.json {
            // With --yes a closed stdout is no reason to stop.
            print_plan(&report, &undo).or_else(|gone| self.mode.yes.then_some(()).ok_or(gone))?;
        }
        let removes_mirrors = report.mirrored.as_ref().is_some_and(|it| !it.changes.is_empty());
        let any = undo.has_changes() || removes_mirrors || deletes;
        // A file that can't be read may hold hooks that need what would be deleted.
        let is_hindered = any && purge.is_some() && !undo.faults.is_empty();
        let question = if deletes {
            "Remove recoup from these files, and permanently delete everything listed above?"
        } else {
            "Remove this?"
        };
        if any
            && !is_hindered
            && !self.mode.dry_run
            && self.mode.ask_consent(&mut report, question, "nothing was changed")?
        {
            let again = || UndoPlan::make(places, &wanted);
            let seen = |undo: &UndoPlan| file_reports(undo, places);
            undo = self.take_out(undo, &mut report, own, &again, &seen)?;
            if self.includes_mirrors() {
                // Last: both have lines in the same file of git's.
                report.mirrored = Some(remove_all_mirrors(own, cwd, false));
            }
            purge.map_or(Ok(()), |_| purge::carry_out(ground))?;
            report.written = true;
        } else if !any && undo.is_noted && !self.mode.dry_run {
            // The files are clean: only the record of the installation goes.
            InstallLock::acquire(own, SystemClock.now())?.uninstall(&undo)?;
        }
        if self.mode.json {
            ui::json(&report)?;
        } else if report.written {
            print_summary(&report, &own.join(install::BACKUPS), places);
        } else if !any || is_hindered && !self.mode.dry_run {
            print_unchanged(&undo, is_hindered);
        }
        let done = !any || self.mode.dry_run || report.written;
        let is_left = report.written && report.leaves_mirrors();
        Ok(if done && !is_left && undo.faults.is_empty() {
            CommandAnswer::Yes
        } else {
            CommandAnswer::No
        })
    }

    /// Removes what was agreed to. If a file has changed meanwhile, this is computed again; without
    /// --yes it must then be among what was shown.
    fn take_out(
        &self,
        undo: UndoPlan,
        report: &mut UninstallReport,
        own: &Path,
        again: &dyn Fn() -> Result<UndoPlan>,
        seen: &dyn Fn(&UndoPlan) -> Vec<FileReport>,
    ) -> Result<UndoPlan> {
        let turn = InstallLock::acquire(own, SystemClock.now())?;
        let (undo, copies) = install::apply_with_retry(
            undo,
            |undo| turn.uninstall(undo),
            |path| {
                let undo = again()?;
                let is_seen =
                    |file: &FileReport| report.files.iter().any(|it| file.matches_shown(it));
                // A file that can't be read may hold hooks that need what would be deleted.
                if !self.mode.yes && !seen(&undo).iter().all(is_seen)
                    || self.purge && !undo.faults.is_empty()
                {
                    return Err(changed_meanwhile_error(path, "recoup uninstall"));
                }
                Ok(undo)
            },
        )?;
        report.files = seen(&undo);
        report.failed = undo.faults.iter().map(ToString::to_string).collect();
        report.files.iter_mut().for_each(|file| file.record_backup(&copies));
        Ok(undo)
    }

    /// True if mirrored rules and skills are removed, too: only Claude Code reads them.
    fn includes_mirrors(&self) -> bool {
        let is_reader =
            |name: &String| AgentClient::parse(name).is_ok_and(|it| it == AgentClient::ClaudeCode);
        let is_meant = self.clients.is_empty() || self.clients.iter().any(is_reader);
        is_meant && !self.user && !self.project
    }

    fn parse_targets(&self) -> Result<UndoRequest> {
        if self.clients.iter().any(|name| name == "mcp") {
            return Err(Error::usage(
                "`mcp` means any other client: remove recoup from its configuration by hand",
            ));
        }
        let clients =
            self.clients.iter().map(|name| AgentClient::parse(name)).collect::<Result<_>>()?;
        let level = match (self.user, self.project) {
            (true, _) => Some(InstallLevel::User),
            (_, true) => Some(InstallLevel::Project),
            _ => None,
        };
        Ok(UndoRequest { clients, level, ..UndoRequest::default() })
    }
}

/// Says why nothing was changed.
fn print_unchanged(undo: &UndoPlan, is_hindered: bool) {
    ui::say(if is_hindered {
        "Nothing was changed: files that cannot be changed may still use what --purge would delete. \
         Fix these files first, or run without --purge."
    } else if !undo.notes.is_empty() || !undo.faults.is_empty() {
        "Nothing was changed: the files named above stay."
    } else {
        "No client has recoup in its settings. Nothing was changed."
    });
}

impl ConsentReport for UninstallReport {
    fn set_missing(&mut self, flag: MissingFlag) {
        self.missing = Some(flag);
    }
}

impl UninstallReport {
    /// True if some mirrored files stay.
    fn leaves_mirrors(&self) -> bool {
        self.mirrored.as_ref().is_some_and(mirror::MirrorReport::leaves_files)
    }
}

fn build_report(
    undo: &UndoPlan,
    purge: Option<&PurgePlan>,
    places: &install::InstallPaths,
) -> UninstallReport {
    let shown = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    UninstallReport {
        written: false,
        files: file_reports(undo, places),
        notes: undo.notes.clone(),
        mirrored: None,
        failed: undo.faults.iter().map(ToString::to_string).collect(),
        purged: purge.map(|purge| PurgeReport {
            deleted: shown(&purge.ours),
            left: shown(&purge.others),
            elsewhere: data_outside_home(&places.own),
        }),
        missing: None,
    }
}

fn file_reports(undo: &UndoPlan, places: &install::InstallPaths) -> Vec<FileReport> {
    let changes = undo.changes.iter().filter(|change| change.has_effect());
    changes.map(|it| FileReport::new(it, &places.display_path(&it.path))).collect()
}

fn print_plan(report: &UninstallReport, undo: &UndoPlan) -> Result<(), CommandError> {
    report.files.iter().try_for_each(FileReport::print)?;
    for change in report.mirrored.iter().flat_map(|mirrored| &mirrored.changes) {
        let word = if change.did == MirrorAction::Removed { "---" } else { "+++" };
        ui::diff(&format!("{word} {}", change.path.display()))?;
    }
    report.mirrored.iter().for_each(warn_of_leftovers);
    report.notes.iter().for_each(ui::say);
    undo.faults.iter().for_each(ui::warn);
    if let Some(purged) = &report.purged {
        for path in &purged.deleted {
            ui::say(format_args!("To be deleted permanently: {path}"));
        }
        for path in &purged.left {
            ui::say(format_args!("Left, because it may not belong to recoup: {path}"));
        }
        for place in &purged.elsewhere {
            ui::say(format_args!("Left, because it is outside recoup's directory: {place}"));
        }
    }
    Ok(())
}

fn print_summary(report: &UninstallReport, backups: &Path, places: &install::InstallPaths) {
    for file in &report.files {
        ui::say(file.removal_summary());
    }
    report.mirrored.iter().for_each(warn_of_leftovers);
    match &report.purged {
        None if backups.is_dir() => ui::say(format_args!(
            "Done. Memories and cached results stay, and so do the copies of clients' files in \
             {}: `recoup uninstall --purge` deletes them all.",
            places.display_path(backups)
        )),
        None => ui::say(
            "Done. Memories and cached results stay: `recoup uninstall --purge` deletes them.",
        ),
        Some(purged)
            if purged.left.is_empty()
                && purged.elsewhere.is_empty()
                && !report.leaves_mirrors() =>
        {
            ui::say("Done: all memories and cached results are deleted.");
        }
        Some(_) => ui::say(
            "Done: everything that belongs to recoup is deleted. What is listed above as left is \
             still there: remove it by hand if you no longer want it.",
        ),
    }
}

/// Stores and sessions outside our home, as far as the configuration can be read.
fn data_outside_home(own: &Path) -> Vec<String> {
    let settings = match ResolvedSettings::load(&FlagOverrides::default()) {
        Ok(settings) => settings,
        Err(error) => return vec![format!("anything that the configuration names ({error})")],
    };
    let is_outside =
        |path: Option<&Path>| path.is_none_or(|path| path.exists() && !path.starts_with(own));
    let near = settings.near.as_ref().map(|near| &near.store);
    let stores = [Some(&settings.store), near].into_iter().flatten();
    let stores = stores.filter(|store| is_outside(store.path())).map(ToString::to_string);
    let sessions = settings.early_exit_dir.as_deref().filter(|dir| is_outside(Some(dir)));
    stores.chain(sessions.map(|dir| dir.display().to_string())).collect()
}
