//! Keeps the mirrors in step: rules and skills that Claude Code reads by itself.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use recoup_core::base::FaultLog;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::project::Project;
use recoup_core::memory::NoteScope;
use recoup_core::{Error, Result};

use super::projects::ProjectNames;
use super::{App, memory_in};
use crate::clients::AgentClient;
use crate::config::{FlagOverrides, ResolvedSettings, find_client_dirs};
use crate::mirror::{
    self, ClaudeMirror, LeftReason, MirrorLocations, MirrorReport, MirrorSettings,
};

impl App {
    /// Syncs the mirrors of a project, as configured.
    pub(crate) fn sync_mirrors(&self, project: &Project, dry: bool) -> Result<MirrorReport> {
        if !dry && self.settings.mirror.is_any() {
            // The record is needed to find its files again.
            self.record_project(project);
        }
        let ResolvedSettings { home, cwd, mirror, users_mirror, .. } = &self.settings;
        let (wants, users, faults) = (*mirror, *users_mirror, &self.faults);
        let context = MirrorContext { home, cwd, project, wants, users, dry, faults };
        context.with_mirror(|mirror| mirror.sync())
    }

    /// Updates the mirrors after notes of these scopes have changed. Failures are only reported:
    /// the change itself is done.
    pub(crate) fn refresh_mirrors(&self, changed: &[NoteScope]) {
        report_refresh(self.with_mirror(|mirror| mirror.refresh(changed)), &*self.faults);
    }

    /// Uses the current configuration, which may have changed since a server started.
    pub(super) fn with_mirror<T>(
        &self,
        act: impl FnOnce(ClaudeMirror<'_>) -> Result<T>,
    ) -> Result<T> {
        let ResolvedSettings { home, cwd, project, .. } = &self.settings;
        MirrorContext::from_current_config(home, cwd, project, &self.faults).with_mirror(act)
    }
}

/// Like [`App::refresh_mirrors`], for commands that load no settings.
pub(crate) fn refresh_mirrors(
    home: &Path,
    project: &Project,
    changed: &[NoteScope],
    faults: &Arc<dyn FaultLog>,
) {
    let context = MirrorContext::from_current_config(home, project.root(), project, faults);
    report_refresh(context.with_mirror(|mirror| mirror.refresh(changed)), &**faults);
}

/// Removes what a changed configuration no longer wants, in all projects.
pub(crate) fn remove_unwanted_mirrors(faults: &Arc<dyn FaultLog>) {
    let Ok(ResolvedSettings { home, cwd, project, mirror, users_mirror, .. }) =
        ResolvedSettings::load(&FlagOverrides::default())
    else {
        return;
    };
    let (home, cwd, project) = (&*home, &*cwd, &project);
    let (wants, users, dry) = (mirror, users_mirror, false);
    let context = MirrorContext { home, cwd, project, wants, users, dry, faults };
    report_refresh(context.with_mirror(|mirror| mirror.withdraw_unwanted()), &**faults);
}

fn report_refresh(refreshed: Result<MirrorReport>, faults: &dyn FaultLog) {
    let warnings = match refreshed {
        Ok(report) => problem_warnings(&report),
        Err(error) => {
            vec![format!("cannot update Claude Code's copy of rules and skills: {error}")]
        }
    };
    for warning in warnings {
        faults.fault("mirror", &Error::usage(warning));
    }
}

/// Removes all mirrors, in all projects.
pub(crate) fn remove_all_mirrors(home: &Path, cwd: &Path, dry: bool) -> MirrorReport {
    let claude = find_client_dirs(cwd).of(AgentClient::ClaudeCode);
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
    faults: &'a Arc<dyn FaultLog>,
}

impl<'a> MirrorContext<'a> {
    /// Loads the current configuration; an unreadable one wants no mirrors.
    fn from_current_config(
        home: &'a Path,
        cwd: &'a Path,
        project: &'a Project,
        faults: &'a Arc<dyn FaultLog>,
    ) -> Self {
        let settings = ResolvedSettings::load(&FlagOverrides::default()).ok();
        let said = settings.map(|settings| (settings.mirror, settings.users_mirror));
        let (wants, users) = said.unwrap_or((MirrorSettings::NONE, MirrorSettings::NONE));
        Self { home, cwd, project, wants, users, dry: false, faults }
    }

    fn with_mirror<T>(&self, act: impl FnOnce(ClaudeMirror<'_>) -> Result<T>) -> Result<T> {
        let &MirrorContext { home, cwd, project, wants, users, dry, faults } = self;
        let (dirs, memory) = (find_client_dirs(cwd), memory_in(home, Arc::clone(faults)));
        let claude = dirs.of(AgentClient::ClaudeCode);
        let roots = || ProjectNames::read(home).all_roots();
        act(ClaudeMirror {
            locations: MirrorLocations { home, claude: &claude, roots: &roots },
            user: &dirs.home,
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

/// Warnings about files that were left as they are, and about faults.
pub(crate) fn problem_warnings(report: &MirrorReport) -> Vec<String> {
    let left = report.left.iter().map(|left| {
        let what = match left.why {
            LeftReason::Changed => {
                "was changed since recoup wrote it and is left as it is; delete it to have the next sync write it again"
            }
            LeftReason::NotOurs => {
                "was not written by recoup and is left as it is; recoup's own file is not written there"
            }
            LeftReason::Lines => {
                "has lines about recoup's files that recoup did not write or that were changed; they are left as they are. Delete them to have the next sync write its own"
            }
        };
        format!("{} {what}", left.path.display())
    });
    left.chain(fault_warnings(report)).collect()
}

/// Warnings about what remains after a removal.
pub(crate) fn leftover_warnings(report: &MirrorReport) -> Vec<String> {
    let left = report.left.iter().filter(|left| left.why != LeftReason::NotOurs).map(|left| {
        format!(
            "{} was changed since recoup wrote it and is left as it is; remove by hand what you no longer want",
            left.path.display()
        )
    });
    left.chain(fault_warnings(report)).collect()
}

fn fault_warnings(report: &MirrorReport) -> impl Iterator<Item = String> {
    let faults = report.faults.iter();
    faults.map(|fault| format!("cannot update {}: {}", fault.dir.display(), fault.why))
}
