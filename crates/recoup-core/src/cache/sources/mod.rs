//! The files that a result depends on: taken before the work, compared when it
//! is stored and each time it is looked up.
//!
//! A source is a file, a directory (all files below it) or a glob. On the way
//! down, what git ignores is passed over; what is named outright counts always.
//! A new file that matches is a change like any other.

mod file;
mod older;
mod pattern;
mod since;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::outcome::Reason;
use super::permit::Refusal;
use crate::base::clock::Timestamp;
use crate::base::digest::{Digest, Hasher};
use crate::base::machine;
use crate::entry::{Pattern, Place, Sources};
use crate::error::{Error, ErrorKind, Result};

pub use since::Since;

/// What counts as a change of a source file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// On the machine and under the root where it was taken: any change of size,
    /// mtime, ctime or inode. Elsewhere: of its contents.
    #[default]
    Mtime,
    /// Of its contents, everywhere: a file that was only touched is the same.
    Content,
}

/// Where a caller stands: paths are given from `cwd` and kept from `root`.
/// Both are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The project's root.
    pub root: PathBuf,
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
}

/// Source files in the state in which they were taken.
#[derive(Debug, Clone)]
pub struct Watched {
    view: View,
    sources: Sources,
}

impl Watched {
    /// Looks at each file. One that is missing, or a glob that matches nothing,
    /// is an error: what is not there can't be watched.
    pub fn take(view: &View, given: &[String], now: Timestamp) -> Result<Self> {
        let (mut paths, mut patterns) = (Vec::new(), Vec::new());
        for given in given {
            match Given::read(view, given)? {
                Given::File(path) => paths.push((path, Some(given.as_str()))),
                Given::Pattern(pattern) => {
                    let found = pattern::first_matches(&pattern, view)?;
                    paths.extend(found.into_iter().map(|path| (path, None)));
                    patterns.push(pattern);
                }
            }
        }
        let mut files = paths
            .into_iter()
            .map(|(path, given)| file::take(view, &path, given, now))
            .collect::<Result<Vec<_>>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        patterns.sort_unstable();
        patterns.dedup();
        let place = (!files.is_empty() || !patterns.is_empty()).then(|| here(view));
        Ok(Self { view: view.clone(), sources: Sources { place, files, patterns, older: None } })
    }

    /// What changed since it was taken.
    pub fn changed(&self, freshness: Freshness) -> Option<Reason> {
        changed(&self.sources, &self.view, freshness)
    }

    /// Why they are not as they were at `since`, which was before.
    pub fn changed_since(&self, since: &Since) -> Option<Refusal> {
        since.compare(&self.sources, self.state())
    }

    /// One digest for the state of all of them, times included.
    pub(super) fn state(&self) -> Digest {
        let mut hasher = Hasher::new();
        for pattern in &self.sources.patterns {
            hasher.update(format!("{:?} {:?}\n", pattern.kind, pattern.path).as_bytes());
        }
        for file in &self.sources.files {
            let stat = file.stat;
            hasher.update(format!("{:?} {} {} ", file.path, file.size, file.sha256).as_bytes());
            hasher.update(format!("{} {} {}\n", stat.mtime, stat.ctime, stat.inode).as_bytes());
        }
        hasher.finish()
    }

    /// As an entry keeps them.
    pub fn into_sources(self) -> Sources {
        self.sources
    }
}

/// The first source that is not as it was, seen from `view`.
pub(super) fn changed(sources: &Sources, view: &View, freshness: Freshness) -> Option<Reason> {
    let undated = || sources.older.as_ref().and_then(|older| older::changed(older, view));
    changed_since_taken(sources, view, freshness).or_else(undated)
}

fn changed_since_taken(sources: &Sources, view: &View, freshness: Freshness) -> Option<Reason> {
    let place = sources.place.as_ref()?;
    let same_place = *place == here(view);
    let changed = |source| file::changed(source, view, same_place, freshness);
    sources.files.iter().find_map(changed).or_else(|| added(sources, view))
}

/// A file that matches a pattern and was not there.
fn added(sources: &Sources, view: &View) -> Option<Reason> {
    let known: BTreeSet<&str> = sources.files.iter().map(|file| file.path.as_str()).collect();
    sources.patterns.iter().find_map(|pattern| match pattern::matches(pattern, view) {
        // A name that can't be kept was not there before.
        Ok(found) => found.iter().find_map(|path| match kept_path(view, path) {
            Ok(path) if known.contains(path.as_str()) => None,
            Ok(path) => Some(Reason::SourceModified(path)),
            Err(_) => Some(Reason::SourceModified(path.display().to_string())),
        }),
        // What can't be listed can't be vouched for.
        Err(_) => Some(Reason::SourceModified(pattern.path.clone())),
    })
}

/// What a caller's words turn out to be.
enum Given {
    File(PathBuf),
    Pattern(Pattern),
}

impl Given {
    /// What exists by that very name is meant, also when it looks like a glob.
    fn read(view: &View, given: &str) -> Result<Self> {
        let path = clean(&view.cwd.join(given));
        if path.is_dir() {
            return pattern::directory(view, &path, given).map(Self::Pattern);
        }
        if !path.exists() && pattern::is_glob(given) {
            return pattern::glob(view, given).map(Self::Pattern);
        }
        Ok(Self::File(path))
    }
}

/// A path as it is kept: from the root, or absolute outside it.
fn kept_path(view: &View, path: &Path) -> Result<String> {
    let kept = path.strip_prefix(&view.root).unwrap_or(path);
    kept.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("the path of the source {} is not UTF-8", path.display());
        Error::new(ErrorKind::Invalid, message)
    })
}

fn here(view: &View) -> Place {
    Place {
        machine: machine::fingerprint().to_owned(),
        root: view.root.to_string_lossy().into_owned(),
    }
}

/// Without `.` and `..`. Where there is a `..`, the file system is asked: behind
/// a link, it leads somewhere else than the spelling says.
fn clean(path: &Path) -> PathBuf {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let parent = path.parent().filter(|_| climbs).and_then(|dir| dir.canonicalize().ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => lexically_clean(path),
    }
}

/// Without `.` and `..`, by spelling alone: `a/../b` names `b` also when `a` is
/// not there.
fn lexically_clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
