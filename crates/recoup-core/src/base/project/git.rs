//! Repositories as they lie on disk: `.git` directories and files, worktrees, submodules and bare
//! repositories; and as much of git's configuration language as it takes to find a remote.
//!
//! Only the common directory of a repository, which its worktrees share, is looked for. A broken
//! repository counts as missing, as with `git`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use crate::base::fsx;

/// `.git` files and `commondir` hold one path.
const MAX_LINK: u64 = 16 << 10;

/// A larger configuration is not one that a person or `git` wrote.
pub(super) const MAX_CONFIG: u64 = 1 << 20;

/// Enough for a million references.
const MAX_PACKED: u64 = 128 << 20;

/// Limit on references that name references, as in git.
const MAX_SYMBOLIC: usize = 5;

/// The nearest repository at or above `start`: its root and its common directory.
///
/// Bare repositories come second: inside a working tree they are mere fixtures.
pub(super) fn find_repository(start: &Path) -> Option<(&Path, PathBuf)> {
    let nearest = |common_in: fn(&Path) -> Option<PathBuf>| {
        start.ancestors().find_map(|dir| Some((dir, common_in(dir)?)))
    };
    nearest(common_dir_of_worktree).or_else(|| nearest(common_dir_of_bare))
}

/// Root of the nearest worktree at or above `start`.
pub(crate) fn worktree_root(start: &Path) -> Option<&Path> {
    start.ancestors().find(|dir| is_worktree_root(dir))
}

/// True if `dir` has a `.git` of its own that is a repository.
pub(crate) fn is_worktree_root(dir: &Path) -> bool {
    common_dir_of_worktree(dir).is_some()
}

/// The common directory of the repository that a local remote names, tried in
/// the places, and in the order, in which `git` tries them.
pub(super) fn find_local_remote(place: &Path) -> Option<PathBuf> {
    let here = |place: &Path| common_dir_of_worktree(place).or_else(|| common_dir_of_bare(place));
    here(place).or_else(|| here(&fsx::with_suffix(place, ".git")))
}

/// The address of the remote that names the repository, as its configuration has it. None if the
/// configuration is broken.
///
/// `include`, `insteadOf` and a worktree's own configuration are not followed:
/// they are one person's or one worktree's, and identity is everybody's.
pub(super) fn remote_url(common: &Path) -> Option<Vec<u8>> {
    let config = read_small(&common.join("config"), MAX_CONFIG)?;
    let mut urls: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut parser = GitConfigParser::new(&config);
    while let Some((name, value)) = parser.next_entry().ok()? {
        let remote = name.strip_prefix(b"remote.").and_then(|it| it.strip_suffix(b".url"));
        let Some(remote) = remote else { continue };
        let url = value?;
        if url.is_empty() {
            // An empty value takes back those before it.
            urls.remove(remote);
        } else if !urls.contains_key(remote) {
            // The first where there are several, as `git remote get-url` has it.
            urls.insert(remote.to_owned(), url);
        }
    }
    // `origin`, else the only remote.
    let only = urls.len() == 1;
    urls.remove(b"origin".as_slice()).or_else(|| urls.into_values().next().filter(|_| only))
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
        let worktree = config.and_then(|config| config_value(&config, b"core.worktree"));
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
        // Worktrees, submodules and `--separate-git-dir` have a file in place of `.git`.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            read_git_link(dir).filter(|git_dir| has_head(git_dir)).and_then(common_dir)
        }
        _ => None,
    }
}

/// State of HEAD in the nearest repository at or above `start`: the commit, or a text that differs
/// from every commit where there is none yet. `None` if there is no repository, or it cannot be read.
pub(crate) fn head_state(start: &Path) -> Option<Vec<u8>> {
    let (own, common) = git_dirs(start)?;
    // Only git reads these tables. Another list of them means that some reference has changed.
    if common.join("reftable").is_dir() {
        let list = |dir: &Path| read_small(&dir.join("reftable/tables.list"), MAX_CONFIG);
        let head = list(&common)?;
        return Some([&b"reftable "[..], &head, b" ", &list(&own).unwrap_or_default()].concat());
    }
    let mut value = read_small(&own.join("HEAD"), MAX_LINK)?;
    for _ in 0..MAX_SYMBOLIC {
        let Some(name) = value.strip_prefix(b"ref:") else {
            return Some(value.trim_ascii().to_vec());
        };
        let name = name.trim_ascii().to_vec();
        let path = Path::new(OsStr::from_bytes(&name));
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return None;
        }
        let loose = [&own, &common].into_iter().find_map(|dir| {
            read_small(&dir.join(path), MAX_LINK).filter(|value| !value.trim_ascii().is_empty())
        });
        value = match loose {
            Some(value) => value,
            None => return find_packed(&common, &name),
        };
    }
    None
}

/// The worktree's own git directory, and the common one, of the nearest repository.
pub(super) fn git_dirs(start: &Path) -> Option<(PathBuf, PathBuf)> {
    let (root, common) = find_repository(start)?;
    let own = read_git_link(root).unwrap_or_else(|| root.join(".git"));
    Some((if own.is_dir() { own } else { common.clone() }, common))
}

/// The last value of a variable.
pub(super) fn config_value(config: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    let (mut found, mut parser) = (None, GitConfigParser::new(config));
    while let Some((name, value)) = parser.next_entry().ok()? {
        if name == wanted {
            found = value;
        }
    }
    found
}

/// The commit of a branch in `packed-refs`; else a text that says that it has none.
fn find_packed(common: &Path, name: &[u8]) -> Option<Vec<u8>> {
    let packed = common.join("packed-refs");
    let unborn = || Some([&b"unborn "[..], name].concat());
    if !packed.exists() {
        return unborn();
    }
    let packed = read_small(&packed, MAX_PACKED)?;
    let commit = packed.split(|byte| *byte == b'\n').find_map(|line| {
        let (commit, rest) = line.split_at(line.iter().position(|byte| *byte == b' ')?);
        (rest.trim_ascii() == name).then(|| commit.to_vec())
    });
    commit.map_or_else(unborn, Some)
}

fn common_dir_of_bare(dir: &Path) -> Option<PathBuf> {
    let bare = has_head(dir) && dir.join("objects").is_dir() && dir.join("refs").is_dir();
    bare.then(|| dir.to_owned())
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
pub(super) fn read_small(path: &Path, limit: u64) -> Option<Vec<u8>> {
    fsx::read_regular(path, limit).ok().flatten()
}

/// Syntax error, at which git would stop.
struct GitConfigError;

/// A variable's full name and its value; a name without `=` has none.
type GitConfigEntry<'p> = (&'p [u8], Option<Vec<u8>>);

/// Parser of git's configuration language. It knows the grammar in full, since a half-understood
/// file gives a wrong answer instead of none. Works on bytes, as git does: nothing says that a path
/// is UTF-8.
struct GitConfigParser<'c> {
    rest: &'c [u8],
    /// `section.subsection.variable`; the part before `section_len` outlives a line.
    name: Vec<u8>,
    section_len: usize,
}

impl<'c> GitConfigParser<'c> {
    fn new(config: &'c [u8]) -> Self {
        let rest = config.strip_prefix(b"\xef\xbb\xbf").unwrap_or(config);
        Self { rest, name: Vec::new(), section_len: 0 }
    }

    fn next_entry(&mut self) -> Result<Option<GitConfigEntry<'_>>, GitConfigError> {
        while let Some(byte) = self.next_byte() {
            match byte {
                b'#' | b';' => self.skip_comment(),
                b'[' => self.parse_section()?,
                _ if is_space(byte) => {}
                _ if byte.is_ascii_alphabetic() => {
                    self.name.truncate(self.section_len);
                    self.name.push(byte.to_ascii_lowercase());
                    let mut byte = self.next_in_line();
                    while let Some(key) = byte.filter(|byte| is_key(*byte)) {
                        self.name.push(key.to_ascii_lowercase());
                        byte = self.next_in_line();
                    }
                    while matches!(byte, Some(b' ' | b'\t')) {
                        byte = self.next_in_line();
                    }
                    let value = match byte {
                        None => None,
                        Some(b'=') => Some(self.parse_value()?),
                        Some(_) => return Err(GitConfigError),
                    };
                    return Ok(Some((&self.name, value)));
                }
                _ => return Err(GitConfigError),
            }
        }
        Ok(None)
    }

    /// `CR LF` is one line feed.
    fn next_byte(&mut self) -> Option<u8> {
        if let Some(rest) = self.rest.strip_prefix(b"\r\n") {
            self.rest = rest;
            return Some(b'\n');
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    /// The end of the file ends the line too.
    fn next_in_line(&mut self) -> Option<u8> {
        self.next_byte().filter(|byte| *byte != b'\n')
    }

    fn skip_comment(&mut self) {
        while self.next_in_line().is_some() {}
    }

    /// After `[`: `section]`, `section "subsection"]` or the old `section.subsection]`.
    fn parse_section(&mut self) -> Result<(), GitConfigError> {
        self.name.clear();
        loop {
            match self.next_in_line().ok_or(GitConfigError)? {
                b']' => break,
                byte if is_space(byte) => {
                    self.parse_subsection()?;
                    break;
                }
                byte if is_key(byte) || byte == b'.' => self.name.push(byte.to_ascii_lowercase()),
                _ => return Err(GitConfigError),
            }
        }
        self.name.push(b'.');
        self.section_len = self.name.len();
        Ok(())
    }

    /// A quoted name, in which case counts and a backslash only escapes.
    fn parse_subsection(&mut self) -> Result<(), GitConfigError> {
        let mut byte = self.next_in_line().ok_or(GitConfigError)?;
        while is_space(byte) {
            byte = self.next_in_line().ok_or(GitConfigError)?;
        }
        if byte != b'"' {
            return Err(GitConfigError);
        }
        self.name.push(b'.');
        loop {
            match self.next_in_line().ok_or(GitConfigError)? {
                b'"' => break,
                b'\\' => {
                    let escaped = self.next_in_line().ok_or(GitConfigError)?;
                    self.name.push(escaped);
                }
                byte => self.name.push(byte),
            }
        }
        if self.next_in_line() == Some(b']') { Ok(()) } else { Err(GitConfigError) }
    }

    /// Space counts inside quotes, and outside between other characters.
    fn parse_value(&mut self) -> Result<Vec<u8>, GitConfigError> {
        let mut value = Vec::new();
        let mut kept = 0; // what is beyond is space that may turn out to be the line's end
        let mut quoted = false;
        while let Some(byte) = self.next_in_line() {
            match byte {
                b'#' | b';' if !quoted => {
                    self.skip_comment();
                    break;
                }
                _ if is_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'\\' => match self.next_in_line() {
                    // At the end of a line it joins the next one.
                    None => {}
                    Some(b't') => value.push(b'\t'),
                    Some(b'b') => value.push(8),
                    Some(b'n') => value.push(b'\n'),
                    Some(itself @ (b'\\' | b'"')) => value.push(itself),
                    Some(_) => return Err(GitConfigError),
                },
                b'"' => quoted = !quoted,
                _ => value.push(byte),
            }
            kept = value.len();
        }
        value.truncate(kept);
        if quoted { Err(GitConfigError) } else { Ok(value) }
    }
}

/// Git's own idea of space: narrower than ASCII's.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
