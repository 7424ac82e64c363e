//! What waits for a worker is forgotten by its words, in all projects.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem::Finder;
use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx::{self, FileLock};

use super::queue::{LARGEST, Queue, parts};

/// So long we wait for workers who have the words in their hands.
const WAIT: Duration = Duration::from_secs(5);

/// Removes every job that holds one of these texts. Says what may still have one: what can't be
/// read or removed, and the queues of workers who did not come to an end.
pub(crate) fn forget(home: &Path, texts: &[&str]) -> Vec<PathBuf> {
    let dir = home.join("queue");
    let texts: Vec<String> = texts.iter().map(|text| in_json(text)).collect();
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

/// A text as it stands in a job.
fn in_json(text: &str) -> String {
    let text = serde_json::to_string(text).expect("text always serializes");
    text[1..text.len() - 1].to_owned()
}

fn forget_in(dir: &Path, words: &[Finder<'_>], deadline: Deadline) -> Vec<PathBuf> {
    let queue = Queue::at(dir);
    let Ok(seen) = Seen::removing(&queue, words, Which::Untouched) else {
        return vec![dir.to_owned()];
    };
    if !seen.in_hand {
        return seen.unread;
    }
    // Whoever has the lock may be about to write the words down; who died has none.
    let lock = FileLock::acquire(&queue.lock_file(), deadline);
    let seen = Seen::removing(&queue, words, Which::All);
    let mut unreached = seen.map_or_else(|_| vec![dir.to_owned()], |seen| seen.unread);
    if lock.is_err() {
        unreached.push(dir.to_owned());
    }
    unreached
}

/// Which jobs are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Those that nobody has begun.
    Untouched,
    All,
}

/// What was seen in a queue.
#[derive(Debug, Default)]
struct Seen {
    /// Somebody may have one with the words in hand.
    in_hand: bool,
    /// What could not be read, or not be removed.
    unread: Vec<PathBuf>,
}

impl Seen {
    fn removing(queue: &Queue, words: &[Finder<'_>], which: Which) -> Result<Self> {
        let mut seen = Self::default();
        for file in queue.waiting()?.into_iter().chain(queue.kept()?) {
            let begun = parts(&file).is_some_and(|(_, tries)| tries > 0);
            match fsx::read_regular(&file, LARGEST) {
                Err(_) => seen.unread.push(file),
                // It was begun, or done, since we looked.
                Ok(None) => seen.in_hand = true,
                Ok(Some(json)) if !words.iter().any(|it| it.find(&json).is_some()) => {}
                Ok(Some(_)) if begun && which == Which::Untouched => seen.in_hand = true,
                Ok(Some(_)) => match fsx::remove(&file) {
                    Ok(removed) => seen.in_hand |= !removed,
                    Err(_) => seen.unread.push(file),
                },
            }
        }
        Ok(seen)
    }
}
