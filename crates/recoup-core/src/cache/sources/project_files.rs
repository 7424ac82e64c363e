//! `project:files`: the contents of every file in a directory that git tracks or does not ignore.
//!
//! The state is a digest of names, kinds, sizes and ids of contents. Git's index has the id of each
//! file that it compared before: it is used if the file's times, inode and size are still those in
//! the index. Every other file is read and hashed as git does it, so that staging changes no id.
//! Directories are listed by several threads. Rules of `.gitignore` are read only where a name is
//! not in the index.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::num::NonZero;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use parking_lot::{Condvar, Mutex};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::SourceLimits;
use super::directory_rules::{ATTRIBUTES_FILE, DirectoryRules, IGNORE_FILE};
use super::file::{OWNER_EXECUTES, is_racy};
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::project::{
    BlobHasher, ObjectId, TrackedStat, WorktreeIndex, is_worktree_root, worktree_root,
};
use crate::entry::FileStat;

/// More threads than this wait for each other.
const MAX_THREADS: usize = 8;

/// The type bits of a mode.
const TYPE_BITS: u32 = 0o170_000;
/// Mode of a submodule in an index.
const SUBMODULE: u32 = 0o160_000;

/// Digest of the files in `dir` that git tracks or does not ignore: their names, contents and whether
/// their owner may execute them; of links their targets. Submodules and other repositories inside
/// count by the same rule. Times do not count, nor does what is staged or committed.
///
/// Outside of a repository, every file counts that no `.gitignore` in `dir` ignores. `None` if `dir` is
/// no directory, an index is not understood, files change meanwhile, or more of them would have to be
/// read than `limits` allow.
pub fn project_files_state(dir: &Path, limits: SourceLimits) -> Option<Sha256Digest> {
    ProjectWalk::begin(dir, limits)?.run()
}

/// Time of the last change of a file that counts for [`project_files_state`], also of one that has
/// the same contents again.
pub fn last_project_file_change(dir: &Path, limits: SourceLimits) -> Option<Timestamp> {
    let walk = ProjectWalk::begin(dir, limits)?;
    walk.run().map(|_| Timestamp::from_millis(walk.last_change.into_inner()))
}

/// A directory that is to be looked at.
#[derive(Default)]
struct DirectoryTask {
    /// Relative to where the walk began.
    path: Vec<u8>,
    /// Index of the repository that it belongs to.
    index: Arc<WorktreeIndex>,
    /// The entries of the index that are below this directory.
    tracked: Range<usize>,
    /// Place where the names of these go on behind the directory.
    name_at: usize,
    /// The rules that hold around it.
    rules: Option<Arc<DirectoryRules>>,
    untracked: UntrackedFiles,
    is_worktree_root: bool,
}

/// Which files count that are not in the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum UntrackedFiles {
    #[default]
    NotIgnored,
    All,
    None,
}

struct ProjectWalk {
    dir: PathBuf,
    root: OwnedFd,
    limits: SourceLimits,
    files: AtomicUsize,
    bytes: AtomicU64,
    /// In milliseconds.
    last_change: AtomicI64,
    queue: Mutex<TaskQueue>,
    wake: Condvar,
}

struct TaskQueue {
    tasks: Vec<DirectoryTask>,
    /// Number of tasks that threads work on.
    busy: usize,
    is_over: bool,
}

/// Path of a directory, and the digest of the files in it.
type DirectoryDigest = (Vec<u8>, Sha256Digest);

impl ProjectWalk {
    fn begin(dir: &Path, limits: SourceLimits) -> Option<Self> {
        let dir = dir.canonicalize().ok()?;
        let root = open_at(CWD, dir.as_os_str().as_bytes(), OFlags::DIRECTORY).ok()?;
        let first = match worktree_root(&dir) {
            Some(top) => {
                let mut prefix = dir.strip_prefix(top).ok()?.as_os_str().as_bytes().to_vec();
                if !prefix.is_empty() {
                    prefix.push(b'/');
                }
                let index = WorktreeIndex::read(top)?;
                DirectoryTask {
                    tracked: index.below(&prefix, 0..index.len()),
                    name_at: prefix.len(),
                    rules: DirectoryRules::above(top, &dir, &index.attributes),
                    index: Arc::new(index),
                    is_worktree_root: prefix.is_empty(),
                    ..DirectoryTask::default()
                }
            }
            None => DirectoryTask::default(),
        };
        Some(Self {
            dir,
            root,
            limits,
            files: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            last_change: AtomicI64::new(0),
            queue: Mutex::new(TaskQueue { tasks: vec![first], busy: 0, is_over: false }),
            wake: Condvar::new(),
        })
    }

    fn run(&self) -> Option<Sha256Digest> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        let mut directories = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| self.work())).collect();
            let mut found = self.work()?;
            for other in others {
                found.append(&mut other.join().ok()??);
            }
            Some(found)
        })?;
        directories.sort_unstable();
        let mut hasher = Sha256Hasher::new();
        for (path, digest) in directories {
            hasher.update(&path);
            hasher.update(b"\0");
            hasher.update(digest.as_bytes());
        }
        Some(hasher.finish())
    }

    /// Takes directories from the queue until none is left; `None` if there is no state.
    fn work(&self) -> Option<Vec<DirectoryDigest>> {
        let (mut found, mut more) = (Vec::new(), Vec::new());
        let mut queue = self.queue.lock();
        while !queue.is_over {
            let Some(task) = queue.tasks.pop() else {
                queue.is_over = queue.busy == 0;
                if !queue.is_over {
                    self.wake.wait(&mut queue);
                }
                continue;
            };
            queue.busy += 1;
            drop(queue);
            let looked = self.look_at(&task, &mut more, &mut found);
            queue = self.queue.lock();
            queue.busy -= 1;
            if looked.is_none() {
                queue.is_over = true;
                self.wake.notify_all();
                return None;
            }
            queue.tasks.append(&mut more);
            self.wake.notify_all();
        }
        self.wake.notify_all();
        Some(found)
    }

    /// Adds the digest of the files in a directory to `found`, if it has any, and its directories to
    /// `more`. `None` means that there is no state.
    fn look_at(
        &self,
        task: &DirectoryTask,
        more: &mut Vec<DirectoryTask>,
        found: &mut Vec<DirectoryDigest>,
    ) -> Option<()> {
        let path = if task.path.is_empty() { b"." } else { task.path.as_slice() };
        let mut dir = Dir::new(open_at(&self.root, path, OFlags::DIRECTORY).ok()?).ok()?;
        let (mut names, mut kinds) = (Vec::new(), Vec::new());
        while let Some(entry) = dir.read() {
            let entry = entry.ok()?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                kinds.push((names.len()..names.len() + name.len(), entry.file_type()));
                names.extend_from_slice(name);
            }
        }
        let dir = dir.fd().ok()?;
        let listing = || kinds.iter().map(|(name, kind)| (&names[name.clone()], *kind));
        let has = |wanted: &str| listing().any(|(name, _)| name == wanted.as_bytes());
        let mut untracked = task.untracked;
        let here = self.dir.join(OsStr::from_bytes(&task.path));
        if !task.is_worktree_root && has(".git") && is_worktree_root(&here) {
            more.push(DirectoryTask::nested(task.path.clone(), &here)?);
            untracked = UntrackedFiles::None;
        }
        let attributes = has(ATTRIBUTES_FILE).then(|| here.join(ATTRIBUTES_FILE));
        let of_repository = task.is_worktree_root.then_some(&task.index.attributes);
        let mut rules = DirectoryRules::new(here, task.rules.clone(), has(IGNORE_FILE));
        for file in attributes.iter().chain(of_repository) {
            rules.add_attributes(file);
        }
        if task.path.is_empty() {
            rules.include();
        }
        let rules = Arc::new(rules);
        let TrackedNames { files, dirs, is_collapsed } = task.tracked_names();
        if is_collapsed {
            untracked = UntrackedFiles::All;
        }
        let mut records = Vec::with_capacity(files.len());
        for &at in &files {
            let name = &task.index.name(at)[task.name_at..];
            match lstat_at(dir, name) {
                Ok(stat) => {
                    let object =
                        known_object(&task.index, at, &stat).filter(|_| !rules.converts(name));
                    self.add_record(&mut records, dir, name, &stat, object, task)?;
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(_) => return None,
            }
        }
        for (name, kind) in listing() {
            if name == b".git" {
                continue;
            }
            let tracked_at =
                files.binary_search_by(|at| task.index.name(*at)[task.name_at..].cmp(name)).ok();
            let kind = match kind {
                FileType::Unknown => FileType::from_raw_mode(lstat_at(dir, name).ok()?.st_mode),
                kind => kind,
            };
            if kind == FileType::Directory {
                let tracked = dirs.get(name).cloned();
                let is_submodule =
                    tracked_at.is_some_and(|at| task.index.file(files[at]).mode == SUBMODULE);
                let untracked = if is_submodule { UntrackedFiles::All } else { untracked };
                if tracked.is_some() || untracked.counts(&rules, name, true) {
                    more.push(task.child(name, tracked, untracked, &rules));
                }
            } else if tracked_at.is_none() && untracked.counts(&rules, name, false) {
                let stat = lstat_at(dir, name).ok()?;
                self.add_record(&mut records, dir, name, &stat, None, task)?;
            }
        }
        records.sort_by_key(|record| record.name);
        let mut hasher = Sha256Hasher::new();
        for record in &records {
            record.add_to(&mut hasher);
        }
        if !records.is_empty() {
            found.push((task.path.clone(), hasher.finish()));
        }
        Some(())
    }

    /// Adds what counts of a file or link; nothing for what is neither. `None` means that there is no
    /// state.
    fn add_record<'n>(
        &self,
        records: &mut Vec<FileRecord<'n>>,
        dir: BorrowedFd<'_>,
        name: &'n [u8],
        stat: &Stat,
        known: Option<ObjectId>,
        task: &DirectoryTask,
    ) -> Option<()> {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if mode_of(stat) & OWNER_EXECUTES != 0 => b'x',
            FileType::RegularFile => b'f',
            FileType::Symlink => b'l',
            _ => return Some(()),
        };
        let [_, [seconds, nanos], _] = version_of(stat);
        let changed = i64::try_from(seconds * 1_000 + nanos / 1_000_000).unwrap_or(i64::MAX);
        self.last_change.fetch_max(changed, Ordering::Relaxed);
        let size = u64::try_from(stat.st_size).ok()?;
        let id = match known {
            Some(object) => object,
            None => self.contents_id(dir, name, stat, task.index.object_len)?,
        };
        records.push(FileRecord { name, kind, size, id });
        Some(())
    }

    /// Reads a file; `None` if it changes meanwhile.
    fn contents_id(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        stat: &Stat,
        object_len: usize,
    ) -> Option<ObjectId> {
        if self.files.fetch_add(1, Ordering::Relaxed) >= self.limits.files {
            return None;
        }
        let size = u64::try_from(stat.st_size).ok()?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            let target = rustix::fs::readlinkat(dir, name, Vec::new()).ok()?;
            let mut hasher = BlobHasher::new(object_len, target.as_bytes().len() as u64);
            hasher.update(target.as_bytes());
            return Some(hasher.finish());
        }
        let bytes = self.bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        if bytes > self.limits.bytes {
            return None;
        }
        let mut file = match open_at(dir, name, OFlags::NONBLOCK) {
            Ok(file) => File::from(file),
            // Nobody with our rights can read it. Its times tell whether it is another.
            Err(Errno::ACCESS | Errno::PERM) => {
                let version = format!("unreadable {:?}", version_of(stat));
                return Some(*Sha256Digest::of(version.as_bytes()).as_bytes());
            }
            Err(_) => return None,
        };
        let (mut hasher, mut read) = (BlobHasher::new(object_len, size), 0);
        let mut buffer = vec![0; usize::try_from(size + 1).map_or(READ_LEN, |it| it.min(READ_LEN))];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(more) => {
                    hasher.update(&buffer[..more]);
                    read += more as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        let after = rustix::fs::fstat(&file).ok()?;
        (read == size && version_of(&after) == version_of(stat)).then(|| hasher.finish())
    }
}

/// How much of a file is read at once.
const READ_LEN: usize = 64 << 10;

impl DirectoryTask {
    /// The root of another repository, with its own index and rules.
    fn nested(path: Vec<u8>, root: &Path) -> Option<Self> {
        let index = Arc::new(WorktreeIndex::read(root)?);
        let tracked = 0..index.len();
        Some(Self { path, index, tracked, is_worktree_root: true, ..Self::default() })
    }

    fn child(
        &self,
        name: &[u8],
        tracked: Option<Range<usize>>,
        untracked: UntrackedFiles,
        rules: &Arc<DirectoryRules>,
    ) -> Self {
        let slash: &[u8] = if self.path.is_empty() { b"" } else { b"/" };
        Self {
            path: [&self.path, slash, name].concat(),
            index: self.index.clone(),
            tracked: tracked.unwrap_or_default(),
            name_at: self.name_at + name.len() + 1,
            rules: Some(rules.clone()),
            untracked,
            is_worktree_root: false,
        }
    }

    fn tracked_names(&self) -> TrackedNames<'_> {
        let (mut at, mut names) = (self.tracked.start, TrackedNames::default());
        while at < self.tracked.end {
            let name = self.index.name(at);
            let rest = &name[self.name_at..];
            if rest.is_empty() {
                names.is_collapsed = true;
                at += 1;
            } else if let Some(len) = memchr::memchr(b'/', rest) {
                let prefix = &name[..=self.name_at + len];
                let below = self.index.below(prefix, at..self.tracked.end);
                at = below.end;
                names.dirs.insert(&rest[..len], below);
            } else {
                // In a conflict, a name has several entries.
                let before = names.files.last().map(|at| self.index.name(*at));
                if before != Some(name) {
                    names.files.push(at);
                }
                at += 1;
            }
        }
        names
    }
}

/// Names in one directory that are in an index.
#[derive(Default)]
struct TrackedNames<'i> {
    /// Their places in the index, in order of name.
    files: Vec<usize>,
    /// Each with what the index has below it.
    dirs: HashMap<&'i [u8], Range<usize>, foldhash::fast::FixedState>,
    /// True if the index has the directory itself, and nothing of what is in it (sparse index).
    is_collapsed: bool,
}

impl UntrackedFiles {
    /// True if a name counts that is not in the index.
    fn counts(self, rules: &DirectoryRules, name: &[u8], is_dir: bool) -> bool {
        match self {
            Self::NotIgnored => !rules.is_ignored() && !rules.ignores(name, is_dir),
            Self::All => true,
            Self::None => false,
        }
    }
}

/// Facts about a file that count.
struct FileRecord<'n> {
    name: &'n [u8],
    kind: u8,
    /// Beside the id: where git converts contents, it stands for what git stores, and a file that
    /// was not converted has another size.
    size: u64,
    id: ObjectId,
}

impl FileRecord<'_> {
    fn add_to(&self, hasher: &mut Sha256Hasher) {
        hasher.update(self.name);
        hasher.update(&[0, self.kind]);
        hasher.update(&self.size.to_le_bytes());
        hasher.update(&self.id);
    }
}

/// The id that the index has for a file, if the file cannot have changed since git compared them.
fn known_object(index: &WorktreeIndex, at: usize, stat: &Stat) -> Option<ObjectId> {
    let tracked = index.file(at);
    let [mtime, ctime, ..] = version_of(stat);
    let nanos = |[seconds, nanos]: [i128; 2]| {
        i64::try_from(seconds * 1_000_000_000 + nanos).unwrap_or(i64::MAX)
    };
    let times = FileStat { mtime: nanos(mtime), ctime: nanos(ctime), inode: 0, racy: false };
    // Git empties the size of a file that changed in the same instant in which it was compared.
    let is_known = tracked.is_trusted
        && tracked.mode & TYPE_BITS == mode_of(stat) & TYPE_BITS
        && tracked.stat == shortened(stat)
        && tracked.stat.size != 0
        && !is_racy(&times, index.modified);
    is_known.then_some(tracked.object)
}

#[allow(clippy::useless_conversion, reason = "systems differ in the width of a mode")]
fn mode_of(stat: &Stat) -> u32 {
    stat.st_mode.into()
}

/// Times, inode and size: together, a version of a file.
fn version_of(stat: &Stat) -> [[i128; 2]; 3] {
    [
        [i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)],
        [i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)],
        [i128::from(stat.st_ino), i128::from(stat.st_size)],
    ]
}

fn shortened(stat: &Stat) -> TrackedStat {
    let short = |value: i128| u32::try_from(value & i128::from(u32::MAX)).unwrap_or_default();
    let [mtime, ctime, [inode, size]] = version_of(stat).map(|pair| pair.map(short));
    TrackedStat { mtime, ctime, inode, size }
}

fn lstat_at(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, Errno> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn open_at(dir: impl AsFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
    rustix::fs::openat(dir, path, flags, Mode::empty())
}
