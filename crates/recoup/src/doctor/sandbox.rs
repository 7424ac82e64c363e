//! A temporary home and project that receive whatever a probed hook writes. Their memory has one
//! rule, to see whether rules arrive.

use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::memory::{NoteKind, NoteScope, NoteSource, NoteStatement};
use recoup_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::DoctorContext;
use super::interrupt_cleanup;

/// Text that no user would write by chance.
pub(super) const RULE: &str = "use the lantern of the recoup doctor";

const HOME: &str = "home";
const PROJECT: &str = "project";

/// A temporary home and project, removed on drop.
#[derive(Debug)]
pub(super) struct ProbeSandbox {
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    dir: TempDir,
}

impl ProbeSandbox {
    pub(super) fn new(context: &DoctorContext) -> Result<Self> {
        let failed =
            |error| Error::new(ErrorKind::Io, "making a temporary directory").with_source(error);
        let parent = temp_dir_outside(context);
        let make =
            || tempfile::Builder::new().prefix("recoup-doctor-").tempdir_in(parent).map_err(failed);
        let dir = interrupt_cleanup::create_registered_dir(make, TempDir::path, |dir| {
            prepare_sandbox(dir.path(), context)
        })?;
        Ok(Self { home: dir.path().join(HOME), project: dir.path().join(PROJECT), dir })
    }
}

/// A directory for temporary files outside the repository.
fn temp_dir_outside(context: &DoctorContext) -> PathBuf {
    let usual = std::env::temp_dir();
    let others = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
    let mut all = std::iter::once(usual).chain(others).filter(|dir| dir.is_absolute());
    let found = all.find(|dir| !context.repository.contains(dir));
    found.unwrap_or_else(|| context.places.home.clone())
}

fn prepare_sandbox(dir: &Path, context: &DoctorContext) -> Result<()> {
    let (home, project) = (dir.join(HOME), dir.join(PROJECT));
    fsx::ensure_private_dir(&home)?;
    // With a root marker of its own, so that no directory above is taken for the project.
    fsx::ensure_private_dir(&project)?;
    fsx::write_unsynced(&project.join("recoup.toml"), b"")?;
    let rule = NoteStatement::new(
        NoteKind::Preference,
        RULE.to_owned(),
        NoteSource::Manual,
        NoteScope::Universal,
    );
    context.memory_in(&home).record(&rule).map(drop)
}

impl Drop for ProbeSandbox {
    fn drop(&mut self) {
        interrupt_cleanup::remove_registered_dir(self.dir.path());
    }
}
