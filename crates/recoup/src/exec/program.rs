//! Finds a program as the system would when it is asked to run it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use recoup_core::entry::Identity;
use recoup_core::key::command::Executable;
use rustix::fs::{Access, access};
use rustix::io::Errno;

/// Where programs are looked for when `PATH` is not set, as the C library has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// What runs scripts that do not say what they are for.
const SHELL: &str = "/bin/sh";

/// A program and its arguments, ready to be run.
#[derive(Debug)]
pub(crate) struct Program {
    /// As it was called.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) executable: Executable,
}

/// Why there is nothing to run.
#[derive(Debug)]
pub(crate) struct Missing {
    name: String,
    why: String,
    /// As shells have it: 127 not found, 126 found and not to be run.
    pub(crate) code: i32,
}

impl Missing {
    fn not_found(name: &OsStr) -> Self {
        Self { name: shown(name), why: "command not found".to_owned(), code: 127 }
    }

    fn not_executable(name: &OsStr) -> Self {
        Self { name: shown(name), why: "not an executable file".to_owned(), code: 126 }
    }

    /// Found, but the system would not start it.
    pub(super) fn not_started(name: &OsStr, error: &io::Error) -> Self {
        // A script's interpreter may be missing.
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        Self { name: shown(name), why: error.to_string(), code }
    }
}

fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

impl Program {
    /// Looks for the first of `words` from `cwd`, or along `path` if it is a bare name.
    pub(crate) fn find(
        words: Vec<OsString>,
        path: Option<&OsStr>,
        cwd: &Path,
    ) -> Result<Self, Missing> {
        let mut words = words.into_iter();
        let name = words.next().unwrap_or_default();
        let executable = locate(&name, path, cwd)?;
        Ok(Self { name, arguments: words.collect(), executable })
    }

    /// What its results are known by.
    pub(crate) fn identity(&self) -> Identity {
        Identity { name: Some(shown(&self.name)), ..Identity::default() }
    }

    /// All words of the command, its name first.
    pub(crate) fn words(&self) -> Vec<OsString> {
        std::iter::once(&self.name).chain(&self.arguments).cloned().collect()
    }

    /// Starts it as shells do: what the system can't run, because it does not say how,
    /// is a script of theirs.
    pub(super) fn start<T>(&self, start: impl Fn(Command) -> io::Result<T>) -> io::Result<T> {
        let mut command = Command::new(self.path());
        command.arg0(&self.name).args(&self.arguments);
        match start(command) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NOEXEC) => {
                let mut shell = Command::new(SHELL);
                shell.arg(self.path()).args(&self.arguments);
                start(shell)
            }
            started => started,
        }
    }

    /// As it was called where that was a path: a script sees that.
    fn path(&self) -> &OsStr {
        if is_path(&self.name) { &self.name } else { self.executable.path.as_os_str() }
    }
}

fn locate(name: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Result<Executable, Missing> {
    if name.is_empty() {
        return Err(Missing::not_found(name));
    }
    if is_path(name) {
        return look(&cwd.join(name), name);
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut missing = Missing::not_found(name);
    for dir in std::env::split_paths(path) {
        // An empty entry is the working directory.
        match look(&cwd.join(dir).join(name), name) {
            Ok(found) => return Ok(found),
            Err(other) if other.code < missing.code => missing = other,
            Err(_) => {}
        }
    }
    Err(missing)
}

fn is_path(name: &OsStr) -> bool {
    name.as_bytes().contains(&b'/')
}

fn look(path: &Path, name: &OsStr) -> Result<Executable, Missing> {
    let found = path.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Missing::not_executable(name),
        _ => Missing::not_found(name),
    })?;
    if !found.is_file() || access(path, Access::EXEC_OK).is_err() {
        return Err(Missing::not_executable(name));
    }
    Ok(Executable {
        path: path.components().collect::<PathBuf>(),
        target: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        size: found.len(),
        mtime: (found.mtime(), found.mtime_nsec()),
    })
}
