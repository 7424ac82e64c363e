//! Reads a client's transcript from its end: the last entries, or those since a mark.
//!
//! Time and memory are bounded, whatever the file's size. Broken, unknown and oversized lines are
//! skipped; a line that is still being written is left for the next time. Only regular files are
//! read: links, pipes and devices are refused.

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

/// Bytes read at most, from the end of the file.
const MOST_READ: u64 = 64 << 20;

/// Entries and bytes that are read again in front of the new ones, as their context.
const KNOWN: usize = 100;
const KNOWN_READ: u64 = 1 << 20;

/// Parses one line of a client's transcript into entries.
pub fn entries(client: Client, line: &[u8]) -> Vec<Entry> {
    match client {
        Client::ClaudeCode => claude_code::transcript::entries(line),
        Client::Codex => codex::transcript::entries(line),
        Client::Pi => pi::transcript::entries(line),
    }
}

/// An open transcript.
#[derive(Debug)]
pub struct Transcript {
    file: Regular,
    path: PathBuf,
    client: Client,
}

/// Entries in order, and how far the file was read.
#[derive(Debug)]
pub struct Excerpt {
    /// Entries, oldest first.
    pub entries: Vec<Entry>,
    /// Start of the next read.
    pub mark: Mark,
    /// True if neither the entry limit nor the read limit left anything out.
    pub complete: bool,
    /// True if the mark did not fit the file, so that it was read as a new one.
    pub anew: bool,
    /// Number of entries, from the first, that were read before.
    pub known: usize,
}

impl Transcript {
    /// Opens the transcript at `path`; none if the client has not written one yet.
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

    /// Reads the last `count` entries.
    pub fn last(&self, count: usize) -> Result<Excerpt> {
        self.read(0, count).doing(|| self.doing())
    }

    /// Reads the new entries since `mark`, the last `most` of them.
    pub fn since(&self, mark: &Mark, most: usize) -> Result<Excerpt> {
        let excerpt = || {
            let holds = mark.holds(&self.file)?;
            let excerpt = self.read(if holds { mark.offset() } else { 0 }, most)?;
            Ok(Excerpt { anew: !holds, ..excerpt })
        };
        excerpt().doing(|| self.doing())
    }

    /// Reads the new entries since `mark`, preceded by some that are known: they hold the calls
    /// whose outcomes are new.
    pub fn onward(&self, mark: &Mark, most: usize) -> Result<Excerpt> {
        let mut new = self.since(mark, most)?;
        // Known entries help only if the new ones follow them directly.
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
