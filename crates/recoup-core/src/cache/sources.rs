//! The files that a result depends on: taken before the work, compared when it
//! is stored and each time it is looked up.
//!
//! On the machine and under the root where they were taken, any change of
//! size, mtime, ctime or inode counts. Anywhere else (another worktree, another
//! machine) the contents decide.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::outcome::Reason;
use crate::base::clock::Timestamp;
use crate::base::digest::{Digest, Hasher};
use crate::base::machine;
use crate::entry::{Place, Source, Sources, Stat};
use crate::error::{Error, ErrorKind, IoContext, Result};

/// A change within this time after another may leave the same times behind:
/// file systems stamp by the kernel's tick, of 10 ms at most.
const TICK_MILLIS: i64 = 100;
/// The same where a file system keeps only whole, or every other, seconds.
const COARSE_TICK_MILLIS: i64 = 2_000;

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
    /// Looks at each file. A missing one is an error: what is not there can't
    /// be watched.
    pub fn take(view: &View, given: &[String], now: Timestamp) -> Result<Self> {
        let mut files =
            given.iter().map(|given| take_one(view, given, now)).collect::<Result<Vec<_>>>()?;
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let place = (!files.is_empty()).then(|| here(view));
        Ok(Self { view: view.clone(), sources: Sources { place, files } })
    }

    /// What changed since.
    pub fn changed(&self) -> Option<Reason> {
        changed(&self.sources, &self.view)
    }

    /// As an entry keeps them.
    pub fn into_sources(self) -> Sources {
        self.sources
    }
}

/// The first source that is not as it was, seen from `view`.
pub(super) fn changed(sources: &Sources, view: &View) -> Option<Reason> {
    let place = sources.place.as_ref()?;
    let same_place = *place == here(view);
    sources.files.iter().find_map(|source| changed_one(source, view, same_place))
}

fn changed_one(source: &Source, view: &View, same_place: bool) -> Option<Reason> {
    let path = view.root.join(&source.path);
    let verdict = match look(&path) {
        Ok(Some(seen)) => is_unchanged(source, &path, seen, same_place),
        Ok(None) => return Some(Reason::SourceMissing(source.path.clone())),
        Err(error) => Err(error),
    };
    // What can't be read can't be vouched for.
    (!verdict.unwrap_or(false)).then(|| Reason::SourceModified(source.path.clone()))
}

/// Times prove that a file is the same only where they were taken, and only if
/// they were not too young then; else its contents are read.
fn is_unchanged(
    source: &Source,
    path: &Path,
    (size, stat): (u64, Stat),
    same_place: bool,
) -> io::Result<bool> {
    let same_times = (stat.mtime, stat.ctime, stat.inode)
        == (source.stat.mtime, source.stat.ctime, source.stat.inode);
    if size != source.size || (same_place && !same_times) {
        return Ok(false);
    }
    if same_place && same_times && !source.stat.racy {
        return Ok(true);
    }
    Ok(contents(path)? == (source.size, source.sha256))
}

fn take_one(view: &View, given: &str, now: Timestamp) -> Result<Source> {
    let absolute = lexically_clean(&view.cwd.join(given));
    let looking = || format!("looking at the source {given:?}");
    let Some((_, stat)) = look(&absolute).doing(looking)? else {
        return Err(Error::usage(format!("the source {given:?} does not exist")));
    };
    let (size, sha256) = contents(&absolute).doing(looking)?;
    let path = absolute.strip_prefix(&view.root).unwrap_or(&absolute);
    let path = path.to_str().ok_or_else(|| {
        Error::new(ErrorKind::Invalid, format!("the path of the source {given:?} is not UTF-8"))
    })?;
    let given = (given != path).then(|| given.to_owned());
    let stat = Stat { racy: is_racy(&stat, now), ..stat };
    Ok(Source { path: path.to_owned(), given, size, sha256, stat })
}

/// `None` when nothing is there; an error when it is no regular file.
fn look(path: &Path) -> io::Result<Option<(u64, Stat)>> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000) + nanos;
    let mtime = nanos(meta.mtime(), meta.mtime_nsec());
    let ctime = nanos(meta.ctime(), meta.ctime_nsec());
    Ok(Some((meta.len(), Stat { mtime, ctime, inode: meta.ino(), racy: false })))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn contents(path: &Path) -> io::Result<(u64, Digest)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut size) = (Hasher::new(), 0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((size, hasher.finish()));
        }
        hasher.update(&buffer[..read]);
        size += read as u64;
    }
}

fn is_racy(stat: &Stat, now: Timestamp) -> bool {
    let coarse = stat.mtime % 1_000_000_000 == 0 && stat.ctime % 1_000_000_000 == 0;
    let tick = if coarse { COARSE_TICK_MILLIS } else { TICK_MILLIS };
    let youngest = stat.mtime.max(stat.ctime) / 1_000_000;
    now.as_millis() - youngest < tick
}

fn here(view: &View) -> Place {
    Place {
        machine: machine::fingerprint().to_owned(),
        root: view.root.to_string_lossy().into_owned(),
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
