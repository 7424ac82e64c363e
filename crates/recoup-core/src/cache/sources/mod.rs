//! The source files of a result: captured before the work, compared when the result is stored and
//! on each look-up.
//!
//! A source is a file, a directory (all files below it), a glob, or a state: `git:HEAD`, the commit
//! that is checked out, `git:index`, what is staged, `project:files`, the contents of all files that
//! git tracks or does not ignore, `DIR/dir:list` and `DIR/dir:tree`, the names in a directory. Files
//! that git ignores are skipped in directories and globs, unless they are named explicitly. A new file
//! that matches is a change like any other.

mod directory_rules;
mod file;
mod pattern;
mod project_files;
mod state;

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use super::Cache;
use super::lookup::MissReason;
use super::permit::FillRefusal;
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::name::machine_fingerprint;
use crate::base::text::shorten_text;
use crate::entry::{PatternKind, RecordedSources, SnapshotPlace, SourceFile, SourcePattern};
use crate::error::{Error, ErrorKind, Result};
use file::{NameFingerprint, SourceSnapshot, is_absence};

pub use file::SinceToken;
pub use project_files::{last_project_file_change, project_files_state};

/// How changes of source files are detected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FreshnessCheck {
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
            shorten_text(given, pattern::SHOWN),
            self.files
        );
        Error::new(ErrorKind::Invalid, message)
    }
}

/// Directories against which a caller's paths are resolved. Both are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathContext {
    /// The project's root; stored paths are relative to it.
    pub root: PathBuf,
    /// The directory that given paths are relative to.
    pub cwd: PathBuf,
}

/// Source files in their captured state.
#[derive(Debug, Clone)]
pub struct WatchedSources {
    view: PathContext,
    sources: RecordedSources,
    /// Each source as it was given, and a fingerprint of its resolved name.
    named: Vec<(String, NameFingerprint)>,
    limits: SourceLimits,
    taken: Timestamp,
    /// Files that the work has written, in their state after the work.
    outputs: Option<RecordedSources>,
}

impl WatchedSources {
    /// Captures the state of each source. A missing file, a glob without matches, or more than
    /// `limits` allow is an error.
    pub(crate) fn capture(
        view: &PathContext,
        given: &[String],
        limits: SourceLimits,
        now: Timestamp,
    ) -> Result<Self> {
        let (mut paths, mut patterns, mut named) = (Vec::new(), Vec::new(), Vec::new());
        let mut states = Vec::new();
        for given in given {
            let meant = SourceSpec::resolve(view, given)?;
            named.push((given.clone(), meant.fingerprint()));
            match meant {
                SourceSpec::State(source, dir) => {
                    states.push(state::capture(view, source, &dir, limits)?);
                }
                SourceSpec::File(path) => paths.push((path, Some(given.as_str()))),
                SourceSpec::Pattern(pattern) => {
                    let found = pattern::initial_matches(&pattern, view, limits)?;
                    paths.extend(found.into_iter().map(|path| (path, None)));
                    patterns.push(pattern);
                }
            }
        }
        let (mut files, mut bytes) = (states, 0_u64);
        for (path, given) in paths {
            // Before the read: a limit that is found out by hashing protects nobody.
            bytes = bytes.saturating_add(path.metadata().map_or(0, |meta| meta.len()));
            if bytes > limits.bytes {
                let message = format!(
                    "the sources up to {} have more than {} MB: use a narrower pattern, or raise cache.max_source_mb",
                    path.display(),
                    limits.bytes >> 20
                );
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            files.push(file::capture(view, &path, given, now)?);
        }
        sort_sources(&mut files, &mut patterns);
        let place = (!files.is_empty() || !patterns.is_empty()).then(|| current_place(view));
        let sources = RecordedSources { place, files, patterns, older: None };
        Ok(Self { view: view.clone(), sources, named, limits, taken: now, outputs: None })
    }

    /// Captures what the work has written, to be recorded beside its sources.
    pub(super) fn with_outputs(self, given: &[String], now: Timestamp) -> Result<Self> {
        let captured = Self::capture(&self.view, given, self.limits, now)?;
        Ok(Self { outputs: Some(captured.sources), ..self })
    }

    /// Returns the sources in `given` that exist and can be watched, without reading them.
    pub(crate) fn watchable_paths(
        view: &PathContext,
        given: &[String],
        limits: SourceLimits,
    ) -> Vec<String> {
        let is_there = |given: &&String| match SourceSpec::resolve(view, given) {
            Ok(SourceSpec::State(source, dir)) => {
                state::capture(view, source, &dir, limits).is_ok()
            }
            Ok(SourceSpec::File(path)) => path.is_file() && File::open(path).is_ok(),
            Ok(SourceSpec::Pattern(pattern)) => {
                pattern::initial_matches(&pattern, view, limits).is_ok()
            }
            Err(_) => false,
        };
        given.iter().filter(is_there).cloned().collect()
    }

    /// The first change since the capture. Timestamps count here: a file whose content is as before
    /// may have been different while the work read it.
    pub(super) fn first_change(&self, cache: &Cache) -> Option<MissReason> {
        let freshness = match cache.inner.options.freshness {
            FreshnessCheck::Auto | FreshnessCheck::Mtime => FreshnessCheck::Mtime,
            FreshnessCheck::Content => FreshnessCheck::Content,
        };
        changed_sources(&self.sources, &self.view, cache, freshness).next().map(MissReason::from)
    }

    /// Why the sources are not in the earlier state of the token.
    pub(crate) fn changed_since(&self, since: &SinceToken) -> Option<FillRefusal> {
        let Some(SourceSnapshot { state, names }) = since.before() else {
            return since.first_changed_after(&self.sources);
        };
        let differ = |now: Sha256Digest| (now != *state).then_some(FillRefusal::SourcesDiffer);
        let Some(names) = names else { return differ(self.state_digest()) };
        let is_known = |(_, print): &&(String, NameFingerprint)| names.contains(print);
        let (same, more): (Vec<_>, Vec<_>) = self.named.iter().partition(is_known);
        if names.iter().any(|name| same.iter().all(|(_, print)| print != name)) {
            return Some(FillRefusal::OtherSources);
        }
        if more.is_empty() {
            return differ(self.state_digest());
        }
        // Sources beyond those of the token must be older than the token; the token's own must be
        // in its state.
        let apart = |these: &[&(String, NameFingerprint)]| {
            let given: Vec<String> = these.iter().map(|(given, _)| given.clone()).collect();
            Self::capture(&self.view, &given, self.limits, self.taken)
        };
        match (apart(&same), apart(&more)) {
            (Ok(same), Ok(more)) => {
                differ(same.state_digest()).or_else(|| since.first_changed_after(&more.sources))
            }
            _ => Some(FillRefusal::SourcesDiffer),
        }
    }

    /// A token for this state.
    pub(super) fn to_since_token(&self) -> SinceToken {
        let mut names: Vec<NameFingerprint> = self.named.iter().map(|(_, print)| *print).collect();
        names.sort_unstable();
        names.dedup();
        SinceToken::of(self.taken, self.state_digest(), names)
    }

    /// Digest of the state of all sources, times included.
    fn state_digest(&self) -> Sha256Digest {
        let mut hasher = Sha256Hasher::new();
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
        let RecordedSources { files, patterns, .. } = &self.sources;
        let known = files.iter().map(|file| file.path.as_str()).collect();
        patterns.iter().find_map(|pattern| pattern::first_ignored(pattern, &self.view, &known))
    }

    /// The sources as an entry stores them.
    pub(crate) fn into_sources(self) -> RecordedSources {
        let Some(mut outputs) = self.outputs else { return self.sources };
        let RecordedSources { place, mut files, mut patterns, older } = self.sources;
        files.append(&mut outputs.files);
        patterns.append(&mut outputs.patterns);
        sort_sources(&mut files, &mut patterns);
        RecordedSources { place: place.or(outputs.place), files, patterns, older }
    }
}

/// Each once, in order of path.
fn sort_sources(files: &mut Vec<SourceFile>, patterns: &mut Vec<SourcePattern>) {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    patterns.sort_unstable();
    patterns.dedup();
}

/// A source that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceChange {
    /// Path as stored: relative to the root, or absolute if outside it.
    pub path: String,
    /// Kind of change.
    pub how: SourceChangeKind,
}

/// Kind of change of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceChangeKind {
    /// Different content, or unreadable.
    Modified,
    /// No longer exists.
    Missing,
    /// New file that matches a watched pattern.
    New,
}

impl From<SourceChange> for MissReason {
    fn from(SourceChange { path, how }: SourceChange) -> Self {
        match how {
            SourceChangeKind::Modified | SourceChangeKind::New => Self::SourceModified(path),
            SourceChangeKind::Missing => Self::SourceMissing(path),
        }
    }
}

/// The first source that has changed, resolved against `view`.
pub(super) fn first_changed_source(
    sources: &RecordedSources,
    view: &PathContext,
    cache: &Cache,
) -> Option<MissReason> {
    changed_sources(sources, view, cache, cache.inner.options.freshness)
        .next()
        .map(MissReason::from)
}

/// All sources that have changed, lazily.
pub(super) fn changed_sources<'a>(
    sources: &'a RecordedSources,
    view: &'a PathContext,
    cache: &'a Cache,
    freshness: FreshnessCheck,
) -> impl Iterator<Item = SourceChange> + 'a {
    let limits = cache.inner.options.sources;
    let taken = sources.place.iter().flat_map(move |place| {
        let SnapshotPlace { machine, root } = current_place(view);
        let (same_machine, same_root) = (place.machine == machine, place.root == root);
        let changed = move |source: &SourceFile| {
            // Outside the project, all checkouts on a machine see the same file.
            let same_place = same_machine && (same_root || Path::new(&source.path).is_absolute());
            file::detect_change(source, view, cache, same_place, freshness)
        };
        sources.files.iter().filter_map(changed).chain(new_matching_files(sources, view, limits))
    });
    // Entries that other tools made record their paths and the second in which the result was
    // stored. They count as unchanged only if they are older than that second.
    let undated = sources.older.iter().flat_map(move |older| {
        older.paths.iter().filter_map(move |path| {
            let change = timed_change(path, older.than, view, limits);
            // A path that cannot be inspected counts as changed.
            let how = change.unwrap_or(Some(SourceChangeKind::Modified))?;
            Some(SourceChange { path: path.clone(), how })
        })
    });
    taken.chain(undated)
}

/// New files that match a pattern.
fn new_matching_files<'a>(
    sources: &'a RecordedSources,
    view: &'a PathContext,
    limits: SourceLimits,
) -> impl Iterator<Item = SourceChange> + 'a {
    let known: BTreeSet<&str> = match sources.patterns.len() {
        0 => BTreeSet::new(),
        _ => sources.files.iter().map(|file| file.path.as_str()).collect(),
    };
    sources.patterns.iter().flat_map(move |pattern| {
        let new = |path| SourceChange { path, how: SourceChangeKind::New };
        let Ok(found) = pattern::matches(pattern, view, limits) else {
            // A pattern that cannot be listed counts as changed.
            let change =
                SourceChange { path: pattern.path.clone(), how: SourceChangeKind::Modified };
            return Vec::from([change]).into_iter();
        };
        let paths = found.iter().map(|path| {
            // A name that is not UTF-8 cannot have been stored before.
            stored_path(view, path).unwrap_or_else(|_| path.display().to_string())
        });
        paths.filter(|path| !known.contains(path.as_str())).map(new).collect::<Vec<_>>().into_iter()
    })
}

/// A source as given, resolved to a file or a pattern.
enum SourceSpec {
    /// A state of a directory.
    State(&'static state::StateSource, PathBuf),
    File(PathBuf),
    Pattern(SourcePattern),
}

impl SourceSpec {
    /// An existing path is taken literally, even if it looks like a glob.
    fn resolve(view: &PathContext, given: &str) -> Result<Self> {
        if let Some((source, dir)) = state::resolve(view, given) {
            return Ok(Self::State(source, dir));
        }
        let path = view.cwd.join(given);
        // A path with `..` is resolved by the file system: behind a symbolic link it leads elsewhere
        // than its spelling says.
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let parent = path.parent().filter(|_| climbs).and_then(|dir| dir.canonicalize().ok());
        let path = match (parent, path.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => normalize_lexically(&path),
        };
        if path.is_dir() {
            return pattern::directory(view, &path, given).map(Self::Pattern);
        }
        if !path.exists() && pattern::is_glob(given) {
            return pattern::glob(view, given).map(Self::Pattern);
        }
        Ok(Self::File(path))
    }

    /// A fingerprint that is equal for every spelling of the same source.
    fn fingerprint(&self) -> NameFingerprint {
        match self {
            Self::State(source, dir) => {
                NameFingerprint::of(&format!("{} {}", source.name, dir.display()))
            }
            Self::File(path) => NameFingerprint::of(&format!("file {}", path.display())),
            Self::Pattern(pattern) => {
                NameFingerprint::of(&format!("{:?} {}", pattern.kind, pattern.path))
            }
        }
    }
}

/// Path as stored: relative to the root, or absolute if outside it.
fn stored_path(view: &PathContext, path: &Path) -> Result<String> {
    let kept = path.strip_prefix(&view.root).unwrap_or(path);
    kept.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("the path of the source {} is not UTF-8", path.display());
        Error::new(ErrorKind::Invalid, message)
    })
}

fn current_place(view: &PathContext) -> SnapshotPlace {
    SnapshotPlace {
        machine: machine_fingerprint().to_owned(),
        root: view.root.to_string_lossy().into_owned(),
    }
}

/// Removes `.` and `..` by spelling alone: `a/../b` is `b` even if `a` does not exist.
fn normalize_lexically(path: &Path) -> PathBuf {
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

/// The change of a path, if any. An existing path is taken literally, even if it looks like a glob.
/// A directory's own times count too: they show deletions.
fn timed_change(
    path: &str,
    than: i64,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<Option<SourceChangeKind>> {
    let named = view.root.join(path);
    let pattern = if named.is_dir() {
        SourcePattern { kind: PatternKind::Directory, path: path.to_owned(), given: None }
    } else if !named.exists() && pattern::is_glob(path) {
        let from_root = PathContext { cwd: view.root.clone(), ..view.clone() };
        pattern::glob(&from_root, path)?
    } else {
        return Ok(change_since(&named, than));
    };
    let found = pattern::matches_and_dirs(&pattern, view, limits)?;
    if pattern.kind == PatternKind::Glob && !found.iter().any(|path| path.is_file()) {
        return Ok(Some(SourceChangeKind::Missing));
    }
    let is_changed = found.iter().any(|path| change_since(path, than).is_some());
    Ok(is_changed.then_some(SourceChangeKind::Modified))
}

/// Checks both a symbolic link and its target.
fn change_since(path: &Path, than: i64) -> Option<SourceChangeKind> {
    let is_old = |meta: &Metadata| meta.mtime().max(meta.ctime()) < than;
    match (fs::symlink_metadata(path), fs::metadata(path)) {
        (Ok(link), Ok(file)) if is_old(&link) && is_old(&file) => None,
        (_, Err(error)) if is_absence(&error) => Some(SourceChangeKind::Missing),
        _ => Some(SourceChangeKind::Modified),
    }
}
