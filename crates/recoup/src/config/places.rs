//! The directories from which everything else is found.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use recoup_core::{Error, ErrorKind, Result};

use super::env;
use super::origin::ConfigFile;

/// Mode bit of a directory that all users may write to, such as `/tmp`.
const STICKY: u32 = 0o1000;

/// Working directory and home directories.
#[derive(Debug, Clone)]
pub(crate) struct BaseDirs {
    /// Working directory at start.
    pub(crate) cwd: PathBuf,
    /// Recoup's own directory.
    pub(crate) home: PathBuf,
    /// The user's home directory, if there is one.
    pub(crate) user_home: Option<PathBuf>,
}

impl BaseDirs {
    pub(crate) fn find() -> Result<Self> {
        Self::from_cwd(env::current_dir()?)
    }

    /// Finds the directories even if the working directory is gone: a client may have deleted its
    /// own.
    pub(crate) fn find_lenient() -> Result<Self> {
        Self::from_cwd(env::current_dir().unwrap_or_else(|_| "/".into()))
    }

    fn from_cwd(cwd: PathBuf) -> Result<Self> {
        let user_home = env::path(&env::HOME);
        let home = match env::path(&env::RECOUP_HOME) {
            Some(given) => check_named_home(&given, user_home.as_deref())?,
            None => user_home.as_ref().map(|home| home.join(".recoup")).ok_or_else(|| {
                let message =
                    "no home directory found: set RECOUP_HOME to a directory for recoup's files";
                Error::new(ErrorKind::Absent, message)
            })?,
        };
        Ok(Self { cwd, home, user_home })
    }

    /// Path of the user's configuration, which may not exist.
    pub(crate) fn user_file(&self) -> PathBuf {
        self.home.join(ConfigFile::User.name())
    }
}

/// The directory that `RECOUP_HOME` names. Refused if it has another purpose, or if other users can
/// write to it.
fn check_named_home(given: &Path, user_home: Option<&Path>) -> Result<PathBuf> {
    let home = match (given.strip_prefix("~"), user_home) {
        (Ok(rest), Some(user)) => user.join(rest),
        _ => given.to_owned(),
    };
    let same = |other: &Path, found: &Metadata| {
        fs::metadata(other).is_ok_and(|it| (it.dev(), it.ino()) == (found.dev(), found.ino()))
    };
    let found = fs::metadata(&home).ok();
    let is = |other: &Path| home == other || found.as_ref().is_some_and(|it| same(other, it));
    let is_sticky = || found.as_ref().is_some_and(|it| it.mode() & STICKY != 0);
    let why = if !home.is_absolute() {
        "a relative path would mean a different directory in each project"
    } else if is(Path::new("/")) {
        "this is the root of the file system"
    } else if user_home.is_some_and(is) {
        "this is your home directory itself"
    } else if is_sticky() {
        "all users share this directory"
    } else {
        return Ok(home);
    };
    let example = if home.is_absolute() { &*home } else { Path::new("~") };
    Err(Error::usage(format!(
        "RECOUP_HOME: {} is refused: {why}; set it to a directory for recoup alone, such as {}, \
         or unset it to use ~/.recoup",
        given.display(),
        example.join("recoup").display()
    )))
}
