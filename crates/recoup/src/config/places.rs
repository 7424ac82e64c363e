//! The directories that everything else is found from.

use std::path::{Path, PathBuf};

use recoup_core::{Error, ErrorKind, Result};

use super::env;
use super::origin::File;

/// Where a command was started, and where our files are.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Where the command was started.
    pub(crate) cwd: PathBuf,
    /// Our own directory.
    pub(crate) home: PathBuf,
    /// The user's, if there is one.
    pub(crate) user_home: Option<PathBuf>,
}

impl Places {
    pub(crate) fn find() -> Result<Self> {
        Self::seen_from(env::current_dir()?)
    }

    /// The same where the directory may be gone that we were started in: a client goes on
    /// after it has removed its own.
    pub(crate) fn find_anyhow() -> Result<Self> {
        Self::seen_from(env::current_dir().unwrap_or_else(|_| "/".into()))
    }

    fn seen_from(cwd: PathBuf) -> Result<Self> {
        let user_home = env::path(&env::HOME);
        let home = own_directory(&cwd, user_home.as_deref())?;
        Ok(Self { cwd, home, user_home })
    }

    /// The user's configuration, whether it is there or not.
    pub(crate) fn user_file(&self) -> PathBuf {
        self.home.join(File::User.name())
    }
}

fn own_directory(cwd: &Path, user_home: Option<&Path>) -> Result<PathBuf> {
    match (env::path(&env::RECOUP_HOME), user_home) {
        (Some(home), _) => Ok(cwd.join(home)),
        (None, Some(user)) => Ok(user.join(".recoup")),
        (None, None) => Err(Error::new(
            ErrorKind::Absent,
            "there is no home directory: set RECOUP_HOME to the directory that recoup may use",
        )),
    }
}
