//! Removes queued jobs that contain given texts, in all projects.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem::Finder;
use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx::{self, FileLock};

use super::queue::{JobQueue, LARGEST, parse_job_file_name};

/// How long to wait for workers that may be writing one of the texts.
const WAIT: Duration = Duration::from_secs(5);

/// Removes every job that contains one of the texts. Returns the paths that may still contain one:
/// files that can't be read or removed, and queues whose worker did not end in time.
pub(crate) fn forget(home: &Path, texts: &[&str]) -> Vec<PathBuf> {
    let dir = home.join("queue");
    let texts: Vec<String> = texts.iter().map(|text| json_escaped(text)).collect();
    let words: Vec<Finder<'_>> =
        texts.iter().filter(|it| !it.is_empty()).map(Finder::new).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let deadline = Deadline::after(WAIT);
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

/// Text as it is escaped in a job.
fn json_escaped(text: &str) -> String {
    let text = serde_json::to_string(text).expect("text always serializes");
    text[1..text.len() - 1].to_owned()
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
