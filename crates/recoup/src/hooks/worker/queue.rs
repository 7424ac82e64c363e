//! Work that a hook leaves for later: one file for each job, gone when the job is done.
//! Whoever dies in between leaves its file for the next.
//!
//! ```text
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.TRIES.json
//! ~/.recoup/queue/PROJECT/lock                    held by the one who works
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

use super::job::{Job, Unread};

/// A job that ended its worker so often is given up.
pub(super) const TRIES: u32 = 3;
/// More than these wait for nobody: something is wrong with the worker.
const MOST: usize = 200;
/// No job is larger.
pub(super) const LARGEST: u64 = 256 * 1024;

/// The jobs of one project.
#[derive(Debug)]
pub struct Queue {
    dir: PathBuf,
}

/// A job that is being done.
#[derive(Debug)]
pub struct Taken {
    file: PathBuf,
    /// What is to be done.
    pub job: Job,
}

/// Jobs that one worker passes over, and leaves to another.
#[derive(Debug, Default)]
pub struct Left(BTreeSet<PathBuf>);

impl Queue {
    /// The queue of a project in our home.
    pub fn of(home: &Path, project: &ProjectId) -> Self {
        Self { dir: home.join("queue").join(project.to_string()) }
    }

    /// The queue in that directory.
    pub(super) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Leaves a job.
    pub fn put(&self, job: &Job, clock: &dyn Clock) -> Result<()> {
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
        // A client waits for us, and the disk may take its time.
        fsx::write_whole(&self.dir.join(format!("{}.0.json", ids::fresh(clock))), &json)
    }

    /// Takes the oldest job that is not in `left`. One that is no job, or that ended its worker
    /// too often, is given up; one that can't be read now, or that a newer version has left,
    /// joins `left`. Either is named to `log`.
    pub fn take(&self, left: &mut Left, mut log: impl FnMut(&str)) -> Result<Option<Taken>> {
        for file in self.waiting()? {
            let Some((name, tries)) = parts(&file).filter(|_| !left.0.contains(&file)) else {
                continue;
            };
            if tries >= TRIES {
                log(&format!("job {name} was given up after {tries} tries"));
                give_up(&file, left, &mut log);
                continue;
            }
            match Job::read(&file) {
                Ok(Some(job)) => {
                    let begun = self.dir.join(format!("{name}.{}.json", tries + 1));
                    if rename_if_there(&file, &begun)? {
                        return Ok(Some(Taken { file: begun, job }));
                    }
                }
                Ok(None) => {}
                Err(Unread::NoJob(why)) => {
                    log(&format!("job {name} can't be read: {why}"));
                    give_up(&file, left, &mut log);
                }
                Err(Unread::Now(why)) => {
                    log(&format!("job {name} is left for another worker: {why}"));
                    left.0.insert(file);
                }
            }
        }
        Ok(None)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> Result<bool> {
        self.has_only(&Left::default())
    }

    /// Whether nothing waits but these.
    pub(super) fn has_only(&self, left: &Left) -> Result<bool> {
        Ok(self.waiting()?.iter().all(|file| left.0.contains(file)))
    }

    /// The right to work, which one has at a time. The system takes it back when its
    /// owner dies.
    pub fn lock(&self) -> Result<Option<FileLock>> {
        fsx::ensure_private_dir(&self.dir)?;
        FileLock::try_acquire(&self.lock_file())
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// The files of jobs, the oldest first.
    pub(super) fn waiting(&self) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.doing(|| format!("looking into {}", self.dir.display()))?,
        };
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| parts(file).is_some())
            .collect();
        files.sort_unstable();
        Ok(files)
    }
}

impl Taken {
    /// It was begun, and could not be done: as if it had not been.
    pub fn leave(self) -> Result<()> {
        let Some((name, _)) = parts(&self.file) else { return Ok(()) };
        let untried = self.file.with_file_name(format!("{name}.0.json"));
        rename_if_there(&self.file, &untried).map(drop)
    }

    /// It is done, and gone.
    pub fn done(self) -> Result<()> {
        fsx::remove(&self.file).map(drop)
    }
}

/// False where it is not there: it was forgotten meanwhile.
fn rename_if_there(from: &Path, to: &Path) -> Result<bool> {
    match fsx::rename_unsynced(from, to) {
        Err(_) if is_gone(from) => Ok(false),
        renamed => renamed.map(|()| true),
    }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// What can't even be removed is in nobody's way.
fn give_up(file: &Path, left: &mut Left, log: &mut impl FnMut(&str)) {
    if let Err(error) = fsx::remove(file) {
        log(&format!("it stays where it is: {error}"));
        left.0.insert(file.to_owned());
    }
}

/// The name of a job, and how often it was begun.
pub(super) fn parts(file: &Path) -> Option<(&str, u32)> {
    let (name, tries) = file.file_name()?.to_str()?.strip_suffix(".json")?.rsplit_once('.')?;
    Some((name, tries.parse().ok()?))
}
