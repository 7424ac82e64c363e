//! The worker's backlog, seen from outside: no job is taken. Only sharing the lock for a moment
//! tells whether a worker runs, so that is done once, and only when a person asks.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use rustix::fs::{Mode, OFlags};

use super::job::{JobReadError, WorkerJob};
use super::queue::{JobQueue, MAX_TRIES, parse_job_file_name};

/// Backlog of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerBacklog {
    /// Id of the project, which names its directory.
    pub(crate) project: String,
    /// Root of the project, if a job has it.
    pub(crate) root: Option<PathBuf>,
    /// Number of jobs.
    pub(crate) jobs: usize,
    /// Number of jobs that the next worker will give up.
    pub(crate) lost: usize,
    /// Number of statements that could not be stored, and are kept.
    pub(crate) kept: usize,
    /// Time when the oldest job was queued.
    pub(crate) oldest: Option<Timestamp>,
    /// Time of the latest attempt at a job that is not finished.
    pub(crate) begun: Option<Timestamp>,
    /// True if a worker runs.
    pub(crate) is_worked_on: bool,
}

/// Lists the projects that have a backlog or a running worker.
pub(crate) fn list_backlogs(home: &Path) -> std::io::Result<Vec<WorkerBacklog>> {
    let dirs = match fs::read_dir(home.join("queue")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        dirs => dirs?,
    };
    let backlogs = dirs
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| read_backlog(&entry.path()));
    Ok(backlogs.filter(|it| it.jobs > 0 || it.kept > 0 || it.is_worked_on).collect())
}

/// Counts the waiting jobs of a project. Does not touch the lock, so it may be called often.
pub(crate) fn count_waiting_jobs(home: &Path, project: &str) -> usize {
    let dir = home.join("queue").join(project);
    JobQueue::at(&dir).waiting().map_or(0, |jobs| jobs.len())
}

/// Lets the next worker of a project retry the statements that were set aside.
pub(crate) fn retry_kept(home: &Path, project: &str) -> Result<()> {
    JobQueue::at(&home.join("queue").join(project)).retry_kept()
}

fn read_backlog(dir: &Path) -> WorkerBacklog {
    let files = JobQueue::at(dir).waiting().unwrap_or_default();
    let jobs: Vec<Result<Option<WorkerJob>, JobReadError>> =
        files.iter().map(|file| WorkerJob::read(file)).collect();
    let is_lost = |(file, job): (&PathBuf, &Result<Option<WorkerJob>, JobReadError>)| {
        let is_hopeless = parse_job_file_name(file).is_some_and(|(_, tries)| tries >= MAX_TRIES);
        let is_statement = matches!(job, Ok(Some(job)) if job.is_statement());
        matches!(job, Err(JobReadError::NoJob(_))) || (is_hopeless && !is_statement)
    };
    let left = |file: &PathBuf| fs::symlink_metadata(file).ok().map(|it| it.mtime());
    // Starting a job renames its file, which updates ctime.
    let begun = |file: &PathBuf| {
        let found = fs::symlink_metadata(file).ok()?;
        parse_job_file_name(file).is_some_and(|(_, tries)| tries > 0).then_some(found.ctime())
    };
    let kept = JobQueue::at(dir).kept().unwrap_or_default();
    let kept_root = kept.iter().find_map(|file| Some(WorkerJob::read(file).ok()??.from.root));
    WorkerBacklog {
        project: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        root: jobs.iter().flatten().flatten().map(|job| job.from.root.clone()).next().or(kept_root),
        jobs: files.len(),
        lost: files.iter().zip(&jobs).filter(|it| is_lost(*it)).count(),
        kept: kept.len(),
        oldest: files.iter().filter_map(left).min().map(Timestamp::from_seconds),
        begun: files.iter().filter_map(begun).max().map(Timestamp::from_seconds),
        is_worked_on: is_lock_held(&dir.join("lock")),
    }
}

/// True if a worker holds the lock. Sharing it for a moment may turn away a worker that starts just
/// then; the next hook starts another.
fn is_lock_held(lock: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let Ok(file) = rustix::fs::open(lock, flags, Mode::empty()) else { return false };
    matches!(File::from(file).try_lock_shared(), Err(TryLockError::WouldBlock))
}
