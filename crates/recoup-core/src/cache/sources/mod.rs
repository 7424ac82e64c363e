//! The source files of a result: captured before the work, compared when the result is stored and
//! on each look-up.
//!
//! A source is a file, a directory (all files below it) or a glob. Files that git ignores are
//! skipped unless they are named explicitly. A new file that matches is a change like any other.

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

/// How changes of source files are detected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// By content, which is read only if size, mtime, ctime or inode differ. During the work, any
    /// change of those counts.
    #[default]
    Auto,
    /// By size, mtime, ctime and inode, on the machine and under the root where the source was
    /// captured. Elsewhere by content.
    Mtime,
    /// Like `Auto`, but by content during the work too: for file systems whose times or inodes
    /// change by themselves.
    Content,
}

/// Limits on the sources of one entry. Hashing has to stay bearable, and a pattern that matches far
/// too much is mostly a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Maximum number of files.
    pub files: usize,
    /// Maximum total size in bytes.
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

/// Directories against which a caller's paths are resolved. Both are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The project's root; stored paths are relative to it.
    pub root: PathBuf,
    /// The directory that given paths are relative to.
    pub cwd: PathBuf,
}

/// Source files in their captured state.
#[derive(Debug, Clone)]
pub struct Watched {
    view: View,
    sources: Sources,
    /// Each source as it was given, and a fingerprint of its resolved name.
    named: Vec<(String, Print)>,
    limits: SourceLimits,
    taken: Timestamp,
}

impl Watched {
    /// Captures the state of each source. A missing file, a glob without matches, or more than
    /// `limits` allow is an error.
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
            // Before the read: a limit that is found out by hashing protects nobody.
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

    /// Returns the sources in `given` that exist and can be watched, without reading them.
    pub fn present(view: &View, given: &[String], limits: SourceLimits) -> Vec<String> {
        let is_there = |given: &&String| match Given::read(view, given) {
            Ok(Given::File(path)) => path.is_file() && File::open(path).is_ok(),
            Ok(Given::Pattern(pattern)) => pattern::first_matches(&pattern, view, limits).is_ok(),
            Err(_) => false,
        };
        given.iter().filter(is_there).cloned().collect()
    }

    /// The first change since the capture. Timestamps count here: a file whose content is as before
    /// may have been different while the work read it.
    pub(super) fn changed(&self, cache: &Cache) -> Option<Reason> {
        let freshness = match cache.inner.options.freshness {
            Freshness::Auto | Freshness::Mtime => Freshness::Mtime,
            Freshness::Content => Freshness::Content,
        };
        changes(&self.sources, &self.view, cache, freshness).next().map(Reason::from)
    }

    /// Why the sources are not in the earlier state of the token.
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
        // Sources beyond those of the token must be older than the token; the token's own must be
        // in its state.
        let apart = |these: &[&(String, Print)]| {
            let given: Vec<String> = these.iter().map(|(given, _)| given.clone()).collect();
            Self::take(&self.view, &given, self.limits, self.taken)
        };
        match (apart(&same), apart(&more)) {
            (Ok(same), Ok(more)) => differ(same.state()).or_else(|| since.younger(&more.sources)),
            _ => Some(Refusal::SourcesDiffer),
        }
    }

    /// A token for this state.
    pub(super) fn since(&self) -> Since {
        let mut names: Vec<Print> = self.named.iter().map(|(_, print)| *print).collect();
        names.sort_unstable();
        names.dedup();
        Since::of(self.taken, self.state(), names)
    }

    /// Digest of the state of all sources, times included.
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

    /// The first file below a source directory that is not watched because git ignores it.
    pub(super) fn first_ignored(&self) -> Option<String> {
        let Sources { files, patterns, .. } = &self.sources;
        let known = files.iter().map(|file| file.path.as_str()).collect();
        patterns.iter().find_map(|pattern| pattern::first_ignored(pattern, &self.view, &known))
    }

    /// The sources as an entry stores them.
    pub fn into_sources(self) -> Sources {
        self.sources
    }
}

/// A source that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path as stored: relative to the root, or absolute if outside it.
    pub path: String,
    /// Kind of change.
    pub how: Changed,
}

/// Kind of change of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// Different content, or unreadable.
    Modified,
    /// No longer exists.
    Missing,
    /// New file that matches a watched pattern.
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

/// The first source that has changed, resolved against `view`.
pub(super) fn changed(sources: &Sources, view: &View, cache: &Cache) -> Option<Reason> {
    changes(sources, view, cache, cache.inner.options.freshness).next().map(Reason::from)
}

/// All sources that have changed, lazily.
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
            // Outside the project, all checkouts on a machine see the same file.
            let same_place = same_machine && (same_root || Path::new(&source.path).is_absolute());
            file::changed(source, view, cache, same_place, freshness)
        };
        sources.files.iter().filter_map(changed).chain(added(sources, view, limits))
    });
    let undated = sources.older.iter().flat_map(move |older| older::changes(older, view, limits));
    taken.chain(undated)
}

/// New files that match a pattern.
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
            // A pattern that cannot be listed counts as changed.
            let change = Change { path: pattern.path.clone(), how: Changed::Modified };
            return Vec::from([change]).into_iter();
        };
        let paths = found.iter().map(|path| {
            // A name that is not UTF-8 cannot have been stored before.
            kept_path(view, path).unwrap_or_else(|_| path.display().to_string())
        });
        paths.filter(|path| !known.contains(path.as_str())).map(new).collect::<Vec<_>>().into_iter()
    })
}

/// A source as given, resolved to a file or a pattern.
enum Given {
    File(PathBuf),
    Pattern(Pattern),
}

impl Given {
    /// An existing path is taken literally, even if it looks like a glob.
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

    /// A fingerprint that is equal for every spelling of the same source.
    fn print(&self) -> Print {
        match self {
            Self::File(path) => Print::of(&format!("file {}", path.display())),
            Self::Pattern(pattern) => Print::of(&format!("{:?} {}", pattern.kind, pattern.path)),
        }
    }
}

/// Path as stored: relative to the root, or absolute if outside it.
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

/// Removes `.` and `..`. A path with `..` is resolved by the file system: behind a symbolic link it
/// leads elsewhere than its spelling says.
fn clean(path: &Path) -> PathBuf {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let parent = path.parent().filter(|_| climbs).and_then(|dir| dir.canonicalize().ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => lexically_clean(path),
    }
}

/// Removes `.` and `..` by spelling alone: `a/../b` is `b` even if `a` does not exist.
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
