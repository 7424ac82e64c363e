//! Finds a program as the system would, and the other files that decide what runs: interpreters,
//! the program behind a wrapper, files among the arguments.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use recoup_core::base::fsx;
use recoup_core::entry::ProducerIdentity;
use recoup_core::key::command::ResolvedExecutable;
use recoup_core::memory::shell::{is_wrapper, split_commands};
use recoup_core::{Error, ErrorKind, Result as CoreResult};
use rustix::fs::{Access, access};
use rustix::io::Errno;

/// Search path if `PATH` is not set, as in the C library.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Interpreter of scripts without a shebang.
const SHELL: &str = "/bin/sh";

/// Bytes of a file in which its interpreter is named. The kernel reads as much.
const SHEBANG_LEN: usize = 256;

/// Limit of programs that are considered for one command.
const MAX_PROGRAMS: usize = 64;

/// A program that was found, and its arguments.
#[derive(Debug)]
pub(crate) struct ResolvedProgram {
    /// Name as it was given.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// The program itself, then those that it runs with or starts, as far as the command line
    /// tells.
    pub(crate) executables: Vec<ResolvedExecutable>,
}

/// Reason why a program can't be run.
#[derive(Debug)]
pub(crate) struct ProgramError {
    name: String,
    why: String,
    /// Exit code, as in shells: 127 not found, 126 not executable.
    pub(crate) code: i32,
}

impl ProgramError {
    fn not_found(name: &OsStr) -> Self {
        Self { name: display_name(name), why: "command not found".to_owned(), code: 127 }
    }

    fn not_executable(name: &OsStr) -> Self {
        Self { name: display_name(name), why: "not an executable file".to_owned(), code: 126 }
    }

    /// Found, but the system failed to start it.
    pub(super) fn not_started(name: &OsStr, error: &io::Error) -> Self {
        // A script's interpreter may be missing.
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        Self { name: display_name(name), why: error.to_string(), code }
    }
}

fn display_name(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

impl ResolvedProgram {
    /// Looks for the first of `words` from `cwd`, or along `path` if it is a bare name.
    pub(crate) fn find(
        words: Vec<OsString>,
        path: Option<&OsStr>,
        cwd: &Path,
    ) -> Result<Self, ProgramError> {
        let mut words = words.into_iter();
        let name = words.next().unwrap_or_default();
        let executables = vec![locate(&name, path, cwd)?];
        let mut program = Self { name, arguments: words.collect(), executables };
        let add = |executables: &mut Vec<ResolvedExecutable>, found: ResolvedExecutable| {
            if executables.len() < MAX_PROGRAMS && !executables.contains(&found) {
                executables.push(found);
            }
        };
        // A wrapper's flags take words of any kind, so every word that is a program counts. One too
        // many costs a run when it is replaced, one too few would give out a wrong answer.
        if is_wrapper(Path::new(&program.name)) {
            let words = program.argument_words();
            // `env PATH=… tool`
            let own_path = words.iter().find_map(|word| word.as_bytes().strip_prefix(b"PATH="));
            let path = own_path.map(OsStr::from_bytes).or(path);
            for word in &words {
                if let Ok(found) = locate(word, path, cwd) {
                    add(&mut program.executables, found);
                }
            }
        }
        // Then the interpreters of all scripts.
        let mut next = 0;
        while let Some(script) = program.executables.get(next) {
            for interpreter in interpreters(&script.target) {
                if let Ok(found) = locate(&interpreter, path, cwd) {
                    add(&mut program.executables, found);
                }
            }
            next += 1;
        }
        Ok(program)
    }

    /// Programs as part of a key: below `root` by relative path, so that all checkouts of a
    /// repository agree.
    pub(crate) fn executables_relative_to(&self, root: &Path) -> Vec<ResolvedExecutable> {
        let inside = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
        let seen = self.executables.iter();
        seen.map(|it| ResolvedExecutable { path: inside(&it.path), target: inside(&it.target) })
            .collect()
    }

    /// File of the program itself.
    pub(crate) fn file(&self) -> &Path {
        &self.executables[0].target
    }

    /// Files of all programs, as sources. One that is executable but not readable can't be watched.
    pub(crate) fn program_files(&self) -> CoreResult<Vec<String>> {
        let files = self.executables.iter().map(|it| it.target.as_path());
        files.filter(|file| File::open(file).is_ok()).map(path_as_source).collect()
    }

    /// Files among the arguments, as sources.
    pub(crate) fn argument_files(&self, cwd: &Path) -> CoreResult<BTreeSet<String>> {
        self.files_among(&self.arguments, cwd)
    }

    /// Files among the arguments and in shell lines, as sources.
    pub(crate) fn mentioned_files(&self, cwd: &Path) -> CoreResult<BTreeSet<String>> {
        self.files_among(&self.argument_words(), cwd)
    }

    /// Finds `x.py`, and also `--config=x.toml`, `@x.json` and `-fx.mk`. Leaves out programs.
    fn files_among(&self, words: &[OsString], cwd: &Path) -> CoreResult<BTreeSet<String>> {
        let mut files = BTreeSet::new();
        for word in words {
            let bytes = word.as_bytes();
            let value =
                bytes.iter().position(|byte| *byte == b'=').map_or(bytes, |at| &bytes[at + 1..]);
            let behind_flag = match bytes {
                [b'-', letter, rest @ ..] if letter.is_ascii_alphabetic() => rest,
                _ => &[],
            };
            let behind_sign = value.strip_prefix(b"@").unwrap_or_default();
            for meant in [bytes, value, behind_flag, behind_sign] {
                let path = cwd.join(OsStr::from_bytes(meant));
                let is_readable = || path.is_file() && File::open(&path).is_ok();
                let is_program = || {
                    let target = path.canonicalize();
                    target.is_ok_and(|it| self.executables.iter().any(|known| known.target == it))
                };
                if !meant.is_empty() && is_readable() && !is_program() {
                    files.insert(path_as_source(Path::new(OsStr::from_bytes(meant)))?);
                }
            }
        }
        Ok(files)
    }

    /// Arguments; for a wrapper also the words of its shell lines (`sh -c LINE`), without the files
    /// that these write before reading them.
    fn argument_words(&self) -> Vec<OsString> {
        if !is_wrapper(Path::new(&self.name)) {
            return self.arguments.clone();
        }
        let (mut words, mut is_line) = (Vec::new(), false);
        for argument in &self.arguments {
            match argument.to_str() {
                Some(line) if is_line => words_of_line(line, &mut words, &mut Vec::new()),
                _ => words.push(argument.clone()),
            }
            let flag = argument.as_bytes();
            is_line = flag.starts_with(b"-") && !flag.starts_with(b"--") && flag.ends_with(b"c");
        }
        words
    }

    /// Identity of its results in the cache.
    pub(crate) fn identity(&self) -> ProducerIdentity {
        ProducerIdentity { name: Some(display_name(&self.name)), ..ProducerIdentity::default() }
    }

    /// All words of the command, its name first.
    pub(crate) fn words(&self) -> Vec<OsString> {
        std::iter::once(&self.name).chain(&self.arguments).cloned().collect()
    }

    /// Starts it as shells do: a file without a known format is run as a shell script.
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

    /// Path to run; as it was given if that is a path, because a script sees it.
    fn path(&self) -> &OsStr {
        if is_path(&self.name) { &self.name } else { self.executables[0].path.as_os_str() }
    }
}

fn locate(
    name: &OsStr,
    path: Option<&OsStr>,
    cwd: &Path,
) -> Result<ResolvedExecutable, ProgramError> {
    if name.is_empty() {
        return Err(ProgramError::not_found(name));
    }
    if is_path(name) {
        return check_executable(&cwd.join(name), name);
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut missing = ProgramError::not_found(name);
    for dir in std::env::split_paths(path) {
        // An empty entry is the working directory.
        match check_executable(&cwd.join(dir).join(name), name) {
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

fn check_executable(path: &Path, name: &OsStr) -> Result<ResolvedExecutable, ProgramError> {
    let found = path.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => ProgramError::not_executable(name),
        _ => ProgramError::not_found(name),
    })?;
    if !found.is_file() || access(path, Access::EXEC_OK).is_err() {
        return Err(ProgramError::not_executable(name));
    }
    Ok(ResolvedExecutable {
        path: path.components().collect::<PathBuf>(),
        target: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
    })
}

/// Adds the words of a shell line and the files that it reads, and those of lines within it
/// (`"$(cat x)"`). Leaves out files that the line writes first.
fn words_of_line(line: &str, words: &mut Vec<OsString>, written: &mut Vec<OsString>) {
    for command in split_commands(line) {
        for word in command.inputs.into_iter().chain(command.words) {
            match word.as_str() {
                _ if written.iter().any(|it| *it == *word) => {}
                inner if inner != line && inner.contains(['(', '`', ' ']) => {
                    let inner = inner.trim_start_matches('$').trim_matches('`');
                    words_of_line(inner, words, written);
                }
                _ => words.push(OsString::from(word)),
            }
        }
        written.extend(command.outputs.into_iter().map(OsString::from));
    }
}

/// Programs that a script's first line names: `#!/bin/sh`, `#!/usr/bin/env -S python3`.
fn interpreters(script: &Path) -> Vec<OsString> {
    let Ok(fsx::FileLookup::Regular(file)) = fsx::open_regular(script) else { return Vec::new() };
    let start = file.read_start(SHEBANG_LEN).unwrap_or_default();
    let Some(line) = start.strip_prefix(b"#!") else { return Vec::new() };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return Vec::new() };
    let is_env = Path::new(OsStr::from_bytes(first)).file_name() == Some(OsStr::new("env"));
    let found = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    let started = found.filter(|_| is_env);
    [Some(first), started]
        .into_iter()
        .flatten()
        .map(|it| OsStr::from_bytes(it).to_owned())
        .collect()
}

/// Converts a path to a source, which must be UTF-8.
pub(crate) fn path_as_source(path: &Path) -> CoreResult<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("the path {} is not UTF-8, so it can't be watched", path.display());
        Error::new(ErrorKind::Invalid, message)
    })
}
