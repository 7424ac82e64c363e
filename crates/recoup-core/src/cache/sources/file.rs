//! One source file: capture of its state, and detection of changes; and the token that carries the
//! state of the sources before the work across two commands.
//!
//! `get --token` prints a short token on a miss; `set --since` takes it back and stores the result
//! only if the sources are unchanged. The token holds fingerprints of names and content only. The
//! second command may name more sources than the first.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{FreshnessCheck, PathContext, SourceChange, SourceChangeKind, state, stored_path};
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::name::machine_fingerprint;
use crate::cache::Cache;
use crate::cache::lookup::MissReason;
use crate::cache::permit::FillRefusal;
use crate::entry::{FileStat, RecordedSources, SourceFile};
use crate::error::{Error, IoContext, Result};

/// Two changes within this time may leave the same timestamps: file systems stamp by the kernel's
/// tick, 10 ms at most.
const TICK_MILLIS: i64 = 100;
/// Like [`TICK_MILLIS`], for file systems that store whole or even seconds only.
const COARSE_TICK_MILLIS: i64 = 2_000;
/// The mode bit by which git, too, recognizes executables.
pub(super) const OWNER_EXECUTES: u32 = 0o100;
/// Token version: a time and the state of the sources that will be named again.
const UNNAMED_TOKEN: &str = "r1";
/// Token version: like [`UNNAMED_TOKEN`], with fingerprints of the source names.
const NAMED_TOKEN: &str = "r2";

/// Captures the state of a file. `given` is the path as the caller wrote it.
pub(super) fn capture(
    view: &PathContext,
    path: &Path,
    given: Option<&str>,
    now: Timestamp,
) -> Result<SourceFile> {
    let shown = given.map_or_else(|| path.display().to_string(), str::to_owned);
    let looking = || format!("cannot read the source {shown:?}");
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
    let path = match state::detect_change(source, view, cache.inner.options.sources) {
        Ok(change) => return change,
        Err(path) => path,
    };
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
        machine_fingerprint(),
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
        return Err(io::Error::other("not a regular file"));
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
    now.as_millis() - stat.mtime.max(stat.ctime) / 1_000_000 < tick
}

/// A time before the work and, if sources were named, their state then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceToken {
    time: Timestamp,
    before: Option<SourceSnapshot>,
}

/// State of some sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceSnapshot {
    pub(super) state: Sha256Digest,
    /// Fingerprints of their names; older tokens have none.
    pub(super) names: Option<Vec<NameFingerprint>>,
}

/// Short hash of a source name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameFingerprint(u32);

impl NameFingerprint {
    pub(super) fn of(name: &str) -> Self {
        let [a, b, c, d, ..] = *Sha256Digest::of(name.as_bytes()).as_bytes();
        Self(u32::from_be_bytes([a, b, c, d]))
    }

    fn parse(text: &str) -> Option<Self> {
        let is_print = text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_print.then(|| u32::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl SinceToken {
    /// A token without sources: each source must be older than this time.
    pub fn at_time(time: Timestamp) -> Self {
        Self { time, before: None }
    }

    /// A token for the state of the named sources.
    pub(super) fn of(time: Timestamp, state: Sha256Digest, names: Vec<NameFingerprint>) -> Self {
        Self { time, before: Some(SourceSnapshot { state, names: Some(names) }) }
    }

    /// The time before the work.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// True if the token's time is in the future: no such token was issued.
    pub(in crate::cache) fn is_after(&self, now: Timestamp) -> bool {
        self.time > now
    }

    pub(super) fn before(&self) -> Option<&SourceSnapshot> {
        self.before.as_ref()
    }

    /// Parses the `Display` form.
    pub fn parse(text: &str) -> Result<Self> {
        let fields: Vec<&str> = text.split('-').collect();
        let time = |text: &str| text.parse().ok().map(Timestamp::from_millis);
        let read = match fields[..] {
            [UNNAMED_TOKEN, at] => time(at).map(Self::at_time),
            [UNNAMED_TOKEN, at, state] => {
                time(at).zip(Sha256Digest::from_hex(state)).map(|(time, state)| Self {
                    time,
                    before: Some(SourceSnapshot { state, names: None }),
                })
            }
            [NAMED_TOKEN, at, state, names] => {
                let names: Option<Vec<NameFingerprint>> =
                    names.split('.').map(NameFingerprint::parse).collect();
                time(at)
                    .zip(Sha256Digest::from_hex(state))
                    .zip(names)
                    .map(|((time, state), names)| Self::of(time, state, names))
            }
            _ => None,
        };
        read.ok_or_else(|| {
            Error::usage(
                "invalid --since: expected the token that `recoup cache get --token` printed",
            )
        })
    }

    /// The first source that may have changed since the token's time: each must be older by so much
    /// that no later change could carry an earlier timestamp.
    pub(super) fn first_changed_after(&self, sources: &RecordedSources) -> Option<FillRefusal> {
        let young = |file: &&SourceFile| is_racy(&file.stat, self.time);
        let file = sources.files.iter().find(young)?;
        Some(FillRefusal::SourceChanged(MissReason::SourceModified(file.path.clone())))
    }
}

/// `r1-MILLIS`, `r1-MILLIS-DIGEST` or `r2-MILLIS-DIGEST-NAME.NAME`
impl fmt::Display for SinceToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.before.as_ref().and_then(|before| before.names.as_deref());
        let version = if names.is_some() { NAMED_TOKEN } else { UNNAMED_TOKEN };
        write!(f, "{version}-{}", self.time.as_millis())?;
        if let Some(SourceSnapshot { state, .. }) = &self.before {
            write!(f, "-{state}")?;
        }
        for (index, NameFingerprint(name)) in names.unwrap_or_default().iter().enumerate() {
            write!(f, "{}{name:08x}", if index == 0 { '-' } else { '.' })?;
        }
        Ok(())
    }
}
