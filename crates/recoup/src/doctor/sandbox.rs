//! Isolation of what is tested: a temporary home and project that receive whatever is written, with
//! one rule in memory to see whether rules arrive.

use std::path::PathBuf;

use recoup_core::base::fsx;
use recoup_core::memory::{NoteKind, NoteScope, NoteSource, Statement};
use recoup_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::DoctorContext;
use super::finding::DoctorFinding;
use super::interrupt_cleanup::CLEANUP;

/// Text that no user would write by chance.
pub(super) const RULE: &str = "use the lantern of the recoup doctor";

/// A temporary home and project, removed on drop.
#[derive(Debug)]
pub(super) struct ProbeSandbox {
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    _dir: TempDir,
}

impl ProbeSandbox {
    /// Makes both.
    pub(super) fn new(context: &DoctorContext) -> Result<Self> {
        let failed =
            |error| Error::new(ErrorKind::Io, "making a temporary directory").with_source(error);
        let mut made = CLEANUP.lock();
        let dir = tempfile::Builder::new().prefix("recoup-doctor-").tempdir().map_err(failed)?;
        made.dirs.push(dir.path().to_owned());
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        fsx::ensure_private_dir(&home)?;
        // With a root marker of its own, so that no directory above is taken for the project.
        fsx::ensure_private_dir(&project)?;
        fsx::write_unsynced(&project.join("recoup.toml"), b"")?;
        let (kind, scope) = (NoteKind::Preference, NoteScope::Universal);
        let rule = Statement::new(kind, RULE.to_owned(), NoteSource::Manual, scope);
        context.memory_in(&home).record(&rule)?;
        Ok(Self { home, project, _dir: dir })
    }
}

/// Reports that nothing can be tested.
pub(super) fn no_room_finding(error: &Error) -> DoctorFinding {
    DoctorFinding::fail("no-room", format!("this program could not be tested: {error}"))
        .remedy("free some space in the temporary directory (TMPDIR)")
}
