//! A temporary home and project that receive whatever a probed hook writes. Their memory has one
//! rule, to see whether rules arrive.

use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::memory::{NoteKind, NoteScope, Source, Statement};
use recoup_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::Around;
use super::leave;
use crate::cli::app::memory_in;

/// Text that no user would write by chance.
pub(super) const RULE: &str = "use the lantern of the recoup doctor";

const HOME: &str = "home";
const PROJECT: &str = "project";

/// A temporary home and project, removed on drop.
#[derive(Debug)]
pub(super) struct Sandbox {
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    dir: TempDir,
}

impl Sandbox {
    pub(super) fn new(around: &Around) -> Result<Self> {
        let failed =
            |error| Error::new(ErrorKind::Io, "making a temporary directory").with_source(error);
        let parent = outside(around);
        let make =
            || tempfile::Builder::new().prefix("recoup-doctor-").tempdir_in(parent).map_err(failed);
        let dir = leave::making(make, TempDir::path, |dir| fill(dir.path()))?;
        Ok(Self { home: dir.path().join(HOME), project: dir.path().join(PROJECT), dir })
    }
}

/// A directory for temporary files outside the repository.
fn outside(around: &Around) -> PathBuf {
    let usual = std::env::temp_dir();
    let others = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
    let mut all = std::iter::once(usual).chain(others).filter(|dir| dir.is_absolute());
    let found = all.find(|dir| !around.repository.has(dir));
    found.unwrap_or_else(|| around.places.home.clone())
}

fn fill(dir: &Path) -> Result<()> {
    let (home, project) = (dir.join(HOME), dir.join(PROJECT));
    fsx::ensure_private_dir(&home)?;
    // With a root marker of its own, so that no directory above is taken for the project.
    fsx::ensure_private_dir(&project)?;
    fsx::write_whole(&project.join("recoup.toml"), b"")?;
    let rule =
        Statement::new(NoteKind::Preference, RULE.to_owned(), Source::Manual, NoteScope::Universal);
    memory_in(&home).record(&rule).map(drop)
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        leave::unmaking(self.dir.path());
    }
}
