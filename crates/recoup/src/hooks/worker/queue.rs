//! Work that a hook leaves for later: one file for each job, gone when the job is done.
//! Whoever dies in between leaves its file for the next.
//!
//! ```text
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.TRIES.json
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.kept        a statement that could not be stored
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

use super::job::{Job, JobKind, Unread};

/// A job that ended its worker so often is given up.
pub(super) const TRIES: u32 = 3;
/// The name of a statement that could not be stored ends with this. It is the user's word: it
/// stays until it is stored, forgotten or purged.
const KEPT: &str = "kept";
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
        let file = self.dir.join(format!("{}.0.json", ids::fresh(clock)));
        match job.what {
            // A person was told that it will be remembered.
            JobKind::Remember { .. } => fsx::write_atomic(&file, &json),
            // A client waits for us, and the disk may take its time.
            JobKind::Sweep { .. } | JobKind::Sync | JobKind::Judge { .. } => {
                fsx::write_whole(&file, &json)
            }
        }
    }

    /// Sets aside the statements that could not be stored after three tries, and returns them.
    pub(super) fn keep_unstored(&self, mut log: impl FnMut(&str)) -> Result<Vec<Job>> {
        let mut kept = Vec::new();
        for file in self.waiting()? {
            let Some((name, tries)) = parts(&file).filter(|(_, tries)| *tries >= TRIES) else {
                continue;
            };
            let Ok(Some(job)) = Job::read(&file) else { continue };
            let place = self.dir.join(format!("{name}.{KEPT}"));
            if job.is_statement() && rename_if_there(&file, &place)? {
                let place = place.display();
                log(&format!("a statement was not stored after {tries} tries; it is in {place}"));
                kept.push(job);
            }
        }
        Ok(kept)
    }

    /// Lets the next worker try again to store what was set aside.
    pub(crate) fn retry_kept(&self) -> Result<()> {
        for file in self.kept()? {
            rename_if_there(&file, &file.with_extension("0.json"))?;
        }
        Ok(())
    }

    /// Takes the oldest job that is not in `left`. One that is no job, or that ended its worker
    /// too often, is given up; one that can't be read now, or that a newer version has left,
    /// joins `left`. Either is named to `log`.
    pub fn take(&self, left: &mut Left, mut log: impl FnMut(&str)) -> Result<Option<Taken>> {
        for file in self.waiting()? {
            let Some((name, tries)) = parts(&file).filter(|_| !left.0.contains(&file)) else {
                continue;
            };
            if tries >= TRIES
                && Job::read(&file).is_ok_and(|job| job.is_some_and(|job| job.is_statement()))
            {
                left.0.insert(file);
                continue;
            }
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
        self.files(|file| parts(file).is_some())
    }

    /// The files of statements that could not be stored, the oldest first.
    pub(super) fn kept(&self) -> Result<Vec<PathBuf>> {
        self.files(|file| file.extension().is_some_and(|it| it == KEPT))
    }

    fn files(&self, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.doing(|| format!("looking into {}", self.dir.display()))?,
        };
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| is_wanted(file))
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

    /// It was begun and failed: another worker tries again, a few times at most.
    pub(super) fn fail(self, left: &mut Left) {
        left.0.insert(self.file);
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
