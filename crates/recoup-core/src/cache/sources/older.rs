//! Sources of which only a time is known: entries that other tools made record their paths and the
//! second in which the result was stored.
//!
//! Such sources count as unchanged only if they are older than that second. A directory's own times
//! count too: they show deletions.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::file::is_absence;
use super::{Change, Changed, SourceLimits, View, pattern};
use crate::entry::{Older, Pattern, PatternKind};
use crate::error::Result;

/// State of a path.
enum Found {
    Unchanged,
    Changed,
    Missing,
}

pub(super) fn changes<'a>(
    older: &'a Older,
    view: &'a View,
    limits: SourceLimits,
) -> impl Iterator<Item = Change> + 'a {
    older.paths.iter().filter_map(move |path| {
        let how = match look(path, older.than, view, limits) {
            Ok(Found::Unchanged) => return None,
            Ok(Found::Missing) => Changed::Missing,
            // A path that cannot be inspected counts as changed.
            Ok(Found::Changed) | Err(_) => Changed::Modified,
        };
        Some(Change { path: path.clone(), how })
    })
}

/// An existing path is taken literally, even if it looks like a glob.
fn look(path: &str, than: i64, view: &View, limits: SourceLimits) -> Result<Found> {
    let named = view.root.join(path);
    if named.is_dir() {
        return look_at_all(&directory(path), than, view, limits);
    }
    if !named.exists() && pattern::is_glob(path) {
        let from_root = View { cwd: view.root.clone(), ..view.clone() };
        return look_at_all(&pattern::glob(&from_root, path)?, than, view, limits);
    }
    Ok(look_at(&named, than))
}

fn directory(path: &str) -> Pattern {
    Pattern { kind: PatternKind::Directory, path: path.to_owned(), given: None }
}

/// A glob without matches counts as missing.
fn look_at_all(pattern: &Pattern, than: i64, view: &View, limits: SourceLimits) -> Result<Found> {
    let found = pattern::matches_and_dirs(pattern, view, limits)?;
    if pattern.kind == PatternKind::Glob && !found.iter().any(|path| path.is_file()) {
        return Ok(Found::Missing);
    }
    let unchanged = found.iter().all(|path| matches!(look_at(path, than), Found::Unchanged));
    Ok(if unchanged { Found::Unchanged } else { Found::Changed })
}

/// Checks both a symbolic link and its target.
fn look_at(path: &Path, than: i64) -> Found {
    let is_old = |meta: &Metadata| meta.mtime().max(meta.ctime()) < than;
    match (fs::symlink_metadata(path), fs::metadata(path)) {
        (Ok(link), Ok(file)) if is_old(&link) && is_old(&file) => Found::Unchanged,
        (_, Err(error)) if is_absence(&error) => Found::Missing,
        _ => Found::Changed,
    }
}
