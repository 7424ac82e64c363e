//! Keeps the mirrors in step: rules and skills that Claude Code reads by itself.

use std::collections::HashSet;
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::project::Project;
use recoup_core::memory::NoteScope;

use super::app::{AppContext, memory_in};
use super::projects::ProjectNames;
use super::ui;
use crate::config::{ClientDirs, FlagOverrides, ResolvedSettings};
use crate::mirror::{
    self, ClaudeMirror, LeftReason, MirrorLocations, MirrorReport, MirrorSettings,
};

impl AppContext {
    /// Syncs the mirrors of a project, as configured.
    pub(super) fn sync_mirrors(&self, project: &Project, dry: bool) -> Result<MirrorReport> {
        if !dry && self.settings.mirror.is_any() {
            // The record is needed to find its files again.
            self.record_project(project);
        }
        let ResolvedSettings { home, cwd, mirror, users_mirror, .. } = &self.settings;
        let around =
            MirrorContext { home, cwd, project, wants: *mirror, users: *users_mirror, dry };
        around.with_mirror(|mirror| mirror.sync())
    }

    /// Updates the mirrors after notes of these scopes have changed. Failures are only reported:
    /// the change itself is done.
    pub(super) fn refresh_mirrors(&self, changed: &[NoteScope]) {
        report_refresh(self.with_mirror(|mirror| mirror.refresh(changed)));
    }

    /// Uses the current configuration, which may have changed since a server started.
    pub(super) fn with_mirror<T>(
        &self,
        act: impl FnOnce(ClaudeMirror<'_>) -> Result<T>,
    ) -> Result<T> {
        let ResolvedSettings { home, cwd, project, .. } = &self.settings;
        MirrorContext::from_current_config(home, cwd, project).with_mirror(act)
    }
}

/// Like [`AppContext::refresh_mirrors`], for commands that load no settings.
pub(super) fn refresh_mirrors(home: &Path, project: &Project, changed: &[NoteScope]) {
    let around = MirrorContext::from_current_config(home, project.root(), project);
    report_refresh(around.with_mirror(|mirror| mirror.refresh(changed)));
}

/// Removes what a changed configuration no longer wants, in all projects.
pub(super) fn remove_unwanted_mirrors() {
    let Ok(ResolvedSettings { home, cwd, project, mirror, users_mirror, .. }) =
        ResolvedSettings::load(&FlagOverrides::default())
    else {
        return;
    };
    let (wants, users) = (mirror, users_mirror);
    let around =
        MirrorContext { home: &home, cwd: &cwd, project: &project, wants, users, dry: false };
    report_refresh(around.with_mirror(|mirror| mirror.withdraw_unwanted()));
}

fn report_refresh(refreshed: Result<MirrorReport>) {
    match refreshed {
        Ok(report) => warn_of_problems(&report),
        Err(error) => ui::warn(format_args!("not in step for Claude Code: {error}")),
    }
}

/// Removes all mirrors, in all projects.
pub(super) fn remove_all_mirrors(home: &Path, cwd: &Path, dry: bool) -> MirrorReport {
    let claude = ClientDirs::find(cwd).claude_code();
    let roots =
        || ProjectNames::read(home).all_roots().into_iter().chain([cwd.to_owned()]).collect();
    mirror::withdraw(MirrorLocations { home, claude: &claude, roots: &roots }, dry)
}

/// Inputs of a mirror.
struct MirrorContext<'a> {
    home: &'a Path,
    cwd: &'a Path,
    project: &'a Project,
    wants: MirrorSettings,
    users: MirrorSettings,
    dry: bool,
}

impl<'a> MirrorContext<'a> {
    /// Loads the current configuration; an unreadable one wants no mirrors.
    fn from_current_config(home: &'a Path, cwd: &'a Path, project: &'a Project) -> Self {
        let settings = ResolvedSettings::load(&FlagOverrides::default()).ok();
        let said = settings.map(|settings| (settings.mirror, settings.users_mirror));
        let (wants, users) = said.unwrap_or((MirrorSettings::NONE, MirrorSettings::NONE));
        Self { home, cwd, project, wants, users, dry: false }
    }

    fn with_mirror<T>(&self, act: impl FnOnce(ClaudeMirror<'_>) -> Result<T>) -> Result<T> {
        let &MirrorContext { home, cwd, project, wants, users, dry } = self;
        let (dirs, memory) = (ClientDirs::find(cwd), memory_in(home));
        let claude = dirs.claude_code();
        let roots = || ProjectNames::read(home).all_roots();
        act(ClaudeMirror {
            ground: MirrorLocations { home, claude: &claude, roots: &roots },
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
pub(super) fn warn_of_problems(report: &MirrorReport) {
    for left in &report.left {
        let what = match left.why {
            LeftReason::Changed => {
                "was changed since recoup wrote it, and is left as it is: delete it, and the next sync writes it anew"
            }
            LeftReason::NotOurs => {
                "is not recoup's, and is left as it is: what would go there is not written"
            }
            LeftReason::Lines => {
                "has lines about files of recoup's that somebody else wrote or changed, and they are left: delete them there, and the next sync writes its own"
            }
        };
        ui::warn(format_args!("{} {what}", left.path.display()));
    }
    warn_of_faults(report);
}

/// Warns about what remains after a removal.
pub(super) fn warn_of_leftovers(report: &MirrorReport) {
    for left in report.left.iter().filter(|left| left.why != LeftReason::NotOurs) {
        ui::warn(format_args!(
            "{} was changed since recoup wrote it, and is left: remove by hand what you no longer want",
            left.path.display()
        ));
    }
    warn_of_faults(report);
}

fn warn_of_faults(report: &MirrorReport) {
    for fault in &report.faults {
        ui::warn(format_args!("{} is not in step: {}", fault.dir.display(), fault.why));
    }
}
