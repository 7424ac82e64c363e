//! Sources that are a state and no file: the commit that is checked out, what is staged, the contents
//! of a project, the names in a directory. Each is the last part of a path, such as `DIR/git:HEAD`, and recorded like a file
//! of that name: versions that do not know it find no such file, and serve nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::project_files::project_files_state;
use super::{PathContext, SourceChange, SourceChangeKind, SourceLimits, stored_path};
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::project::{head_state, index_state};
use crate::entry::{FileStat, SourceFile};
use crate::error::{Error, ErrorKind, Result};

/// A kind of state.
#[derive(Debug)]
pub(super) struct StateSource {
    pub(super) name: &'static str,
    /// Reads it for a directory; `None` if it has none there, or cannot be read.
    read: fn(&Path, SourceLimits) -> Option<Vec<u8>>,
    /// True if it is the project's where no directory is given, else the working directory's.
    is_of_project: bool,
}

static STATE_SOURCES: [StateSource; 5] = [
    StateSource { name: "git:HEAD", read: |dir, _| head_state(dir), is_of_project: true },
    StateSource { name: "git:index", read: |dir, _| index_state(dir), is_of_project: true },
    StateSource {
        name: "dir:list",
        read: |dir, limits| listing(dir, 1, limits),
        is_of_project: false,
    },
    StateSource {
        name: "dir:tree",
        read: |dir, limits| listing(dir, usize::MAX, limits),
        is_of_project: false,
    },
    StateSource {
        name: "project:files",
        read: |dir, limits| Some(project_files_state(dir, limits)?.as_bytes().to_vec()),
        is_of_project: true,
    },
];

/// The state that a source means, and its directory; `None` for a path.
pub(super) fn resolve(view: &PathContext, given: &str) -> Option<(&'static StateSource, PathBuf)> {
    let (dir, name) = given.rsplit_once('/').map_or(("", given), |(dir, name)| (dir, name));
    let source = STATE_SOURCES.iter().find(|source| source.name == name)?;
    let dir = match (given.len() == name.len(), source.is_of_project) {
        (true, true) => view.root.clone(),
        (true, false) => view.cwd.clone(),
        (false, _) => view.cwd.join(if dir.is_empty() { "/" } else { dir }),
    };
    Some((source, dir.canonicalize().unwrap_or(dir)))
}

/// Captures the state of the directory `dir`.
pub(super) fn capture(
    view: &PathContext,
    source: &StateSource,
    dir: &Path,
    limits: SourceLimits,
) -> Result<SourceFile> {
    let state = (source.read)(dir, limits).filter(|_| dir.is_dir()).ok_or_else(|| {
        let message = format!("the source {}: {} has none", source.name, dir.display());
        Error::new(ErrorKind::Absent, message)
    })?;
    Ok(SourceFile {
        path: stored_path(view, &dir.join(source.name))?,
        given: None,
        size: state.len() as u64,
        sha256: Sha256Digest::of(&state),
        executable: None,
        // No time is old enough to prove that nothing changed since then.
        stat: FileStat { mtime: i64::MAX, ctime: i64::MAX, inode: 0, racy: true },
    })
}

/// The change of a recorded state, if any; an error if it is no state, but a file. A real file of such
/// a name is compared with the state, and always differs.
pub(super) fn detect_change(
    recorded: &SourceFile,
    view: &PathContext,
    limits: SourceLimits,
) -> Result<Option<SourceChange>, PathBuf> {
    let path = view.root.join(&recorded.path);
    let known = |source: &&StateSource| path.file_name().is_some_and(|name| name == source.name);
    let Some(source) = STATE_SOURCES.iter().find(known) else { return Err(path) };
    let change = |how| Some(SourceChange { path: recorded.path.clone(), how });
    Ok(match path.parent().and_then(|dir| (source.read)(dir, limits)) {
        Some(state) if Sha256Digest::of(&state) == recorded.sha256 => None,
        Some(_) => change(SourceChangeKind::Modified),
        None => change(SourceChangeKind::Missing),
    })
}

/// Names and kinds of everything in a directory, also of what git ignores, with sizes and times of
/// files, as a digest. Links are not followed, and git's own directory is not looked into. `None` if
/// there is too much of it.
fn listing(dir: &Path, depth: usize, limits: SourceLimits) -> Option<Vec<u8>> {
    let mut walk = ignore::WalkBuilder::new(dir);
    walk.standard_filters(false).max_depth(Some(depth)).sort_by_file_name(Ord::cmp);
    walk.filter_entry(|entry| {
        let parent = entry.path().parent().and_then(Path::file_name);
        entry.depth() < 2 || parent.is_none_or(|name| name != ".git")
    });
    let (mut hasher, mut count) = (Sha256Hasher::new(), 0);
    for entry in walk.build().skip(1) {
        let entry = entry.ok()?;
        let meta = fs::symlink_metadata(entry.path()).ok()?;
        count += 1;
        if count > limits.files {
            return None;
        }
        let kind = meta.mode() & 0o170_000;
        let times = (!meta.is_dir()).then(|| (meta.size(), meta.mtime(), meta.mtime_nsec()));
        hasher.update(
            format!("{:?} {kind:o} {times:?}\n", entry.path().strip_prefix(dir)).as_bytes(),
        );
    }
    Some(hasher.finish().as_bytes().to_vec())
}
