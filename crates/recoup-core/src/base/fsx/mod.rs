//! The only place that writes files: private modes, whole files or none, and
//! no symbolic link followed where one could have been planted.
//!
//! A reader never sees half a file: contents go to a temporary file beside the
//! target, are synced, and are renamed over it.

mod lock;
mod output;
mod regular;
mod shared_dir;

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Error, ErrorKind, IoContext, Result};

pub use lock::{
    EphemeralLock, FileLock, append_shared, append_text, open_with_shared_lock, rename_and_settle,
};
pub use output::{resolve_path, write_output};
pub use regular::{
    FileIdentity, FileLookup, FileVersionStamp, RegularFile, open_regular, rewrite_tail,
};
pub use shared_dir::{
    is_abandoned, is_hidden_temporary, remove_if, remove_if_unchanged, replace, replace_if,
    sweep_temporaries, temporaries_in, temporary_target, try_remove_if_unchanged,
};

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The bits that let others plant or replace files in a directory.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Prefix of temporary files' names, except in directories that other programs read.
const HIDDEN: &str = ".recoup-";
/// Number of random characters after that prefix.
const HIDDEN_RANDOM: usize = 6;
/// Limit on the memory reserved for a file's claimed length.
const RESERVED_MOST: u64 = 1 << 20;

/// Creates `dir` if it is missing, accessible to its owner alone. An existing one keeps its mode:
/// it is the user's.
pub fn ensure_dir(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(DIR_MODE)
        .create(dir)
        .with_write_context(|| format!("cannot create the directory {}", dir.display()))
}

/// Makes sure that `dir` exists, belongs to this user and is not writable by others. For our own
/// directories, such as `~/.recoup`.
///
/// New directories are private. The mode of an existing one is never changed, because others may
/// need it: files in it are private by their own mode.
pub fn ensure_private_dir(dir: &Path) -> Result<()> {
    ensure_dir(dir)?;
    let meta = fs::metadata(dir).with_context(|| format!("cannot access {}", dir.display()))?;
    let shown = dir.display();
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::new(
            ErrorKind::Io,
            format!("refusing to use {shown}: owned by another user; choose another directory"),
        ));
    }
    if meta.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(Error::new(
            ErrorKind::Io,
            format!(
                "refusing to use {shown}: other users can write to it (mode {:o}); run `chmod \
                 go-w {shown}`, or choose another directory",
                meta.mode() & 0o7777
            ),
        ));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "fsx is where modes are set")]
fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot set the mode of {}", path.display()))
}

/// Removes other users' access to a file or directory of ours. Links are not followed.
pub fn make_private(path: &Path) -> Result<()> {
    let found =
        fs::symlink_metadata(path).with_context(|| format!("cannot access {}", path.display()))?;
    match (found.is_symlink(), found.is_dir()) {
        (true, _) => Ok(()),
        (false, true) => set_mode(path, DIR_MODE),
        // The owner's own bits stay.
        (false, false) => set_mode(path, found.mode() & 0o700),
    }
}

/// Creates an empty private file; `false` if anything exists at `path`, even a dangling link.
pub fn create_private(path: &Path) -> Result<bool> {
    match private_options().write(true).create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot create {}", path.display())),
    }
}

/// Opens a private file for reading and writing, creating it when it is
/// missing. A symbolic link in its place is an error.
fn open_private(path: &Path) -> Result<File> {
    private_options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_write_context(|| format!("cannot open {}", path.display()))
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Writes `contents` to `path`: private, atomic, and on disk when this returns. A symbolic link at
/// `path` is replaced, not followed.
pub fn write_atomic(path: &Path, contents: &[u8]) -> Result<()> {
    write_synced(path, FILE_MODE, contents)
        .with_context(|| format!("cannot write {}", path.display()))?;
    sync_dir(parent(path))
}

/// Like [`write_atomic`], but the file is a program that its owner can start.
pub fn write_program(path: &Path, contents: &[u8]) -> Result<()> {
    write_synced(path, DIR_MODE, contents)
        .with_context(|| format!("cannot write {}", path.display()))?;
    sync_dir(parent(path))
}

/// Like [`write_atomic`], but without syncing: a power failure may leave the file empty. For data
/// that can be made again and shows by itself whether it is complete.
pub fn write_unsynced(path: &Path, contents: &[u8]) -> Result<()> {
    let write = || {
        let file = write_temp_file(parent(path), HIDDEN.as_ref(), HIDDEN_RANDOM, contents)?;
        file.persist(path).map_err(io::Error::from)
    };
    write().map(drop).with_write_context(|| format!("cannot write {}", path.display()))
}

fn write_synced(path: &Path, mode: u32, contents: &[u8]) -> io::Result<()> {
    let file = write_temp_file(parent(path), HIDDEN.as_ref(), HIDDEN_RANDOM, contents)?;
    if mode != FILE_MODE {
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn write_temp_file(
    dir: &Path,
    prefix: &Path,
    random: usize,
    contents: &[u8],
) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(prefix)
        .rand_bytes(random)
        .permissions(fs::Permissions::from_mode(FILE_MODE))
        .tempfile_in(dir)?;
    // Locked while it is written, so that others can tell whether its writer is alive. Best effort:
    // some file systems have no locks.
    let _ = file.as_file().try_lock();
    file.write_all(contents)?;
    Ok(file)
}

/// Syncs a file to disk.
pub(crate) fn sync_file(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.with_context(|| format!("cannot sync {}", path.display()))
}

/// Renames a file within one directory tree and syncs the place it went to.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    rename_unsynced(from, to)?;
    sync_dir(parent(to))
}

/// Like [`rename`], but without syncing: for data that is recorded again after a power failure.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are renamed")]
pub fn rename_unsynced(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to)
        .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

/// Removes a file; `false` when there was none.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are removed")]
pub fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot remove {}", path.display())),
    }
}

/// Reads a file that may have at most `limit` bytes. Nothing is allocated for a claimed size.
pub fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let contents = read_start(path, limit.saturating_add(1))?;
    if contents.len() as u64 > limit {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("{} has more than {limit} bytes", path.display()),
        ));
    }
    Ok(contents)
}

/// At most the first `most` bytes of a file.
pub fn read_start(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut contents = Vec::new();
    let read = file.take(most).read_to_end(&mut contents);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(contents)
}

/// Reads a regular file of at most `limit` bytes; `None` if it is missing. Never blocks, as opening
/// a pipe would.
pub fn read_regular(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    read_checked(path, limit, |_| Ok(()))
}

/// Like [`read_regular`], after `check` has accepted the metadata of the opened file.
pub fn read_checked(
    path: &Path,
    limit: u64,
    check: impl FnOnce(&Metadata) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => {
            return Err(io::Error::from(error))
                .with_context(|| format!("cannot open {}", path.display()));
        }
    };
    let reading = || format!("cannot read {}", path.display());
    let found = file.metadata().with_context(reading)?;
    let refused = |why: String| Err(Error::new(ErrorKind::Invalid, why));
    if !found.is_file() {
        return refused(format!("{} is not a regular file", path.display()));
    }
    check(&found)?;
    let too_large = || refused(format!("{} has more than {limit} bytes", path.display()));
    if found.len() > limit {
        return too_large();
    }
    let mut content = read_buffer(found.len());
    // The file may grow while it is read, and some of /proc claims to be empty.
    file.take(limit.saturating_add(1)).read_to_end(&mut content).with_context(reading)?;
    if content.len() as u64 > limit {
        return too_large();
    }
    Ok(Some(content))
}

/// Buffer for a file that claims `len` bytes, limited because a sparse one may have none of them.
fn read_buffer(len: u64) -> Vec<u8> {
    // One more, so that the end is found without growing.
    Vec::with_capacity(usize::try_from(len.min(RESERVED_MOST) + 1).unwrap_or(0))
}

/// `path` with `suffix` appended to its last component.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The directory that `path` is in; `.` for a bare name.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// Makes a rename in `dir` survive a power failure.
fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .with_context(|| format!("cannot sync the directory {}", dir.display()))
}

/// A file that is written but not yet in its place. Removed if it is dropped.
#[derive(Debug)]
pub struct StagedFile(tempfile::NamedTempFile);

impl StagedFile {
    /// Writes `contents` to a private file in `dir`, which must be on the target's file system. Not
    /// synced.
    pub(crate) fn new(dir: &Path, contents: &[u8]) -> Result<Self> {
        let written = write_temp_file(dir, HIDDEN.as_ref(), HIDDEN_RANDOM, contents);
        Ok(Self(written.with_context(|| format!("cannot write to {}", dir.display()))?))
    }

    /// Moves it to `path` in one step, replacing what is there. Returns the moved file, whatever
    /// has taken its place since.
    pub(crate) fn move_into_place(self, path: &Path) -> Result<File> {
        let put = self.0.persist(path).map_err(io::Error::from);
        put.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Truncates an existing file.
pub(crate) fn truncate_file(path: &Path) -> Result<()> {
    let emptied = private_options().write(true).truncate(true).open(path);
    emptied.map(drop).with_write_context(|| format!("cannot truncate {}", path.display()))
}

/// Writes each part at its offset and syncs the file.
pub(crate) fn overwrite_ranges<'a>(
    path: &Path,
    parts: impl Iterator<Item = (u64, &'a [u8])>,
) -> Result<()> {
    let doing = || format!("cannot write {}", path.display());
    let file = private_options().write(true).open(path).with_write_context(doing)?;
    for (at, part) in parts {
        file.write_all_at(part, at).with_write_context(doing)?;
    }
    file.sync_all().with_write_context(doing)
}

/// True if there is a directory at `path`. A link to one, or anything else there, is an error: it
/// is somebody's.
pub fn is_real_dir(path: &Path) -> Result<bool> {
    let refused =
        |why: &str| Err(Error::new(ErrorKind::Invalid, format!("{} {why}", path.display())));
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(found) if found.is_symlink() => {
            refused("is a symbolic link, which recoup does not follow: replace it with a directory")
        }
        Ok(_) => refused("is not a directory: remove it, or name another directory"),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(error).with_context(|| format!("cannot access {}", path.display())),
    }
}

/// Renames a directory to an unused name in one step; `false`, with nothing changed, if the name is
/// taken. Not synced.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are renamed")]
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> Result<bool> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty};
    let renamed = match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not all file systems support this; a plain rename replaces only an empty directory.
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(from, to),
        done => done.map_err(io::Error::from),
    };
    match renamed {
        Err(error) if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty) => Ok(false),
        done => done
            .map(|()| true)
            .with_write_context(|| format!("cannot move {} to {}", from.display(), to.display())),
    }
}

/// Removes an empty directory; `false` if it is missing or not empty.
pub fn remove_empty_dir(path: &Path) -> Result<bool> {
    match rustix::fs::rmdir(path) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
        Err(error) => Err(io::Error::from(error))
            .with_write_context(|| format!("cannot remove {}", path.display())),
    }
}

/// Removes a file, or a directory with all that is in it. Links are removed, not followed.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are removed")]
pub fn remove_tree(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.with_write_context(|| format!("cannot remove {}", path.display())),
    }
}
