//! Paths that the user named: output to a file, a link, a device, a pipe or an open descriptor; and
//! links resolved as the system would, also of a path that does not exist yet.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use super::{FILE_MODE, parent, sync_dir, write_synced};
use crate::error::{IoContext as _, Result};

/// Limit on followed links, as in Linux.
const LINKS_MOST: usize = 40;
/// Directories with a process's own descriptors.
const OWN_DESCRIPTORS: [&str; 3] = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"];

/// Writes `contents` to `path`, following links. A regular file is replaced atomically and keeps
/// its mode. A device, a pipe or an open descriptor (`/dev/stdout`) is written to, never replaced.
pub fn write_output(path: &Path, contents: &[u8]) -> Result<()> {
    let doing = || format!("cannot write {}", path.display());
    let target = resolve_links(path).with_context(doing)?;
    let dir = parent(&target);
    let write_to = |opened: io::Result<File>| {
        opened.and_then(|mut file| file.write_all(contents)).with_context(doing)
    };
    if is_own_descriptors(dir) {
        // A duplicate shares its position with the other users of the descriptor. Opened by name, a
        // file would be written from its start.
        let name = target.file_name().and_then(|name| name.to_str());
        return write_to(match name.and_then(|name| name.parse().ok()) {
            Some(1) => rustix::stdio::stdout().try_clone_to_owned().map(File::from),
            Some(2) => rustix::stdio::stderr().try_clone_to_owned().map(File::from),
            Some(number) => duplicate_descriptor(number).or_else(|_| open_for_appending(&target)),
            None => Err(io::ErrorKind::NotFound.into()),
        });
    }
    let mode = match fs::metadata(&target) {
        // What looks like a file under `/proc` stands for something else.
        Ok(found) if found.is_file() && !target.starts_with("/proc") => {
            found.permissions().mode() & 0o7777
        }
        Ok(_) => return write_to(open_for_appending(&target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => FILE_MODE,
        Err(error) => return Err(error).with_context(doing),
    };
    // The name of the temporary file means nothing to users.
    let nameless =
        |error: io::Error| if error.get_ref().is_some() { error.kind().into() } else { error };
    write_synced(&target, mode, contents).map_err(nameless).with_context(doing)?;
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

#[cfg(target_os = "linux")]
fn duplicate_descriptor(number: i32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(this, number, PidfdGetfdFlags::empty())?.into())
}

/// Other systems duplicate a descriptor when `/dev/fd/N` is opened.
#[cfg(not(target_os = "linux"))]
fn duplicate_descriptor(_number: i32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
fn open_for_appending(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().append(true).open(path)
}

/// Resolves all links of a path; `None` if they go in circles. `..` is the parent of a link's
/// target, not of the link.
pub fn resolve_path(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let mut found =
        if path.is_absolute() { PathBuf::new() } else { Path::new(".").canonicalize().ok()? };
    let (mut ahead, mut links) = (reversed_steps(path), 0);
    while let Some(part) = ahead.pop() {
        match part {
            ResolveStep::Root => found = PathBuf::from("/"),
            ResolveStep::Up => drop(found.pop()),
            ResolveStep::Into(name) => {
                found.push(name);
                let Ok(target) = fs::read_link(&found) else { continue };
                links += 1;
                if links > LINKS_MOST {
                    return None;
                }
                found.pop();
                ahead.extend(reversed_steps(&target));
            }
        }
    }
    Some(found)
}

/// One part of a path.
enum ResolveStep {
    Root,
    Up,
    Into(OsString),
}

/// The parts of a path, the last first.
fn reversed_steps(path: &Path) -> Vec<ResolveStep> {
    let steps = path.components().rev().filter_map(|part| match part {
        Component::RootDir => Some(ResolveStep::Root),
        Component::ParentDir => Some(ResolveStep::Up),
        Component::Normal(name) => Some(ResolveStep::Into(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::base::fsx::ensure_dir;

    #[test]
    fn it_leads_where_the_system_would_go() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        ensure_dir(&at("a/b")).unwrap();
        ensure_dir(&at("c")).unwrap();
        symlink("../a/b", at("c/link")).unwrap();
        symlink("link/../new", at("c/up")).unwrap();
        symlink(at("c/up"), at("far")).unwrap();
        for (given, leads) in [
            ("a/b", "a/b"),
            ("a/b/new/deep", "a/b/new/deep"),
            ("c/link/new", "a/b/new"),
            ("c/link/../new", "a/new"),
            ("c/up", "a/new"),
            ("far", "a/new"),
            ("c/new/../other", "c/other"),
            ("gone/./x", "gone/x"),
        ] {
            assert_eq!(resolve_path(&at(given)), Some(at(leads)), "{given}");
        }
        // Writing to the path goes where it was resolved to.
        write_output(&at("far"), b"x").unwrap();
        assert!(at("a/new").is_file());
    }

    #[test]
    fn circles_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert_eq!(resolve_path(&dir.path().join("a/x")), None);
    }
}
