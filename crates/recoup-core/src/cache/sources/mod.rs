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
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use super::Cache;
use super::outcome::Reason;
use super::permit::Refusal;
use crate::base::clock::Timestamp;
use crate::base::digest::{Digest, Hasher};
use crate::base::machine;
use crate::base::text::shortened;
use crate::entry::{Pattern, Place, Source, Sources};
use crate::error::{Error, ErrorKind, Result};

pub use since::Since;
use since::{Before, Print};

/// What counts as a change of a source file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// A change of its contents, which are read only where size, mtime, ctime or inode
    /// differ. During the work, any change of those.
    #[default]
    Auto,
    /// On the machine and under the root where it was taken: any change of size,
    /// mtime, ctime or inode. Elsewhere: of its contents.
    Mtime,
    /// As `Auto`, during the work too: for file systems whose times or inodes change by
    /// themselves.
    Content,
}

/// How much may be watched for one entry. Hashing has to stay bearable, and a pattern that matches
/// far too much is mostly a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// The largest number of files.
    pub files: usize,
    /// The largest number of bytes in all of them together.
    pub bytes: u64,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { files: 50_000, bytes: 2 << 30 }
    }
}

impl SourceLimits {
    fn too_many_files(self, given: &str) -> Error {
        let message = format!(
            "the source {:?} has more than {} files: use a narrower pattern, or raise cache.max_source_files",
            shortened(given, pattern::SHOWN),
            self.files
        );
        Error::new(ErrorKind::Invalid, message)
    }

    fn too_many_bytes(self, path: &Path) -> Error {
        let message = format!(
            "with {} the sources have more than {} MB: use a narrower pattern, or raise cache.max_source_mb",
            path.display(),
            self.bytes >> 20
        );
        Error::new(ErrorKind::Invalid, message)
    }
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
    /// By what each was named, and a print of what that turned out to be.
    named: Vec<(String, Print)>,
    limits: SourceLimits,
    taken: Timestamp,
}

impl Watched {
    /// Looks at each file. One that is missing, or a glob that matches nothing,
    /// is an error: what is not there can't be watched. So is more than `limits` allow.
    pub fn take(
        view: &View,
        given: &[String],
        limits: SourceLimits,
        now: Timestamp,
    ) -> Result<Self> {
        let (mut paths, mut patterns, mut named) = (Vec::new(), Vec::new(), Vec::new());
        for given in given {
            let meant = Given::read(view, given)?;
            named.push((given.clone(), meant.print()));
            match meant {
                Given::File(path) => paths.push((path, Some(given.as_str()))),
                Given::Pattern(pattern) => {
                    let found = pattern::first_matches(&pattern, view, limits)?;
                    paths.extend(found.into_iter().map(|path| (path, None)));
                    patterns.push(pattern);
                }
            }
        }
        let (mut files, mut bytes) = (Vec::new(), 0_u64);
        for (path, given) in paths {
            // Before it is read: a limit that is found out by hashing protects nobody.
            bytes = bytes.saturating_add(path.metadata().map_or(0, |meta| meta.len()));
            if bytes > limits.bytes {
                return Err(limits.too_many_bytes(&path));
            }
            files.push(file::take(view, &path, given, now)?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        patterns.sort_unstable();
        patterns.dedup();
        let place = (!files.is_empty() || !patterns.is_empty()).then(|| here(view));
        let sources = Sources { place, files, patterns, older: None };
        Ok(Self { view: view.clone(), sources, named, limits, taken: now })
    }

    /// Returns those of `given` that are there and can be watched. No file is read for it.
    pub fn present(view: &View, given: &[String], limits: SourceLimits) -> Vec<String> {
        let is_there = |given: &&String| match Given::read(view, given) {
            Ok(Given::File(path)) => path.is_file() && File::open(path).is_ok(),
            Ok(Given::Pattern(pattern)) => pattern::first_matches(&pattern, view, limits).is_ok(),
            Err(_) => false,
        };
        given.iter().filter(is_there).cloned().collect()
    }

    /// What changed since it was taken. A file that is as it was may have been another in
    /// between, which the work has read; its times tell.
    pub(super) fn changed(&self, cache: &Cache) -> Option<Reason> {
        let freshness = match cache.inner.options.freshness {
            Freshness::Auto | Freshness::Mtime => Freshness::Mtime,
            Freshness::Content => Freshness::Content,
        };
        changes(&self.sources, &self.view, cache, freshness).next().map(Reason::from)
    }

    /// Why they are not as they were at `since`, which was before.
    pub fn changed_since(&self, since: &Since) -> Option<Refusal> {
        let Some(Before { state, names }) = since.before() else {
            return since.younger(&self.sources);
        };
        let differ = |now: Digest| (now != *state).then_some(Refusal::SourcesDiffer);
        let Some(names) = names else { return differ(self.state()) };
        let is_known = |(_, print): &&(String, Print)| names.contains(print);
        let (same, more): (Vec<_>, Vec<_>) = self.named.iter().partition(is_known);
        if names.iter().any(|name| same.iter().all(|(_, print)| print != name)) {
            return Some(Refusal::OtherSources);
        }
        if more.is_empty() {
            return differ(self.state());
        }
        // What is named beyond the token's is as old as the token wants it, and the
        // token's own are as they were.
        let apart = |these: &[&(String, Print)]| {
            let given: Vec<String> = these.iter().map(|(given, _)| given.clone()).collect();
            Self::take(&self.view, &given, self.limits, self.taken)
        };
        match (apart(&same), apart(&more)) {
            (Ok(same), Ok(more)) => differ(same.state()).or_else(|| since.younger(&more.sources)),
            _ => Some(Refusal::SourcesDiffer),
        }
    }

    /// This state, to come back to.
    pub(super) fn since(&self) -> Since {
        let mut names: Vec<Print> = self.named.iter().map(|(_, print)| *print).collect();
        names.sort_unstable();
        names.dedup();
        Since::of(self.taken, self.state(), names)
    }

    /// One digest for the state of all of them, times included.
    fn state(&self) -> Digest {
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

    /// A file below one of the directories that is not watched, because git ignores it.
    pub(super) fn first_ignored(&self) -> Option<String> {
        let Sources { files, patterns, .. } = &self.sources;
        let known = files.iter().map(|file| file.path.as_str()).collect();
        patterns.iter().find_map(|pattern| pattern::first_ignored(pattern, &self.view, &known))
    }

    /// As an entry keeps them.
    pub fn into_sources(self) -> Sources {
        self.sources
    }
}

/// A source that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// As it is kept: from the root, or absolute outside it.
    pub path: String,
    /// What happened to it.
    pub how: Changed,
}

/// What happened to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It is not the same, or can't be looked at.
    Modified,
    /// It is gone.
    Missing,
    /// It was not there, and matches what is watched.
    New,
}

impl From<Change> for Reason {
    fn from(Change { path, how }: Change) -> Self {
        match how {
            Changed::Modified | Changed::New => Self::SourceModified(path),
            Changed::Missing => Self::SourceMissing(path),
        }
    }
}

/// The first source that is not as it was, seen from `view`.
pub(super) fn changed(sources: &Sources, view: &View, cache: &Cache) -> Option<Reason> {
    changes(sources, view, cache, cache.inner.options.freshness).next().map(Reason::from)
}

/// All of them, each looked for when it is asked for.
pub(super) fn changes<'a>(
    sources: &'a Sources,
    view: &'a View,
    cache: &'a Cache,
    freshness: Freshness,
) -> impl Iterator<Item = Change> + 'a {
    let limits = cache.inner.options.sources;
    let taken = sources.place.iter().flat_map(move |place| {
        let Place { machine, root } = here(view);
        let (same_machine, same_root) = (place.machine == machine, place.root == root);
        let changed = move |source: &Source| {
            // Outside the project, all checkouts of a machine see the same file.
            let same_place = same_machine && (same_root || Path::new(&source.path).is_absolute());
            file::changed(source, view, cache, same_place, freshness)
        };
        sources.files.iter().filter_map(changed).chain(added(sources, view, limits))
    });
    let undated = sources.older.iter().flat_map(move |older| older::changes(older, view, limits));
    taken.chain(undated)
}

/// Files that match a pattern and were not there.
fn added<'a>(
    sources: &'a Sources,
    view: &'a View,
    limits: SourceLimits,
) -> impl Iterator<Item = Change> + 'a {
    let known: BTreeSet<&str> = match sources.patterns.len() {
        0 => BTreeSet::new(),
        _ => sources.files.iter().map(|file| file.path.as_str()).collect(),
    };
    sources.patterns.iter().flat_map(move |pattern| {
        let new = |path| Change { path, how: Changed::New };
        let Ok(found) = pattern::matches(pattern, view, limits) else {
            // What can't be listed can't be vouched for.
            let change = Change { path: pattern.path.clone(), how: Changed::Modified };
            return Vec::from([change]).into_iter();
        };
        let paths = found.iter().map(|path| {
            // A name that can't be kept was not there before.
            kept_path(view, path).unwrap_or_else(|_| path.display().to_string())
        });
        paths.filter(|path| !known.contains(path.as_str())).map(new).collect::<Vec<_>>().into_iter()
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

    /// The same for every spelling.
    fn print(&self) -> Print {
        match self {
            Self::File(path) => Print::of(&format!("file {}", path.display())),
            Self::Pattern(pattern) => Print::of(&format!("{:?} {}", pattern.kind, pattern.path)),
        }
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
