//! Sources of which only a time is known: entries that other tools made record their paths and the
//! second in which the result was stored.
//!
//! Such sources count as unchanged only if they are older than that second. A directory's own times
//! count too: they show deletions.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::file::is_absence;
use super::{PathContext, SourceChange, SourceChangeKind, SourceLimits, pattern};
use crate::entry::{PatternKind, SourcePattern, TimedSources};
use crate::error::Result;

/// State of a path.
enum PathState {
    Unchanged,
    Changed,
    Missing,
}

pub(super) fn changed_paths<'a>(
    older: &'a TimedSources,
    view: &'a PathContext,
    limits: SourceLimits,
) -> impl Iterator<Item = SourceChange> + 'a {
    older.paths.iter().filter_map(move |path| {
        let how = match check_path(path, older.than, view, limits) {
            Ok(PathState::Unchanged) => return None,
            Ok(PathState::Missing) => SourceChangeKind::Missing,
            // A path that cannot be inspected counts as changed.
            Ok(PathState::Changed) | Err(_) => SourceChangeKind::Modified,
        };
        Some(SourceChange { path: path.clone(), how })
    })
}

/// An existing path is taken literally, even if it looks like a glob.
fn check_path(
    path: &str,
    than: i64,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<PathState> {
    let named = view.root.join(path);
    if named.is_dir() {
        return check_pattern(&directory(path), than, view, limits);
    }
    if !named.exists() && pattern::is_glob(path) {
        let from_root = PathContext { cwd: view.root.clone(), ..view.clone() };
        return check_pattern(&pattern::glob(&from_root, path)?, than, view, limits);
    }
    Ok(check_times(&named, than))
}

fn directory(path: &str) -> SourcePattern {
    SourcePattern { kind: PatternKind::Directory, path: path.to_owned(), given: None }
}

/// A glob without matches counts as missing.
fn check_pattern(
    pattern: &SourcePattern,
    than: i64,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<PathState> {
    let found = pattern::matches_and_dirs(pattern, view, limits)?;
    if pattern.kind == PatternKind::Glob && !found.iter().any(|path| path.is_file()) {
        return Ok(PathState::Missing);
    }
    let unchanged =
        found.iter().all(|path| matches!(check_times(path, than), PathState::Unchanged));
    Ok(if unchanged { PathState::Unchanged } else { PathState::Changed })
}

/// Checks both a symbolic link and its target.
fn check_times(path: &Path, than: i64) -> PathState {
    let is_old = |meta: &Metadata| meta.mtime().max(meta.ctime()) < than;
    match (fs::symlink_metadata(path), fs::metadata(path)) {
        (Ok(link), Ok(file)) if is_old(&link) && is_old(&file) => PathState::Unchanged,
        (_, Err(error)) if is_absence(&error) => PathState::Missing,
        _ => PathState::Changed,
    }
}
