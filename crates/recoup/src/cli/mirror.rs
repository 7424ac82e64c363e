//! Mirrors, as commands that load no settings change them; warnings are printed.

use std::path::Path;
use std::sync::Arc;

use recoup_core::base::FaultLog;
use recoup_core::base::project::Project;
use recoup_core::memory::NoteScope;

use super::failure::FaultPrinter;
use super::ui;
use crate::app;
pub(super) use crate::app::remove_all_mirrors;
use crate::mirror::MirrorReport;

/// Updates the mirrors after notes of these scopes have changed.
pub(super) fn refresh_mirrors(home: &Path, project: &Project, changed: &[NoteScope]) {
    app::refresh_mirrors(home, project, changed, &fault_printer());
}

/// Removes what a changed configuration no longer wants, in all projects.
pub(super) fn remove_unwanted_mirrors() {
    app::remove_unwanted_mirrors(&fault_printer());
}

/// Warns about files that were left as they are, and about faults.
pub(super) fn warn_of_problems(report: &MirrorReport) {
    app::problem_warnings(report).iter().for_each(ui::warn);
}

/// Warns about what remains after a removal.
pub(super) fn warn_of_leftovers(report: &MirrorReport) {
    app::leftover_warnings(report).iter().for_each(ui::warn);
}

fn fault_printer() -> Arc<dyn FaultLog> {
    Arc::new(FaultPrinter)
}
