//! Files that hooks leave behind: jobs for the worker, and the log of failures.
//!
//! The queue has one file per job, removed when the job is done. If a worker dies, its job's file
//! is left for the next one.
//!
//! ```text
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.TRIES.json
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.kept        a statement that could not be stored
//! ~/.recoup/queue/PROJECT/lock                    held by the running worker
//! ```

mod hook_log;
mod job;

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem::Finder;
use recoup_core::base::clock::{Clock, Deadline, Timestamp};
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::name::fresh_id;
use recoup_core::base::project::ProjectId;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::fs::{Mode, OFlags};

pub(crate) use hook_log::HookLog;
use job::JobReadError;
pub use job::{JobOrigin, JudgeQuestion, SweepReason, WorkerJob, WorkerJobKind};

/// Attempts after which a job is given up.
const MAX_TRIES: u32 = 3;
/// Extension of a statement that could not be stored. It holds the user's words, so it stays until
/// it is stored, forgotten or purged.
const KEPT: &str = "kept";
/// Limit of waiting jobs: beyond it something is wrong with the worker.
const MOST: usize = 200;
/// Size limit of a job.
const LARGEST: u64 = 256 * 1024;

/// How long to wait for workers that may be writing one of the texts.
const FORGET_WAIT: Duration = Duration::from_secs(5);

/// Queue of one project.
#[derive(Debug)]
pub struct JobQueue {
    dir: PathBuf,
}

/// A job that was started.
#[derive(Debug)]
pub struct TakenJob {
    file: PathBuf,
    /// The job itself.
    pub job: WorkerJob,
}

/// Jobs that this worker skips and leaves to another.
#[derive(Debug, Default)]
pub struct SkippedJobs(BTreeSet<PathBuf>);

impl JobQueue {
    /// Queue of a project below `home`.
    pub fn of(home: &Path, project: &ProjectId) -> Self {
        Self { dir: home.join("queue").join(project.to_string()) }
    }

    /// Queue in that directory.
    fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Adds a job.
    pub fn put(&self, job: &WorkerJob, clock: &dyn Clock) -> Result<()> {
        fsx::ensure_private_dir(&self.dir)?;
        if self.waiting()?.len() >= MOST {
            let message =
                format!("the queue is full: {MOST} jobs are waiting in {}", self.dir.display());
            return Err(Error::new(ErrorKind::Io, message));
        }
        let json = serde_json::to_vec(job).map_err(|error| {
            let message = "cannot queue a job: a path in it is not valid UTF-8";
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?;
        if json.len() as u64 > LARGEST {
            let message =
                format!("cannot queue a job of {} bytes: the maximum is {LARGEST}", json.len());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let file = self.dir.join(format!("{}.0.json", fresh_id(clock)));
        match job.what {
            // The user was told that it will be remembered, so it is synced to disk.
            WorkerJobKind::Remember { .. } => fsx::write_atomic(&file, &json),
            // The client waits for this hook: no sync.
            WorkerJobKind::Sweep { .. } | WorkerJobKind::Sync | WorkerJobKind::Judge { .. } => {
                fsx::write_unsynced(&file, &json)
            }
        }
    }

    /// Sets aside and returns the statements that could not be stored after `MAX_TRIES` attempts.
    pub(crate) fn keep_unstored(&self, mut log: impl FnMut(&str)) -> Result<Vec<WorkerJob>> {
        let mut kept = Vec::new();
        for file in self.waiting()? {
            let Some((name, tries)) =
                parse_job_file_name(&file).filter(|(_, tries)| *tries >= MAX_TRIES)
            else {
                continue;
            };
            let Ok(Some(job)) = WorkerJob::read(&file) else { continue };
            let place = self.dir.join(format!("{name}.{KEPT}"));
            if job.is_statement() && rename_if_there(&file, &place)? {
                let place = place.display();
                log(&format!("a statement was not stored after {tries} tries; it is in {place}"));
                kept.push(job);
            }
        }
        Ok(kept)
    }

    /// Takes the oldest job that is not in `left`. A file that is no job, or one that was tried too
    /// often, is given up; one that is unreadable now, or of a newer version, joins `left`. Both
    /// are logged.
    pub fn take(
        &self,
        left: &mut SkippedJobs,
        mut log: impl FnMut(&str),
    ) -> Result<Option<TakenJob>> {
        for file in self.waiting()? {
            let Some((name, tries)) =
                parse_job_file_name(&file).filter(|_| !left.0.contains(&file))
            else {
                continue;
            };
            if tries >= MAX_TRIES
                && WorkerJob::read(&file).is_ok_and(|job| job.is_some_and(|job| job.is_statement()))
            {
                left.0.insert(file);
                continue;
            }
            if tries >= MAX_TRIES {
                log(&format!("job {name} was given up after {tries} tries"));
                give_up(&file, left, &mut log);
                continue;
            }
            match WorkerJob::read(&file) {
                Ok(Some(job)) => {
                    let begun = self.dir.join(format!("{name}.{}.json", tries + 1));
                    if rename_if_there(&file, &begun)? {
                        return Ok(Some(TakenJob { file: begun, job }));
                    }
                }
                Ok(None) => {}
                Err(JobReadError::NoJob(why)) => {
                    log(&format!("job {name} can't be read: {why}"));
                    give_up(&file, left, &mut log);
                }
                Err(JobReadError::Now(why)) => {
                    log(&format!("job {name} is left for another worker: {why}"));
                    left.0.insert(file);
                }
            }
        }
        Ok(None)
    }

    /// True if no job waits.
    pub fn is_empty(&self) -> Result<bool> {
        self.has_only(&SkippedJobs::default())
    }

    /// True if no jobs wait except these.
    pub(crate) fn has_only(&self, left: &SkippedJobs) -> Result<bool> {
        Ok(self.waiting()?.iter().all(|file| left.0.contains(file)))
    }

    /// Acquires the worker's lock; none if another worker holds it. The system releases it when its
    /// owner dies.
    pub fn lock(&self) -> Result<Option<FileLock>> {
        fsx::ensure_private_dir(&self.dir)?;
        FileLock::try_acquire(&self.lock_file())
    }

    fn lock_file(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// Files of waiting jobs, oldest first.
    fn waiting(&self) -> Result<Vec<PathBuf>> {
        self.files(|file| parse_job_file_name(file).is_some())
    }

    /// Files of statements that could not be stored, oldest first.
    fn kept(&self) -> Result<Vec<PathBuf>> {
        self.files(|file| file.extension().is_some_and(|it| it == KEPT))
    }

    fn files(&self, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(|| format!("reading {}", self.dir.display()))?,
        };
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| is_wanted(file))
            .collect();
        files.sort_unstable();
        Ok(files)
    }
}

impl TakenJob {
    /// Puts it back, as if it had not been tried.
    pub fn put_back(self) -> Result<()> {
        let Some((name, _)) = parse_job_file_name(&self.file) else { return Ok(()) };
        let untried = self.file.with_file_name(format!("{name}.0.json"));
        rename_if_there(&self.file, &untried).map(drop)
    }

    /// Leaves it to another worker; the attempt counts.
    pub(crate) fn fail(self, left: &mut SkippedJobs) {
        left.0.insert(self.file);
    }

    /// Removes it: it is done.
    pub fn finish(self) -> Result<()> {
        fsx::remove(&self.file).map(drop)
    }
}

/// Renames a file; returns false if it is gone, because it was forgotten meanwhile.
fn rename_if_there(from: &Path, to: &Path) -> Result<bool> {
    let is_gone = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    match fsx::rename_unsynced(from, to) {
        Err(_) if fs::symlink_metadata(from).is_err_and(is_gone) => Ok(false),
        renamed => renamed.map(|()| true),
    }
}

/// Removes a job; one that can't be removed is skipped.
fn give_up(file: &Path, left: &mut SkippedJobs, log: &mut impl FnMut(&str)) {
    if let Err(error) = fsx::remove(file) {
        log(&format!("cannot remove a job: {error}"));
        left.0.insert(file.to_owned());
    }
}

/// Splits a file name into the job's name and its number of attempts.
fn parse_job_file_name(file: &Path) -> Option<(&str, u32)> {
    let (name, tries) = file.file_name()?.to_str()?.strip_suffix(".json")?.rsplit_once('.')?;
    Some((name, tries.parse().ok()?))
}

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
    JobQueue::at(&home.join("queue").join(project)).waiting().map_or(0, |jobs| jobs.len())
}

/// Lets the next worker of a project retry the statements that were set aside.
pub(crate) fn retry_kept(home: &Path, project: &str) -> Result<()> {
    for file in JobQueue::at(&home.join("queue").join(project)).kept()? {
        rename_if_there(&file, &file.with_extension("0.json"))?;
    }
    Ok(())
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
    // Sharing the lock for a moment may turn away a worker that starts just then; the next hook starts
    // another.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let lock = rustix::fs::open(dir.join("lock"), flags, Mode::empty());
    let is_worked_on = lock.is_ok_and(|lock| {
        matches!(File::from(lock).try_lock_shared(), Err(TryLockError::WouldBlock))
    });
    WorkerBacklog {
        project: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        root: jobs.iter().flatten().flatten().map(|job| job.from.root.clone()).next().or(kept_root),
        jobs: files.len(),
        lost: files.iter().zip(&jobs).filter(|it| is_lost(*it)).count(),
        kept: kept.len(),
        oldest: files.iter().filter_map(left).min().map(Timestamp::from_seconds),
        begun: files.iter().filter_map(begun).max().map(Timestamp::from_seconds),
        is_worked_on,
    }
}

/// Removes every job that contains one of the texts. Returns the paths that may still contain one:
/// files that can't be read or removed, and queues whose worker did not end in time.
pub(crate) fn forget_texts(home: &Path, texts: &[&str]) -> Vec<PathBuf> {
    let dir = home.join("queue");
    // As they are escaped in a job.
    let escaped = |text: &&str| {
        let text = serde_json::to_string(text).expect("text always serializes");
        text[1..text.len() - 1].to_owned()
    };
    let texts: Vec<String> = texts.iter().map(escaped).collect();
    let words: Vec<Finder<'_>> =
        texts.iter().filter(|it| !it.is_empty()).map(Finder::new).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let deadline = Deadline::after(FORGET_WAIT);
    let projects = match fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(_) => return vec![dir],
        Ok(projects) => projects,
    };
    let mut unreached = Vec::new();
    for project in projects {
        match project {
            Ok(project) if project.path().is_dir() => {
                unreached.extend(forget_in(&project.path(), &words, deadline));
            }
            Ok(_) => {}
            Err(_) => unreached.push(dir.clone()),
        }
    }
    unreached
}

fn forget_in(dir: &Path, words: &[Finder<'_>], deadline: Deadline) -> Vec<PathBuf> {
    let queue = JobQueue::at(dir);
    let Ok(seen) = RemovalReport::remove_matching(&queue, words, JobSelection::Untouched) else {
        return vec![dir.to_owned()];
    };
    if !seen.in_hand {
        return seen.unread;
    }
    // The lock's holder may be about to write the texts; a dead worker holds none.
    let lock = FileLock::acquire(&queue.lock_file(), deadline);
    let seen = RemovalReport::remove_matching(&queue, words, JobSelection::All);
    let mut unreached = seen.map_or_else(|_| vec![dir.to_owned()], |seen| seen.unread);
    if lock.is_err() {
        unreached.push(dir.to_owned());
    }
    unreached
}

/// Jobs to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobSelection {
    /// Only jobs that no worker has started.
    Untouched,
    All,
}

/// Result of removing jobs from a queue.
#[derive(Debug, Default)]
struct RemovalReport {
    /// True if a worker may have started a job with one of the texts.
    in_hand: bool,
    /// Files that could not be read or removed.
    unread: Vec<PathBuf>,
}

impl RemovalReport {
    fn remove_matching(
        queue: &JobQueue,
        words: &[Finder<'_>],
        which: JobSelection,
    ) -> Result<Self> {
        let mut seen = Self::default();
        for file in queue.waiting()?.into_iter().chain(queue.kept()?) {
            let begun = parse_job_file_name(&file).is_some_and(|(_, tries)| tries > 0);
            match fsx::read_regular(&file, LARGEST) {
                Err(_) => seen.unread.push(file),
                // Started or finished since it was listed.
                Ok(None) => seen.in_hand = true,
                Ok(Some(json)) if !words.iter().any(|it| it.find(&json).is_some()) => {}
                Ok(Some(_)) if begun && which == JobSelection::Untouched => seen.in_hand = true,
                Ok(Some(_)) => match fsx::remove(&file) {
                    Ok(removed) => seen.in_hand |= !removed,
                    Err(_) => seen.unread.push(file),
                },
            }
        }
        Ok(seen)
    }
}
