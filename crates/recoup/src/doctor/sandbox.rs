//! Isolation of what is probed: a temporary home and project that receive whatever it writes, with
//! one rule in memory to see whether rules arrive, and nothing that leads into the repository.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use memchr::memmem;
use recoup_core::base::fsx;
use recoup_core::memory::{NoteKind, NoteScope, NoteSource, Statement};
use recoup_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::{DoctorContext, interrupt_cleanup};
use crate::config::env;

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
    /// Makes both, outside the repository.
    pub(super) fn new(context: &DoctorContext) -> Result<Self> {
        let failed =
            |error| Error::new(ErrorKind::Io, "making a temporary directory").with_source(error);
        let others = ["/tmp", "/var/tmp"].map(PathBuf::from);
        let parent = std::iter::once(std::env::temp_dir())
            .chain(others)
            .find(|dir| dir.is_absolute() && !context.repository.contains(dir))
            .unwrap_or_else(|| context.places.dirs.home.clone());
        let make =
            || tempfile::Builder::new().prefix("recoup-doctor-").tempdir_in(parent).map_err(failed);
        let dir = interrupt_cleanup::create_registered_dir(make, TempDir::path, |dir| {
            let (home, project) = (dir.path().join(HOME), dir.path().join(PROJECT));
            fsx::ensure_private_dir(&home)?;
            // With a root marker of its own, so that no directory above is taken for the project.
            fsx::ensure_private_dir(&project)?;
            fsx::write_unsynced(&project.join("recoup.toml"), b"")?;
            let rule = Statement::new(
                NoteKind::Preference,
                RULE.to_owned(),
                NoteSource::Manual,
                NoteScope::Universal,
            );
            context.memory_in(&home).record(&rule).map(drop)
        })?;
        Ok(Self { home: dir.path().join(HOME), project: dir.path().join(PROJECT), dir })
    }
}

impl Drop for ProbeSandbox {
    fn drop(&mut self) {
        interrupt_cleanup::remove_registered_dir(self.dir.path());
    }
}

/// Variables that name a working directory; removed whatever their value.
const DIRECTORY_VARIABLES: [&str; 3] = ["PWD", "OLDPWD", "CLAUDE_PROJECT_DIR"];

/// The enclosing repository, with what could lead a program into it.
#[derive(Debug)]
pub(super) struct EnclosingRepository {
    /// Root as named and as resolved; none in the user's home or above it.
    roots: Option<[PathBuf; 2]>,
    /// Variables that lead into it.
    leading: Vec<OsString>,
    /// PATH without relative entries and those in the repository.
    search: OsString,
}

impl EnclosingRepository {
    /// Finds the outermost repository around a project's root, which may be a subdirectory of it.
    pub(super) fn find_around(root: &Path, home: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let home = real(home);
        let is_one = |dir: &&Path| !home.starts_with(real(dir));
        let is_git = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
        let outermost = root.ancestors().take_while(is_one).filter(is_git).last();
        let root = outermost.or(Some(root).filter(is_one));
        let mut this = Self {
            roots: root.map(|root| [root.to_owned(), real(root)]),
            leading: DIRECTORY_VARIABLES.map(OsString::from).to_vec(),
            search: OsString::new(),
        };
        let variables = env::all_variables().filter(|(name, _)| name != "PATH");
        let leading = variables.filter(|(_, value)| this.is_mentioned_in(value.as_bytes()));
        let leading: Vec<OsString> = leading.map(|(name, _)| name).collect();
        this.leading.extend(leading);
        let search = env::search_path().unwrap_or_default();
        let dirs =
            std::env::split_paths(&search).filter(|dir| dir.is_absolute() && !this.contains(dir));
        this.search = std::env::join_paths(dirs).unwrap_or_default();
        this
    }

    /// True if a path is in the repository.
    pub(super) fn contains(&self, path: &Path) -> bool {
        let Some([named, real]) = &self.roots else { return false };
        let is_there = |path: &Path| path.starts_with(named) || path.starts_with(real);
        is_there(path) || path.canonicalize().is_ok_and(|path| is_there(&path))
    }

    /// True if a text contains the repository's path.
    pub(super) fn is_mentioned_in(&self, text: &[u8]) -> bool {
        let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        let is_in = |root: &PathBuf| {
            let root = root.as_os_str().as_bytes();
            let mut ends = memmem::find_iter(text, root).map(|at| at + root.len());
            ends.any(|end| !text.get(end).is_some_and(goes_on))
        };
        self.roots.iter().flatten().any(is_in)
    }

    /// True if a word uses a variable that leads into the repository.
    pub(super) fn is_reached_by_variable(&self, word: &str) -> bool {
        let names = self.leading.iter().filter_map(|name| name.to_str());
        let mut forms = names.flat_map(|name| [format!("${name}"), format!("${{{name}")]);
        forms.any(|form| word.contains(&form))
    }

    /// Variables to be removed from a program's environment.
    pub(super) fn leading_variables(&self) -> impl Iterator<Item = &OsStr> {
        self.leading.iter().map(OsString::as_os_str)
    }

    /// PATH without the repository.
    pub(super) fn search_path(&self) -> &OsStr {
        &self.search
    }
}
