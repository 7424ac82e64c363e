//! Keeping in step what Claude Code reads by itself.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::project::Project;
use recoup_core::memory::{Memory, NoteScope};

use super::app::{App, memory_in};
use super::ui;
use crate::config::ClientDirs;
use crate::mirror::{Mirror, Report};

impl App {
    /// Brings a project in step, as the configuration has it.
    pub(super) fn sync_mirrors(&self, project: &Project, dry: bool) -> Result<Report> {
        let (home, memory) = (&self.settings.home, self.memory());
        with_mirror(home, &self.settings.cwd, &memory, dry, |mirror| {
            mirror.sync(project, self.settings.mirror)
        })
    }

    /// Memories of these scopes have changed.
    pub(super) fn refresh_mirrors(&self, changed: &[NoteScope]) {
        refresh_mirrors(&self.settings.home, &self.settings.cwd, changed);
    }
}

/// Memories of these scopes have changed: what was made of them is made anew. The change
/// itself is done, so that what goes wrong here is only told.
pub(super) fn refresh_mirrors(home: &Path, cwd: &Path, changed: &[NoteScope]) {
    match refreshed(home, cwd, changed) {
        Ok(report) => tell_problems(&report),
        Err(error) => ui::warn(format_args!("not in step for Claude Code: {error}")),
    }
}

pub(super) fn refreshed(home: &Path, cwd: &Path, changed: &[NoteScope]) -> Result<Report> {
    let memory = memory_in(home);
    with_mirror(home, cwd, &memory, false, |mirror| mirror.refresh(changed))
}

fn with_mirror<T>(
    home: &Path,
    cwd: &Path,
    memory: &Memory,
    dry: bool,
    act: impl FnOnce(&Mirror<'_>) -> Result<T>,
) -> Result<T> {
    let dirs = ClientDirs::find(cwd);
    let (user, claude) = (dirs.home(), dirs.claude_code());
    act(&Mirror { home, user, claude, memory, clock: &SystemClock, dry })
}

/// What a person should know of.
pub(super) fn tell_problems(report: &Report) {
    for path in &report.left {
        let path = path.display();
        ui::warn(format_args!(
            "{path} was changed since recoup wrote it, and is left as it is: delete it, and the next sync writes it anew"
        ));
    }
    for fault in &report.faults {
        ui::warn(format_args!("{} is not in step: {}", fault.dir.display(), fault.why));
    }
}
