//! Keeps the mirrors in step: rules and skills that Claude Code reads by itself.

use std::collections::HashSet;
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::project::Project;
use recoup_core::memory::NoteScope;

use super::app::{App, memory_in};
use super::projects::Names;
use super::ui;
use crate::config::{ClientDirs, Overrides, Settings};
use crate::mirror::{self, Ground, Mirror, Report, Wants, Why};

impl App {
    /// Syncs the mirrors of a project, as configured.
    pub(super) fn sync_mirrors(&self, project: &Project, dry: bool) -> Result<Report> {
        if !dry && self.settings.mirror.is_any() {
            // The record is needed to find its files again.
            self.record_project(project);
        }
        let Settings { home, cwd, mirror, users_mirror, .. } = &self.settings;
        let around = Around { home, cwd, project, wants: *mirror, users: *users_mirror, dry };
        around.with_mirror(|mirror| mirror.sync())
    }

    /// Updates the mirrors after notes of these scopes have changed. Failures are only reported:
    /// the change itself is done.
    pub(super) fn refresh_mirrors(&self, changed: &[NoteScope]) {
        tell_refreshed(self.with_mirror(|mirror| mirror.refresh(changed)));
    }

    /// Uses the current configuration, which may have changed since a server started.
    pub(super) fn with_mirror<T>(&self, act: impl FnOnce(Mirror<'_>) -> Result<T>) -> Result<T> {
        let Settings { home, cwd, project, .. } = &self.settings;
        Around::now(home, cwd, project).with_mirror(act)
    }
}

/// Like [`App::refresh_mirrors`], for commands that load no settings.
pub(super) fn refresh_mirrors(home: &Path, project: &Project, changed: &[NoteScope]) {
    let around = Around::now(home, project.root(), project);
    tell_refreshed(around.with_mirror(|mirror| mirror.refresh(changed)));
}

/// Removes what a changed configuration no longer wants, in all projects.
pub(super) fn withdraw_unwanted() {
    let Ok(Settings { home, cwd, project, mirror, users_mirror, .. }) =
        Settings::load(&Overrides::default())
    else {
        return;
    };
    let (wants, users) = (mirror, users_mirror);
    let around = Around { home: &home, cwd: &cwd, project: &project, wants, users, dry: false };
    tell_refreshed(around.with_mirror(|mirror| mirror.withdraw_unwanted()));
}

fn tell_refreshed(refreshed: Result<Report>) {
    match refreshed {
        Ok(report) => tell_problems(&report),
        Err(error) => ui::warn(format_args!("not in step for Claude Code: {error}")),
    }
}

/// Removes all mirrors, in all projects.
pub(super) fn withdraw(home: &Path, cwd: &Path, dry: bool) -> Report {
    let claude = ClientDirs::find(cwd).claude_code();
    let roots = || Names::read(home).all_roots().into_iter().chain([cwd.to_owned()]).collect();
    mirror::withdraw(Ground { home, claude: &claude, roots: &roots }, dry)
}

/// Inputs of a mirror.
struct Around<'a> {
    home: &'a Path,
    cwd: &'a Path,
    project: &'a Project,
    wants: Wants,
    users: Wants,
    dry: bool,
}

impl<'a> Around<'a> {
    /// Loads the current configuration; an unreadable one wants no mirrors.
    fn now(home: &'a Path, cwd: &'a Path, project: &'a Project) -> Self {
        let settings = Settings::load(&Overrides::default()).ok();
        let said = settings.map(|settings| (settings.mirror, settings.users_mirror));
        let (wants, users) = said.unwrap_or((Wants::NONE, Wants::NONE));
        Self { home, cwd, project, wants, users, dry: false }
    }

    fn with_mirror<T>(&self, act: impl FnOnce(Mirror<'_>) -> Result<T>) -> Result<T> {
        let &Around { home, cwd, project, wants, users, dry } = self;
        let (dirs, memory) = (ClientDirs::find(cwd), memory_in(home));
        let claude = dirs.claude_code();
        let roots = || Names::read(home).all_roots();
        act(Mirror {
            ground: Ground { home, claude: &claude, roots: &roots },
            user: dirs.home(),
            memory: &memory,
            clock: &SystemClock,
            project,
            wants,
            users,
            dry,
            leaving: HashSet::new(),
        })
    }
}

/// Warns about files that were left as they are, and about faults.
pub(super) fn tell_problems(report: &Report) {
    for left in &report.left {
        let what = match left.why {
            Why::Changed => {
                "was changed since recoup wrote it, and is left as it is: delete it, and the next sync writes it anew"
            }
            Why::NotOurs => {
                "is not recoup's, and is left as it is: what would go there is not written"
            }
            Why::Lines => {
                "has lines about files of recoup's that somebody else wrote or changed, and they are left: delete them there, and the next sync writes its own"
            }
        };
        ui::warn(format_args!("{} {what}", left.path.display()));
    }
    tell_faults(report);
}

/// Warns about what remains after a removal.
pub(super) fn tell_leftovers(report: &Report) {
    for left in report.left.iter().filter(|left| left.why != Why::NotOurs) {
        ui::warn(format_args!(
            "{} was changed since recoup wrote it, and is left: remove by hand what you no longer want",
            left.path.display()
        ));
    }
    tell_faults(report);
}

fn tell_faults(report: &Report) {
    for fault in &report.faults {
        ui::warn(format_args!("{} is not in step: {}", fault.dir.display(), fault.why));
    }
}
