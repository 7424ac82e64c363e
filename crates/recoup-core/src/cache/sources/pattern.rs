//! Source directories and globs, and the files they match.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use super::{PathContext, SourceLimits, normalize_lexically, stored_path};
use crate::base::glob::{self, SlashMatching};
use crate::base::text::shorten_text;
use crate::entry::{PatternKind, SourcePattern};
use crate::error::{Error, ErrorKind, Result};

/// Maximum length of a source in error messages, in characters.
pub(super) const SHOWN: usize = 200;

/// The characters that make a glob.
const META: [char; 4] = ['*', '?', '[', '{'];

pub(super) fn is_glob(text: &str) -> bool {
    text.contains(META)
}

pub(super) fn directory(view: &PathContext, path: &Path, given: &str) -> Result<SourcePattern> {
    Ok(pattern(PatternKind::Directory, stored_path(view, path)?, given))
}

pub(super) fn glob(view: &PathContext, given: &str) -> Result<SourcePattern> {
    let named = normalize_lexically(&view.cwd.join(given));
    let path = if Path::new(given).is_absolute() && named.starts_with(&view.root) {
        stored_path(view, &named)?
    } else {
        // Only characters that the caller wrote are special: those of the working directory are
        // escaped.
        let escaped = |path: &Path| PathBuf::from(globset::escape(&path.to_string_lossy()));
        let (root, cwd) = (escaped(&view.root), escaped(&view.cwd));
        let named = normalize_lexically(&cwd.join(given));
        stored_path(&PathContext { root, cwd }, &named)?
    };
    Ok(pattern(PatternKind::Glob, path, given))
}

/// The files of a new pattern. No match is an error, because a misspelt glob or a directory of
/// ignored files would silently watch nothing. An empty directory is accepted, also a repository's.
pub(super) fn initial_matches(
    pattern: &SourcePattern,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<Vec<PathBuf>> {
    let files = matches(pattern, view, limits)?;
    let is_empty_dir = || {
        let entries = std::fs::read_dir(view.root.join(&pattern.path));
        let is_git = |name: std::ffi::OsString| name == ".git";
        let is_empty = entries.is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| is_git(entry.file_name())))
        });
        pattern.kind == PatternKind::Directory && is_empty
    };
    if files.is_empty() && !is_empty_dir() {
        let given = shorten_text(pattern.given.as_ref().unwrap_or(&pattern.path), SHOWN);
        let message = format!(
            "the source {given:?} matches no file (files that git ignores are skipped unless you name them)"
        );
        return Err(Error::new(ErrorKind::Absent, message));
    }
    Ok(files)
}

fn pattern(kind: PatternKind, path: String, given: &str) -> SourcePattern {
    let given = (given != path).then(|| given.to_owned());
    SourcePattern { kind, path, given }
}

/// The files that currently match, resolved against `view`.
pub(super) fn matches(
    pattern: &SourcePattern,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<Vec<PathBuf>> {
    search(pattern, view, limits, Path::is_file)
}

/// The matching files and the searched directories, whose times show deletions.
pub(super) fn matches_and_dirs(
    pattern: &SourcePattern,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<Vec<PathBuf>> {
    search(pattern, view, limits, |path| path.is_file() || path.is_dir())
}

/// The first file below a directory that is not in `known` because git ignores it.
pub(super) fn first_ignored(
    pattern: &SourcePattern,
    view: &PathContext,
    known: &BTreeSet<&str>,
) -> Option<String> {
    if pattern.kind != PatternKind::Directory {
        return None;
    }
    let all = walk(view, &view.root.join(&pattern.path), None).git_ignore(false).build();
    let files = all.flatten().map(DirEntry::into_path).filter(|path| path.is_file());
    files
        .filter_map(|path| stored_path(view, &path).ok())
        .find(|path| !known.contains(path.as_str()))
}

fn search(
    pattern: &SourcePattern,
    view: &PathContext,
    limits: SourceLimits,
    counts: fn(&Path) -> bool,
) -> Result<Vec<PathBuf>> {
    let path = Path::new(&pattern.path);
    let too_many = || limits.too_many_files(pattern.given.as_ref().unwrap_or(&pattern.path));
    let found = match pattern.kind {
        PatternKind::Directory => {
            found_below(view, &view.root.join(path), None, limits.files, counts)?
        }
        PatternKind::Glob => {
            let glob = glob::compile_glob(&pattern.path, SlashMatching::Separates)?;
            // A relative pattern is matched against paths relative to the root.
            let seen = |file: &Path| match file.strip_prefix(&view.root) {
                Ok(inside) if path.is_relative() => glob.is_match(inside),
                _ => glob.is_match(file),
            };
            let wanted = |file: &Path| counts(file) && (file.is_dir() || seen(file));
            let base = view.root.join(literal_base(path));
            found_below(view, &base, depth(path), limits.files, wanted)?
        }
    };
    found.ok_or_else(too_many)
}

/// The literal directory prefix of a glob, where the search starts.
fn literal_base(path: &Path) -> PathBuf {
    let literal = |part: &std::path::Component<'_>| !is_glob(&part.as_os_str().to_string_lossy());
    path.components().take_while(literal).collect()
}

/// Maximum depth of a match below the literal prefix; `None` with `**`.
fn depth(path: &Path) -> Option<usize> {
    let endless = path.components().any(|part| part.as_os_str().to_string_lossy().contains("**"));
    let special = path.components().count() - literal_base(path).components().count();
    (!endless).then_some(special)
}

/// Returns `None` if there are more than `most`.
fn found_below(
    view: &PathContext,
    base: &Path,
    depth: Option<usize>,
    most: usize,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Option<Vec<PathBuf>>> {
    if !base.is_dir() {
        return Ok(Some(Vec::new()));
    }
    let mut files = Vec::new();
    for found in walk(view, base, depth).build() {
        let found = match found {
            Ok(found) => found,
            Err(error) if is_broken_link(&error) => continue,
            Err(error) => {
                let message = format!("cannot list the files in {}", base.display());
                return Err(Error::new(ErrorKind::Io, message).with_source(error));
            }
        };
        if wanted(found.path()) {
            if files.len() == most {
                return Ok(None);
            }
            files.push(found.into_path());
        }
    }
    files.sort_unstable();
    Ok(Some(files))
}

/// True if the error is a link loop or a dangling link, which add no file.
fn is_broken_link(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::Loop { .. } => true,
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithPath { err, .. } => {
            is_broken_link(err)
        }
        ignore::Error::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

/// Hidden files count. Of the ignore files only the repository's own apply; the others are
/// personal. Symbolic links are followed, but those to directories only within the project or below
/// `base`: another tree can have any size and changes for reasons of its own.
fn walk(view: &PathContext, base: &Path, depth: Option<usize>) -> WalkBuilder {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let trees = [real(&view.root), real(base)];
    let leads_out = move |entry: &DirEntry| {
        let is_linked_dir = entry.depth() > 0 && entry.path_is_symlink() && entry.path().is_dir();
        is_linked_dir && {
            let target = real(entry.path());
            !trees.iter().any(|tree| target.starts_with(tree))
        }
    };
    let mut walk = WalkBuilder::new(base);
    walk.standard_filters(false)
        .parents(true)
        .git_ignore(true)
        .follow_links(true)
        .max_depth(depth)
        .filter_entry(move |entry| entry.file_name() != ".git" && !leads_out(entry));
    walk
}
