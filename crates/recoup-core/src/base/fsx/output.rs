//! Output to a path that the user named: a file, a link, a device, a pipe or an open descriptor.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{FILE_MODE, HIDDEN, HIDDEN_RANDOM, parent, sync_dir, write_temp_file};
use crate::error::{IoContext as _, Result};

/// Limit on followed links, as in Linux.
const LINKS_MOST: usize = 40;
/// Directories with a process's own descriptors.
const OWN_DESCRIPTORS: [&str; 3] = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"];

/// Writes `contents` to `path`, following links. A regular file is replaced atomically and keeps
/// its mode. A device, a pipe or an open descriptor (`/dev/stdout`) is written to, never replaced.
pub fn write_output(path: &Path, contents: &[u8]) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    let target = resolve_links(path).with_context(doing)?;
    let dir = parent(&target);
    if is_own_descriptors(dir) {
        return open_descriptor(&target)
            .and_then(|mut file| file.write_all(contents))
            .with_context(doing);
    }
    let mode = match fs::metadata(&target) {
        Ok(found) if is_replaceable(&target, &found) => found.permissions().mode() & 0o7777,
        Ok(_) => {
            return open_for_appending(&target)
                .and_then(|mut it| it.write_all(contents))
                .with_context(doing);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => FILE_MODE,
        Err(error) => return Err(error).with_context(doing),
    };
    replace_with_mode(&target, mode, contents).map_err(without_temp_name).with_context(doing)?;
    sync_dir(dir)
}

/// Resolves links; the target may be missing. Links in `/proc/PID/fd` are not followed: they stand
/// for an open file, whatever its name is now.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MOST {
        let Some(name) = path.file_name().filter(|_| !path.as_os_str().as_bytes().ends_with(b"/"))
        else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let dir = parent(&path).canonicalize()?;
        let there = dir.join(name);
        if dir.starts_with("/proc") || is_own_descriptors(&dir) {
            return Ok(there);
        }
        match fs::read_link(&there) {
            Ok(target) => path = dir.join(target),
            Err(_) => return Ok(there),
        }
    }
    Err(io::Error::from(rustix::io::Errno::LOOP))
}

fn is_own_descriptors(dir: &Path) -> bool {
    OWN_DESCRIPTORS.iter().any(|own| Path::new(own).canonicalize().is_ok_and(|own| own == dir))
}

/// False under `/proc`: what looks like a file there stands for something else.
fn is_replaceable(target: &Path, found: &Metadata) -> bool {
    found.is_file() && !target.starts_with("/proc")
}

/// Duplicates an open descriptor, which shares its position with its other users. Opened by name, a
/// file would be written from its start.
fn open_descriptor(path: &Path) -> io::Result<File> {
    let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    match number {
        Some(1) => Ok(rustix::stdio::stdout().try_clone_to_owned()?.into()),
        Some(2) => Ok(rustix::stdio::stderr().try_clone_to_owned()?.into()),
        Some(number) => duplicate_descriptor(number).or_else(|_| open_for_appending(path)),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(target_os = "linux")]
fn duplicate_descriptor(number: i32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(this, number, PidfdGetfdFlags::empty())?.into())
}

/// Other systems duplicate a descriptor when `/dev/fd/N` is opened.
#[cfg(not(target_os = "linux"))]
fn duplicate(_number: i32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
fn open_for_appending(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().append(true).open(path)
}

fn replace_with_mode(path: &Path, mode: u32, contents: &[u8]) -> io::Result<()> {
    let file = write_temp_file(parent(path), HIDDEN.as_ref(), HIDDEN_RANDOM, contents)?;
    if mode != FILE_MODE {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Removes the temporary file's name from an error: it means nothing to users.
fn without_temp_name(error: io::Error) -> io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}
