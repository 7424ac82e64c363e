//! One source file: capture of its state, and detection of changes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{FreshnessCheck, PathContext, SourceChange, SourceChangeKind, stored_path};
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::machine;
use crate::cache::Cache;
use crate::entry::{FileStat, SourceFile};
use crate::error::{Error, IoContext, Result};

/// Two changes within this time may leave the same timestamps: file systems stamp by the kernel's
/// tick, 10 ms at most.
const TICK_MILLIS: i64 = 100;
/// Like [`TICK_MILLIS`], for file systems that store whole or even seconds only.
const COARSE_TICK_MILLIS: i64 = 2_000;

/// The mode bit by which git, too, recognizes executables.
const OWNER_EXECUTES: u32 = 0o100;

/// Captures the state of a file. `given` is the path as the caller wrote it.
pub(super) fn capture(
    view: &PathContext,
    path: &Path,
    given: Option<&str>,
    now: Timestamp,
) -> Result<SourceFile> {
    let shown = given.map_or_else(|| path.display().to_string(), str::to_owned);
    let looking = || format!("looking at the source {shown:?}");
    // The times first, so that a change during the read is noticed later.
    let Some(FileState { stat, executable, .. }) = read_state(path).with_context(looking)? else {
        return Err(Error::usage(format!("the source {shown:?} does not exist")));
    };
    let (size, sha256) = hash_contents(path).with_context(looking)?;
    let path = stored_path(view, path)?;
    let given = given.filter(|given| *given != path).map(str::to_owned);
    let stat = FileStat { racy: is_racy(&stat, now), ..stat };
    Ok(SourceFile { path, given, size, sha256, executable: Some(executable), stat })
}

pub(super) fn detect_change(
    source: &SourceFile,
    view: &PathContext,
    cache: &Cache,
    same_place: bool,
    freshness: FreshnessCheck,
) -> Option<SourceChange> {
    let change = |how| Some(SourceChange { path: source.path.clone(), how });
    let path = view.root.join(&source.path);
    // Before the look: a file that changes while it is read was too young to trust.
    let now = cache.clock().now();
    let verdict = match read_state(&path) {
        Ok(Some(FileState { size, executable, .. }))
            if size != source.size || source.executable.is_some_and(|it| it != executable) =>
        {
            Ok(false)
        }
        Ok(Some(FileState { stat, .. })) => {
            let same_times = (stat.mtime, stat.ctime, stat.inode)
                == (source.stat.mtime, source.stat.ctime, source.stat.inode);
            match (same_place, same_times) {
                (true, true) if !source.stat.racy => Ok(true),
                (true, false) if freshness == FreshnessCheck::Mtime => Ok(false),
                // Equal times prove an unchanged file only on the same machine and root, and only
                // if they were not too young when captured.
                _ => has_same_contents(
                    source,
                    &path,
                    &FileStat { racy: is_racy(&stat, now), ..stat },
                    cache,
                ),
            }
        }
        Ok(None) => return change(SourceChangeKind::Missing),
        Err(error) => Err(error),
    };
    // An unreadable file counts as changed.
    if verdict.unwrap_or(false) { None } else { change(SourceChangeKind::Modified) }
}

/// Compares the contents, unless the file was verified before in the same state.
fn has_same_contents(
    source: &SourceFile,
    path: &Path,
    stat: &FileStat,
    cache: &Cache,
) -> io::Result<bool> {
    let ledger = cache.inner.ledger.as_ref();
    let Some(ledger) = ledger.filter(|ledger| !ledger.is_cheaper_to_read(source.size)) else {
        return Ok(hash_contents(path)? == (source.size, source.sha256));
    };
    let FileStat { mtime, ctime, inode, .. } = stat;
    let state = format!(
        "{} {mtime} {ctime} {inode} {} {} {}",
        machine::fingerprint(),
        source.size,
        source.sha256,
        path.display()
    );
    let state = Sha256Digest::of(state.as_bytes());
    if ledger.is_verified(&state) {
        return Ok(true);
    }
    let is_same = hash_contents(path)? == (source.size, source.sha256);
    if is_same && !stat.racy {
        ledger.mark_verified(state);
    }
    Ok(is_same)
}

/// A file as the file system describes it.
struct FileState {
    size: u64,
    executable: bool,
    stat: FileStat,
}

/// `None` if the file does not exist; an error if it is not a regular file.
fn read_state(path: &Path) -> io::Result<Option<FileState>> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let nanos =
        |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    let mtime = nanos(meta.mtime(), meta.mtime_nsec());
    let ctime = nanos(meta.ctime(), meta.ctime_nsec());
    let stat = FileStat { mtime, ctime, inode: meta.ino(), racy: false };
    Ok(Some(FileState { size: meta.len(), executable: meta.mode() & OWNER_EXECUTES != 0, stat }))
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn hash_contents(path: &Path) -> io::Result<(u64, Sha256Digest)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut size) = (Sha256Hasher::new(), 0);
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

/// True if a change after `now` could leave timestamps as young as these.
pub(super) fn is_racy(stat: &FileStat, now: Timestamp) -> bool {
    let coarse = stat.mtime % 1_000_000_000 == 0 && stat.ctime % 1_000_000_000 == 0;
    let tick = if coarse { COARSE_TICK_MILLIS } else { TICK_MILLIS };
    now.as_millis() - youngest_millis(stat) < tick
}

/// Time of the last change of content or metadata.
fn youngest_millis(stat: &FileStat) -> i64 {
    stat.mtime.max(stat.ctime) / 1_000_000
}
