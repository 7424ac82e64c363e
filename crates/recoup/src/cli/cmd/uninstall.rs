//! `recoup uninstall`: removes what `init` put in, and with `--purge` what is remembered.

use std::path::Path;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::Project;
use recoup_core::{Error, Result};
use serde::Serialize;

use super::init::{FileReport, Missing, not_as_shown, places};
use crate::cli::failure::Failure;
use crate::cli::mirror::{tell_leftovers, withdraw};
use crate::cli::{Answer, Ended, failure, ui};
use crate::config::{self, Overrides, Settings};
use crate::install::purge::{self, Ground, Purge};
use crate::install::{self, Client, Level, Turn, Undo, Wanted};
use crate::mirror::{self, Did};

/// Take recoup out of the agents on this machine.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(in crate::cli) struct UninstallArgs {
    /// Only out of this client; may be given several times
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// Only what is for everything that you do
    #[arg(long)]
    user: bool,
    /// Only what is for this project
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// Delete what is remembered and kept as well, for good
    #[arg(long, conflicts_with_all = ["clients", "user", "project"])]
    purge: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    /// True if the changes were made.
    written: bool,
    files: Vec<FileReport>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<String>,
    /// Mirrored rules and skills that are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    mirrored: Option<mirror::Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purged: Option<PurgeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
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
    pub(in crate::cli) fn run(self) -> Ended {
        let ended = self.carried_out();
        if self.json { failure::told_as_json(ended) } else { ended }
    }

    fn carried_out(&self) -> Ended {
        let found = config::Places::find()?;
        let places = places(&found, &Project::find(&found.cwd)?)?;
        self.carried_out_in(&found, &places).map_err(|failure| failure.naming_as(&places))
    }

    fn carried_out_in(&self, found: &config::Places, places: &install::Places) -> Ended {
        let own = &found.home;
        let wanted = self.wanted()?;
        let mut undo = Undo::make(places, own, &wanted)?;
        let words = configuration_words();
        let ground = Ground { own, user_home: &places.home, words: &words };
        let purge = self.purge.then(|| purge::look(ground)).transpose()?;
        // Before the configuration is deleted.
        let elsewhere = if self.purge { kept_elsewhere(own) } else { Vec::new() };
        let deletes = purge.as_ref().is_some_and(|purge| !purge.ours.is_empty());
        let mut report = report(&undo, purge.as_ref(), places);
        report.mirrored = self.is_about_mirrors().then(|| withdraw(own, &found.cwd, true));
        if let Some(purged) = &mut report.purged {
            purged.elsewhere = elsewhere;
        }
        if !self.json {
            // With --yes a closed stdout is no reason to stop.
            tell(&report, &undo).or_else(|gone| self.yes.then_some(()).ok_or(gone))?;
        }
        let any = undo.is_any() || report.withdraws() || deletes;
        let outlook = Outlook::of(any, &undo, purge.is_some());
        if outlook == Outlook::Possible && !self.dry_run && self.consents(deletes, &mut report)? {
            let again = || Undo::make(places, own, &wanted);
            let seen = |undo: &Undo| files(undo, places);
            undo = self.take_out(undo, &mut report, own, &again, &seen)?;
            if self.is_about_mirrors() {
                // Last: both have lines in the same file of git's.
                report.mirrored = Some(withdraw(own, &found.cwd, false));
            }
            purge.map_or(Ok(()), |_| purge::carry_out(ground))?;
            report.written = true;
        } else if !any && undo.is_noted && !self.dry_run {
            // The files are clean: only the record of the installation goes.
            Turn::wait_for(own, SystemClock.now())?.take_out(&undo)?;
        }
        if self.json {
            ui::json(&report)?;
        } else if report.written {
            tell_end(&report, &own.join(install::BACKUPS), places);
        } else if outlook != Outlook::Hindered || !self.dry_run {
            outlook.tell_unchanged();
        }
        let done = !any || self.dry_run || report.written;
        let is_left = report.written && report.leaves_some();
        Ok(if done && !is_left && undo.faults.is_empty() { Answer::Yes } else { Answer::No })
    }

    /// Removes what was agreed to. If a file has changed meanwhile, this is computed again; without
    /// --yes it must then be among what was shown.
    fn take_out(
        &self,
        undo: Undo,
        report: &mut Report,
        own: &Path,
        again: &dyn Fn() -> Result<Undo>,
        seen: &dyn Fn(&Undo) -> Vec<FileReport>,
    ) -> Result<Undo> {
        let turn = Turn::wait_for(own, SystemClock.now())?;
        let (undo, copies) = install::settle(
            undo,
            |undo| turn.take_out(undo),
            |path| {
                let undo = again()?;
                let is_seen = |file: &FileReport| report.files.iter().any(|it| file.is_as_seen(it));
                // A file that can't be read may hold hooks that need what would be deleted.
                if !self.yes && !seen(&undo).iter().all(is_seen)
                    || self.purge && !undo.faults.is_empty()
                {
                    return Err(not_as_shown(path, "recoup uninstall"));
                }
                Ok(undo)
            },
        )?;
        report.files = seen(&undo);
        report.failed = undo.faults.iter().map(ToString::to_string).collect();
        report.files.iter_mut().for_each(|file| file.was_copied(&copies));
        Ok(undo)
    }

    /// True if mirrored rules and skills are removed, too: only Claude Code reads them.
    fn is_about_mirrors(&self) -> bool {
        let is_reader =
            |name: &String| Client::parse(name).is_ok_and(|it| it == Client::ClaudeCode);
        let is_meant = self.clients.is_empty() || self.clients.iter().any(is_reader);
        is_meant && !self.user && !self.project
    }

    fn wanted(&self) -> Result<Wanted> {
        if self.clients.iter().any(|name| name == "mcp") {
            return Err(Error::usage(
                "`mcp` stands for clients that are not known here: what was pasted into one, remove \
                 there by hand",
            ));
        }
        let clients = self.clients.iter().map(|name| Client::parse(name)).collect::<Result<_>>()?;
        let level = match (self.user, self.project) {
            (true, _) => Some(Level::User),
            (_, true) => Some(Level::Project),
            _ => None,
        };
        Ok(Wanted { clients, level })
    }

    fn consents(&self, deletes: bool, report: &mut Report) -> Result<bool, Failure> {
        if self.yes {
            return Ok(true);
        }
        if self.json || !ui::can_ask() {
            if self.json {
                report.missing = Some(Missing::Yes);
                ui::json(report)?;
            }
            let error = Error::usage(
                "nothing was changed: there is no terminal to ask on. If this is what you want, say \
                 `recoup uninstall --yes`; --dry-run only shows it",
            );
            return Err(if self.json { Failure::Told(error) } else { error.into() });
        }
        let question =
            if deletes { "Take this out, and delete all that?" } else { "Take this out?" };
        let agreed = ui::confirm(question);
        if !agreed {
            ui::say("Nothing was changed.");
        }
        Ok(agreed)
    }
}

/// Feasibility of the removal, before the question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outlook {
    /// There is something to do, and it can be done.
    Possible,
    /// A file that can't be read may hold hooks that need what would be deleted.
    Hindered,
    /// Only notes and faults, which were printed.
    OnlyTold,
    Nothing,
}

impl Outlook {
    fn of(any: bool, undo: &Undo, purges: bool) -> Self {
        let is_told = !undo.notes.is_empty() || !undo.faults.is_empty();
        match (any, is_told) {
            (true, _) if purges && !undo.faults.is_empty() => Self::Hindered,
            (true, _) => Self::Possible,
            (false, true) => Self::OnlyTold,
            (false, false) => Self::Nothing,
        }
    }

    /// Prints why nothing was changed, unless the user has just declined.
    fn tell_unchanged(self) {
        match self {
            Self::Possible => {}
            Self::Hindered => ui::say(
                "Nothing was changed: what can't be changed may call what would be deleted. Mend that \
                 first, or leave --purge out.",
            ),
            Self::OnlyTold => ui::say("Nothing was changed: what was named above stays."),
            Self::Nothing => ui::say(
                "Nothing of recoup's is in the settings of any client. Nothing was changed.",
            ),
        }
    }
}

impl Report {
    /// True if mirrored rules or skills are removed.
    fn withdraws(&self) -> bool {
        self.mirrored.as_ref().is_some_and(|mirrored| !mirrored.changes.is_empty())
    }

    /// True if some mirrored files stay.
    fn leaves_some(&self) -> bool {
        self.mirrored.as_ref().is_some_and(mirror::Report::leaves_some)
    }
}

fn report(undo: &Undo, purge: Option<&Purge>, places: &install::Places) -> Report {
    let shown = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    Report {
        written: false,
        files: files(undo, places),
        notes: undo.notes.clone(),
        mirrored: None,
        failed: undo.faults.iter().map(ToString::to_string).collect(),
        purged: purge.map(|purge| PurgeReport {
            deleted: shown(&purge.ours),
            left: shown(&purge.others),
            elsewhere: Vec::new(),
        }),
        missing: None,
    }
}

fn files(undo: &Undo, places: &install::Places) -> Vec<FileReport> {
    let changes = undo.changes.iter().filter(|change| change.is_any());
    changes.map(|it| FileReport::new(it, &places.shown(&it.path))).collect()
}

fn tell(report: &Report, undo: &Undo) -> Result<(), Failure> {
    report.files.iter().try_for_each(FileReport::show)?;
    for change in report.mirrored.iter().flat_map(|mirrored| &mirrored.changes) {
        let word = if change.did == Did::Removed { "---" } else { "+++" };
        ui::diff(&format!("{word} {}", change.path.display()))?;
    }
    report.mirrored.iter().for_each(tell_leftovers);
    report.notes.iter().for_each(ui::say);
    undo.faults.iter().for_each(ui::warn);
    if let Some(purged) = &report.purged {
        for path in &purged.deleted {
            ui::say(format_args!("To be deleted, for good: {path}"));
        }
        for path in &purged.left {
            ui::say(format_args!("Not known to be recoup's, and left: {path}"));
        }
        for place in &purged.elsewhere {
            ui::say(format_args!("Kept elsewhere, and left: {place}"));
        }
    }
    Ok(())
}

fn tell_end(report: &Report, backups: &Path, places: &install::Places) {
    for file in &report.files {
        ui::say(file.removal_summary());
    }
    report.mirrored.iter().for_each(tell_leftovers);
    match &report.purged {
        None if backups.is_dir() => ui::say(format_args!(
            "Done. What is remembered and kept stays in place, and so do the copies of clients' files in \
             {}: `recoup uninstall --purge` deletes all that.",
            places.shown(backups)
        )),
        None => ui::say(
            "Done. What is remembered and kept stays in place: `recoup uninstall --purge` deletes it.",
        ),
        Some(purged)
            if purged.left.is_empty() && purged.elsewhere.is_empty() && !report.leaves_some() =>
        {
            ui::say("Done: nothing that was remembered is left.");
        }
        Some(_) => ui::say(
            "Done: what is known to be recoup's is deleted. What was named as left is still there: \
             remove it by hand if you no longer want it.",
        ),
    }
}

/// Top-level keys of our configuration.
fn configuration_words() -> Vec<&'static str> {
    let keys = config::show::keys().map(|key| key.name.split('.').next().unwrap_or(key.name));
    keys.chain(["prices"]).collect()
}

/// Stores and sessions outside our home, as far as the configuration can be read.
fn kept_elsewhere(own: &Path) -> Vec<String> {
    let settings = match Settings::load(&Overrides::default()) {
        Ok(settings) => settings,
        Err(error) => return vec![format!("whatever the configuration names ({error})")],
    };
    let is_outside =
        |path: Option<&Path>| path.is_none_or(|path| path.exists() && !path.starts_with(own));
    let near = settings.near.as_ref().map(|near| &near.store);
    let stores = [Some(&settings.store), near].into_iter().flatten();
    let stores = stores.filter(|store| is_outside(store.path())).map(ToString::to_string);
    let sessions = settings.early_exit_dir.as_deref().filter(|dir| is_outside(Some(dir)));
    stores.chain(sessions.map(|dir| dir.display().to_string())).collect()
}
