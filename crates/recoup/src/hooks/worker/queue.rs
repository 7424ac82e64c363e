//! Queue of jobs: one file per job, removed when the job is done. If a worker dies, its job's file
//! is left for the next one.
//!
//! ```text
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.TRIES.json
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.kept        a statement that could not be stored
//! ~/.recoup/queue/PROJECT/lock                    held by the running worker
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::clock::Clock;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::ids;
use recoup_core::base::project::ProjectId;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use super::job::{JobReadError, WorkerJob, WorkerJobKind};

/// Attempts after which a job is given up.
pub(super) const MAX_TRIES: u32 = 3;
/// Extension of a statement that could not be stored. It holds the user's words, so it stays until
/// it is stored, forgotten or purged.
const KEPT: &str = "kept";
/// Limit of waiting jobs: beyond it something is wrong with the worker.
const MOST: usize = 200;
/// Size limit of a job.
pub(super) const LARGEST: u64 = 256 * 1024;

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
    pub(super) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Adds a job.
    pub fn put(&self, job: &WorkerJob, clock: &dyn Clock) -> Result<()> {
        fsx::ensure_private_dir(&self.dir)?;
        if self.waiting()?.len() >= MOST {
            let message = format!("{MOST} jobs wait already in {}", self.dir.display());
            return Err(Error::new(ErrorKind::Io, message));
        }
        let json = serde_json::to_vec(job).map_err(|error| {
            let message = "a job can't be kept: a path in it is no UTF-8";
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?;
        if json.len() as u64 > LARGEST {
            let message =
                format!("a job of {} bytes can't be kept: {LARGEST} are the most", json.len());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let file = self.dir.join(format!("{}.0.json", ids::fresh_id(clock)));
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
    pub(super) fn keep_unstored(&self, mut log: impl FnMut(&str)) -> Result<Vec<WorkerJob>> {
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

    /// Lets the next worker retry the statements that were set aside.
    pub(crate) fn retry_kept(&self) -> Result<()> {
        for file in self.kept()? {
            rename_if_there(&file, &file.with_extension("0.json"))?;
        }
        Ok(())
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
    pub(super) fn has_only(&self, left: &SkippedJobs) -> Result<bool> {
        Ok(self.waiting()?.iter().all(|file| left.0.contains(file)))
    }

    /// Acquires the worker's lock; none if another worker holds it. The system releases it when its
    /// owner dies.
    pub fn lock(&self) -> Result<Option<FileLock>> {
        fsx::ensure_private_dir(&self.dir)?;
        FileLock::try_acquire(&self.lock_file())
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// Files of waiting jobs, oldest first.
    pub(super) fn waiting(&self) -> Result<Vec<PathBuf>> {
        self.files(|file| parse_job_file_name(file).is_some())
    }

    /// Files of statements that could not be stored, oldest first.
    pub(super) fn kept(&self) -> Result<Vec<PathBuf>> {
        self.files(|file| file.extension().is_some_and(|it| it == KEPT))
    }

    fn files(&self, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(|| format!("looking into {}", self.dir.display()))?,
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
    pub(super) fn fail(self, left: &mut SkippedJobs) {
        left.0.insert(self.file);
    }

    /// Removes it: it is done.
    pub fn finish(self) -> Result<()> {
        fsx::remove(&self.file).map(drop)
    }
}

/// Renames a file; returns false if it is gone, because it was forgotten meanwhile.
fn rename_if_there(from: &Path, to: &Path) -> Result<bool> {
    match fsx::rename_unsynced(from, to) {
        Err(_) if is_gone(from) => Ok(false),
        renamed => renamed.map(|()| true),
    }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Removes a job; one that can't be removed is skipped.
fn give_up(file: &Path, left: &mut SkippedJobs, log: &mut impl FnMut(&str)) {
    if let Err(error) = fsx::remove(file) {
        log(&format!("it stays where it is: {error}"));
        left.0.insert(file.to_owned());
    }
}

/// Splits a file name into the job's name and its number of attempts.
pub(super) fn parse_job_file_name(file: &Path) -> Option<(&str, u32)> {
    let (name, tries) = file.file_name()?.to_str()?.strip_suffix(".json")?.rsplit_once('.')?;
    Some((name, tries.parse().ok()?))
}
