//! Sources of which only a time is known: entries that other tools made name
//! their paths, and the second in which the result was filed.
//!
//! All that can be proved is that nothing changed since before that second. A
//! directory's own times count too: that is where a deletion shows.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::file::is_absence;
use super::{Change, Changed, SourceLimits, View, pattern};
use crate::entry::{Older, Pattern, PatternKind};
use crate::error::Result;

/// How a path turns out.
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
            // What can't be looked at can't be vouched for.
            Ok(Found::Changed) | Err(_) => Changed::Modified,
        };
        Some(Change { path: path.clone(), how })
    })
}

/// What exists by that very name is meant, also when it looks like a glob.
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

/// A glob that matches no file has lost what it stood for.
fn look_at_all(pattern: &Pattern, than: i64, view: &View, limits: SourceLimits) -> Result<Found> {
    let found = pattern::matches_and_dirs(pattern, view, limits)?;
    if pattern.kind == PatternKind::Glob && !found.iter().any(|path| path.is_file()) {
        return Ok(Found::Missing);
    }
    let unchanged = found.iter().all(|path| matches!(look_at(path, than), Found::Unchanged));
    Ok(if unchanged { Found::Unchanged } else { Found::Changed })
}

/// Both the link, where it is one, and what it leads to.
fn look_at(path: &Path, than: i64) -> Found {
    let is_old = |meta: &Metadata| meta.mtime().max(meta.ctime()) < than;
    match (fs::symlink_metadata(path), fs::metadata(path)) {
        (Ok(link), Ok(file)) if is_old(&link) && is_old(&file) => Found::Unchanged,
        (_, Err(error)) if is_absence(&error) => Found::Missing,
        _ => Found::Changed,
    }
}
