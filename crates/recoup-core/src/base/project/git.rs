//! Repositories as they lie on disk: `.git` directories and files, worktrees,
//! submodules and bare repositories.
//!
//! Only the common directory of a repository, which its worktrees share, is looked for. A broken
//! repository counts as missing, as with `git`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git_config;
use crate::base::fsx;

/// `.git` files and `commondir` hold one path.
const MAX_LINK: u64 = 16 << 10;

/// A larger configuration is not one that a person or `git` wrote.
const MAX_CONFIG: u64 = 1 << 20;

/// The nearest repository at or above `start`: its root and its common directory.
///
/// Bare repositories come second: inside a working tree they are mere fixtures.
pub(super) fn find_repository(start: &Path) -> Option<(&Path, PathBuf)> {
    let nearest = |common_in: fn(&Path) -> Option<PathBuf>| {
        start.ancestors().find_map(|dir| Some((dir, common_in(dir)?)))
    };
    nearest(common_dir_of_worktree).or_else(|| nearest(common_dir_of_bare))
}

/// The common directory of the repository that a local remote names, tried in
/// the places, and in the order, in which `git` tries them.
pub(super) fn find_local_remote(place: &Path) -> Option<PathBuf> {
    let here = |place: &Path| common_dir_of_worktree(place).or_else(|| common_dir_of_bare(place));
    here(place).or_else(|| {
        let mut with_suffix = place.as_os_str().to_owned();
        with_suffix.push(".git");
        here(Path::new(&with_suffix))
    })
}

/// The address of the remote that names the repository, as its configuration has it.
///
/// `include`, `insteadOf` and a worktree's own configuration are not followed:
/// they are one person's or one worktree's, and identity is everybody's.
pub(super) fn remote_url(common: &Path) -> Option<Vec<u8>> {
    let config = read_small(&common.join("config"), MAX_CONFIG)?;
    git_config::remote_url(&config)
}

/// The main worktree of the one at `dir`, or the bare repository that it was made from;
/// none where `dir` is no linked worktree.
pub(super) fn main_worktree(dir: &Path) -> Option<PathBuf> {
    let git_dir = fs::canonicalize(read_git_link(dir)?).ok()?;
    let common = fs::canonicalize(common_dir(git_dir.clone())?).ok()?;
    if git_dir.parent()? != common.join("worktrees") {
        return None;
    }
    Some(if common.ends_with(".git") { common.parent()?.to_owned() } else { common })
}

/// True if the repository at `common` has the worktree at `root`; both are canonical. A `.git` file
/// or link can name any repository, but can't make that repository name it back.
pub(super) fn has_worktree(root: &Path, common: &Path) -> bool {
    if common == root || common == root.join(".git") {
        return true;
    }
    let Some(git_dir) = read_git_link(root).and_then(|dir| fs::canonicalize(dir).ok()) else {
        return false;
    };
    let named = if git_dir == common {
        // A submodule's. A separate git directory names none.
        let config = read_small(&common.join("config"), MAX_CONFIG);
        let worktree = config.and_then(|config| git_config::core_worktree(&config));
        worktree.map(|path| common.join(OsStr::from_bytes(&path)))
    } else if git_dir.parent() == Some(&common.join("worktrees")) {
        let link = read_small(&git_dir.join("gitdir"), MAX_LINK);
        link.and_then(|link| Some(git_dir.join(path_from_line(&link)).parent()?.to_owned()))
    } else {
        None
    };
    named.and_then(|path| fs::canonicalize(path).ok()).is_some_and(|path| path == root)
}

/// Path of the index of the worktree at `dir`, which may not exist.
pub(super) fn index_path(dir: &Path) -> PathBuf {
    read_git_link(dir).unwrap_or_else(|| dir.join(".git")).join("index")
}

/// Takes one system call where there is no `.git`: the error of looking for `HEAD` tells a `.git`
/// file from a missing one.
pub(super) fn common_dir_of_worktree(dir: &Path) -> Option<PathBuf> {
    match is_head(&dir.join(".git/HEAD")) {
        Ok(true) => common_dir(dir.join(".git")),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => common_dir_of_link(dir),
        _ => None,
    }
}

fn common_dir_of_bare(dir: &Path) -> Option<PathBuf> {
    let bare = has_head(dir) && dir.join("objects").is_dir() && dir.join("refs").is_dir();
    bare.then(|| dir.to_owned())
}

/// Worktrees, submodules and `--separate-git-dir` have a file in place of `.git`.
fn common_dir_of_link(dir: &Path) -> Option<PathBuf> {
    let git_dir = read_git_link(dir)?;
    if has_head(&git_dir) { common_dir(git_dir) } else { None }
}

fn read_git_link(dir: &Path) -> Option<PathBuf> {
    let link = read_small(&dir.join(".git"), MAX_LINK)?;
    Some(dir.join(path_from_line(link.strip_prefix(b"gitdir: ")?)))
}

fn common_dir(git_dir: PathBuf) -> Option<PathBuf> {
    let Some(link) = read_small(&git_dir.join("commondir"), MAX_LINK) else {
        return Some(git_dir);
    };
    let common = git_dir.join(path_from_line(&link));
    has_head(&common).then_some(common)
}

fn has_head(git_dir: &Path) -> bool {
    is_head(&git_dir.join("HEAD")).unwrap_or(false)
}

/// True if `path` is a HEAD. Links are not followed: old repositories have a symbolic link here, to
/// a branch that may have no commit yet.
fn is_head(path: &Path) -> io::Result<bool> {
    fs::symlink_metadata(path).map(|found| !found.is_dir())
}

fn path_from_line(line: &[u8]) -> &Path {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    Path::new(OsStr::from_bytes(&line[..end]))
}

/// Anything but a small regular file counts as missing, like everything that is broken.
fn read_small(path: &Path, limit: u64) -> Option<Vec<u8>> {
    fsx::read_regular(path, limit).ok().flatten()
}
