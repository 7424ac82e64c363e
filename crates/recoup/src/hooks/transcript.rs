//! A client's transcript, read from its end: the last entries, or those since a mark.
//!
//! The time that takes and the memory are bounded, whatever the file's size. A line that
//! is broken, unknown or too long is passed over; one that is still being written is left
//! for the next time. Only regular files are read: a link, a pipe or a device is refused.

use std::io;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx::{self, Found, Regular};
use recoup_core::error::IoContext as _;
use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::Entry;
use recoup_core::{Error, ErrorKind, Result};

use super::lines::Lines;
use super::mark::Mark;
use super::{claude_code, codex, pi};

/// So much of a file is looked at, from its end.
const MOST_READ: u64 = 64 << 20;

/// So many entries, and so much of a file, are read again for what the new ones go on with.
const KNOWN: usize = 100;
const KNOWN_READ: u64 = 1 << 20;

/// What one line of a client's transcript says, in its order.
pub fn entries(client: Client, line: &[u8]) -> Vec<Entry> {
    match client {
        Client::ClaudeCode => claude_code::transcript::entries(line),
        Client::Codex => codex::transcript::entries(line),
        Client::Pi => pi::transcript::entries(line),
    }
}

/// A transcript that was opened.
#[derive(Debug)]
pub struct Transcript {
    file: Regular,
    path: PathBuf,
    client: Client,
}

/// Entries in their order, and how far the file was read.
#[derive(Debug)]
pub struct Excerpt {
    /// What was said and done.
    pub entries: Vec<Entry>,
    /// From here on it is new the next time.
    pub mark: Mark,
    /// Whether nothing was left out: not more entries than were asked for, and not more
    /// text than is looked at.
    pub complete: bool,
    /// Whether the mark did not fit the file, so that it was read as a new one.
    pub anew: bool,
    /// So many of the entries, the first ones, were read before.
    pub known: usize,
}

impl Transcript {
    /// The transcript at `path`; none while the client has not written one.
    pub fn open(path: &Path, client: Client) -> Result<Option<Self>> {
        let refused = |why: &str| {
            let message = format!("{} is not read as a transcript: it is {why}", path.display());
            Err(Error::new(ErrorKind::Invalid, message))
        };
        match fsx::look_at(path)? {
            Found::Nothing => Ok(None),
            Found::Other => refused("a link or a special file, not a regular one"),
            Found::Denied => refused("not readable for this user"),
            Found::Regular(file) => Ok(Some(Self { file, path: path.to_owned(), client })),
        }
    }

    /// The last `count` entries.
    pub fn last(&self, count: usize) -> Result<Excerpt> {
        self.read(0, count).doing(|| self.doing())
    }

    /// What is new since `mark`, the last `most` entries of it.
    pub fn since(&self, mark: &Mark, most: usize) -> Result<Excerpt> {
        let excerpt = || {
            let holds = mark.holds(&self.file)?;
            let excerpt = self.read(if holds { mark.offset() } else { 0 }, most)?;
            Ok(Excerpt { anew: !holds, ..excerpt })
        };
        excerpt().doing(|| self.doing())
    }

    /// The same, and before it some of what was read the last time: a call stands there
    /// whose outcome is new.
    pub fn onward(&self, mark: &Mark, most: usize) -> Result<Excerpt> {
        let mut new = self.since(mark, most)?;
        // What does not join on to the new is of no use.
        if new.anew || !new.complete || new.entries.is_empty() {
            return Ok(new);
        }
        let mut entries = self.before(mark.offset()).doing(|| self.doing())?;
        new.known = entries.len();
        entries.append(&mut new.entries);
        Ok(Excerpt { entries, ..new })
    }

    fn before(&self, end: u64) -> io::Result<Vec<Entry>> {
        let mut lines = Lines::between(&self.file, 0, end, KNOWN_READ);
        let mut entries = Vec::new();
        while entries.len() < KNOWN
            && let Some(line) = lines.next_line()?
        {
            entries.extend(self::entries(self.client, line.text).into_iter().rev());
        }
        entries.reverse();
        Ok(entries)
    }

    fn read(&self, floor: u64, most: usize) -> io::Result<Excerpt> {
        let mut lines = Lines::between(&self.file, floor, self.file.size(), MOST_READ);
        let (mut entries, mut complete) = (Vec::new(), true);
        while let Some(line) = lines.next_line()? {
            for entry in self::entries(self.client, line.text).into_iter().rev() {
                complete = entries.len() < most;
                if complete {
                    entries.push(entry);
                }
            }
            if !complete {
                break;
            }
        }
        entries.reverse();
        let complete = complete && lines.reached_floor();
        let mark = Mark::at(&self.file, lines.whole_until())?;
        Ok(Excerpt { entries, mark, complete, anew: false, known: 0 })
    }

    fn doing(&self) -> String {
        format!("reading the transcript {}", self.path.display())
    }
}
