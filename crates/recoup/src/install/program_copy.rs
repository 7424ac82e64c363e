//! A copy of this program in our own directory, for clients to start: a package runner (npx, uvx,
//! pipx) starts it from a cache that is cleared some day.

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;

use super::places::{InstallPaths, find_lasting_path, program_copy_path, runner_cache};

/// A program that is to be copied, and its destination.
#[derive(Debug)]
pub(crate) struct ProgramCopy {
    from: PathBuf,
    /// Destination of the copy.
    pub(crate) to: PathBuf,
    /// Explains why the running program does not last.
    pub(crate) reason: &'static str,
}

impl ProgramCopy {
    /// Plans a copy of the `running` program; `None` if it lasts, or if the search path has the same
    /// program in a place that does.
    pub(crate) fn plan(running: &Path, places: &InstallPaths) -> Option<Self> {
        let reason = runner_cache(running)?;
        if find_lasting_path(running, places).is_some() {
            return None;
        }
        Some(Self { from: running.to_owned(), to: program_copy_path(places), reason })
    }

    /// True if the copy is not there, or is another version.
    pub(crate) fn is_needed(&self) -> bool {
        let read = |path: &Path| std::fs::read(path).ok();
        let size = |path: &Path| path.metadata().map(|found| found.len()).ok();
        size(&self.from) != size(&self.to) || read(&self.from) != read(&self.to)
    }

    /// Writes the copy. A program that runs from the old one is not disturbed.
    pub(crate) fn write(&self) -> Result<()> {
        let reading = || format!("cannot read {}", self.from.display());
        let program = std::fs::read(&self.from).with_context(reading)?;
        let dir = fsx::parent(&self.to);
        fsx::ensure_private_dir(fsx::parent(dir))?;
        fsx::ensure_private_dir(dir)?;
        fsx::write_program(&self.to, &program)
    }
}
