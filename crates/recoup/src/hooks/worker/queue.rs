//! Work that a hook leaves for later: one file for each job, gone when the job is done.
//! Whoever dies in between leaves its file for the next.
//!
//! ```text
//! ~/.recoup/queue/PROJECT/TIME-RANDOM.TRIES.json
//! ~/.recoup/queue/PROJECT/lock                    held by the one who works
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::clock::Clock;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::ids;
use recoup_core::base::project::ProjectId;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use super::job::Job;

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
        // A client waits for us, and the disk may take its time.
        fsx::write_whole(&self.dir.join(format!("{}.0.json", ids::fresh(clock))), &json)
    }

    /// Takes the oldest job. One that can't be read, or that ended its worker too often,
    /// is given up and named to `lost`.
    pub fn take(&self, mut lost: impl FnMut(&str)) -> Result<Option<Taken>> {
        for file in self.waiting()? {
            let Some((name, tries)) = parts(&file) else { continue };
            if tries >= TRIES {
                lost(&format!("job {name} was given up after {tries} tries"));
                give_up(&file, &mut lost);
                continue;
            }
            let begun = self.dir.join(format!("{name}.{}.json", tries + 1));
            fsx::rename_unsynced(&file, &begun)?;
            let json = fsx::read_regular(&begun, LARGEST).ok().flatten().unwrap_or_default();
            if let Ok(job) = serde_json::from_slice(&json) {
                return Ok(Some(Taken { file: begun, job }));
            }
            lost(&format!("job {name} can't be read"));
            give_up(&begun, &mut lost);
        }
        Ok(None)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.waiting()?.is_empty())
    }

    /// The right to work, which one has at a time. The system takes it back when its
    /// owner dies.
    pub fn lock(&self) -> Result<Option<FileLock>> {
        fsx::ensure_private_dir(&self.dir)?;
        FileLock::try_acquire(&self.dir.join("lock"))
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
        fsx::rename_unsynced(&self.file, &self.file.with_file_name(format!("{name}.0.json")))
    }

    /// It is done, and gone.
    pub fn done(self) -> Result<()> {
        fsx::remove(&self.file).map(drop)
    }
}

/// What can't even be removed is in nobody's way.
fn give_up(file: &Path, lost: &mut impl FnMut(&str)) {
    if let Err(error) = fsx::remove(file) {
        lost(&format!("it stays where it is: {error}"));
    }
}

/// The name of a job, and how often it was begun.
pub(super) fn parts(file: &Path) -> Option<(&str, u32)> {
    let (name, tries) = file.file_name()?.to_str()?.strip_suffix(".json")?.rsplit_once('.')?;
    Some((name, tries.parse().ok()?))
}

/// Removes every job of every project that holds one of these texts; says how many.
pub fn forget(home: &Path, texts: &[&str]) -> Result<usize> {
    let Ok(projects) = fs::read_dir(home.join("queue")) else { return Ok(0) };
    let mut gone = 0;
    for project in projects.filter_map(|entry| Some(entry.ok()?.path())) {
        for file in Queue::at(&project).waiting().unwrap_or_default() {
            let json = fsx::read_regular(&file, LARGEST).ok().flatten().unwrap_or_default();
            let held = |text: &&str| {
                let text = serde_json::to_string(text).expect("text always serializes");
                let inner = &text.as_bytes()[1..text.len() - 1];
                !inner.is_empty() && json.windows(inner.len()).any(|window| window == inner)
            };
            if texts.iter().any(held) && fsx::remove(&file)? {
                gone += 1;
            }
        }
    }
    Ok(gone)
}
