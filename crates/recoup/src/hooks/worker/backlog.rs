//! What waits for workers, seen from outside: no job is taken. Whether somebody works can only be
//! told by sharing the lock for a moment, so that is asked once, and only for a person.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use recoup_core::base::clock::Timestamp;
use recoup_core::base::fsx;
use rustix::fs::{Mode, OFlags};

use super::job::Job;
use super::queue::{LARGEST, Queue, TRIES, parts};

/// What waits in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backlog {
    /// The project, as its directory is called.
    pub(crate) project: String,
    /// Its root, as a job has it.
    pub(crate) root: Option<PathBuf>,
    /// How many jobs there are.
    pub(crate) jobs: usize,
    /// Those that are given up at the next look.
    pub(crate) lost: usize,
    /// When the oldest was left.
    pub(crate) oldest: Option<Timestamp>,
    /// When one was begun last, of those that were not finished.
    pub(crate) begun: Option<Timestamp>,
    /// Somebody works on them.
    pub(crate) is_worked_on: bool,
}

/// The projects in which something waits, or somebody works.
pub(crate) fn all(home: &Path) -> std::io::Result<Vec<Backlog>> {
    let dirs = match fs::read_dir(home.join("queue")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        dirs => dirs?,
    };
    let backlogs =
        dirs.flatten().filter(|entry| entry.path().is_dir()).map(|entry| of(&entry.path()));
    Ok(backlogs.filter(|it| it.jobs > 0 || it.is_worked_on).collect())
}

/// How many jobs wait in a project. Nobody's lock is touched: that may be asked all the time.
pub(crate) fn jobs_of(home: &Path, project: &str) -> usize {
    let dir = home.join("queue").join(project);
    Queue::at(&dir).waiting().map_or(0, |jobs| jobs.len())
}

fn of(dir: &Path) -> Backlog {
    let files = Queue::at(dir).waiting().unwrap_or_default();
    let jobs: Vec<Option<Job>> = files.iter().map(|file| job_in(file)).collect();
    let is_lost = |(file, job): (&PathBuf, &Option<Job>)| {
        job.is_none() || parts(file).is_some_and(|(_, tries)| tries >= TRIES)
    };
    let left = |file: &PathBuf| fs::symlink_metadata(file).ok().map(|it| it.mtime());
    // Whoever begins one renames it, and a rename is a change.
    let begun = |file: &PathBuf| {
        let found = fs::symlink_metadata(file).ok()?;
        parts(file).is_some_and(|(_, tries)| tries > 0).then_some(found.ctime())
    };
    Backlog {
        project: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        root: jobs.iter().flatten().map(|job| job.from.root.clone()).next(),
        jobs: files.len(),
        lost: files.iter().zip(&jobs).filter(|it| is_lost(*it)).count(),
        oldest: files.iter().filter_map(left).min().map(Timestamp::from_seconds),
        begun: files.iter().filter_map(begun).max().map(Timestamp::from_seconds),
        is_worked_on: is_held(&dir.join("lock")),
    }
}

fn job_in(file: &Path) -> Option<Job> {
    let json = fsx::read_regular(file, LARGEST).ok().flatten()?;
    serde_json::from_slice(&json).ok()
}

/// Whether somebody has the lock. For a moment we share it: a worker that comes just then
/// leaves, as if another were at work, and the next hook starts one.
fn is_held(lock: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let Ok(file) = rustix::fs::open(lock, flags, Mode::empty()) else { return false };
    matches!(File::from(file).try_lock_shared(), Err(TryLockError::WouldBlock))
}
