//! Reads a client's transcript from its end: the last entries, or those since a mark.
//!
//! Time and memory are bounded, whatever the file's size. Broken, unknown and oversized lines are
//! skipped; a line that is still being written is left for the next time. Only regular files are
//! read: links, pipes and devices are refused.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLookup, RegularFile};
use recoup_core::error::IoContext as _;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::TranscriptEntry;
use recoup_core::{Error, ErrorKind, Result};

use super::parse_entries;
use super::reverse_lines::ReverseLines;

/// Bytes read at most, from the end of the file.
const MAX_READ_BYTES: u64 = 64 << 20;

/// Entries and bytes that are read again in front of the new ones, as their context.
const CONTEXT_ENTRIES: usize = 100;
const CONTEXT_BYTES: u64 = 1 << 20;

/// Number of bytes before the mark that are compared.
const COMPARED_BYTES: usize = 256;

/// An open transcript.
#[derive(Debug)]
pub struct TranscriptFile {
    file: RegularFile,
    path: PathBuf,
    client: HookClient,
}

/// Entries in order, and how far the file was read.
#[derive(Debug)]
pub struct TranscriptExcerpt {
    /// Entries, oldest first.
    pub entries: Vec<TranscriptEntry>,
    /// Start of the next read.
    pub mark: TranscriptMark,
    /// True if neither the entry limit nor the read limit left anything out.
    pub complete: bool,
    /// True if the mark did not fit the file, so that it was read as a new one.
    pub anew: bool,
    /// Number of entries, from the first, that were read before.
    pub known: usize,
}

impl TranscriptFile {
    /// Opens the transcript at `path`; none if the client has not written one yet.
    pub fn open(path: &Path, client: HookClient) -> Result<Option<Self>> {
        let refused = |why: &str| {
            let message = format!("can't read {} as a transcript: it is {why}", path.display());
            Err(Error::new(ErrorKind::Invalid, message))
        };
        match fsx::open_regular(path)? {
            FileLookup::Nothing => Ok(None),
            FileLookup::Other => refused("a symbolic link or a special file, not a regular file"),
            FileLookup::Denied => refused("not readable by this user"),
            FileLookup::Regular(file) => Ok(Some(Self { file, path: path.to_owned(), client })),
        }
    }

    /// Reads the last `count` entries.
    pub fn last(&self, count: usize) -> Result<TranscriptExcerpt> {
        self.read(0, count).with_context(|| self.doing())
    }

    /// Reads the new entries since `mark`, the last `most` of them.
    pub fn entries_since(&self, mark: &TranscriptMark, most: usize) -> Result<TranscriptExcerpt> {
        let excerpt = || {
            // The marked file, with the same bytes before the mark.
            let holds = self.file.identity() == (mark.device, mark.inode)
                && self.file.size() >= mark.offset
                && digest_before(&self.file, mark.offset)? == mark.print;
            let excerpt = self.read(if holds { mark.offset } else { 0 }, most)?;
            Ok(TranscriptExcerpt { anew: !holds, ..excerpt })
        };
        excerpt().with_context(|| self.doing())
    }

    /// Reads the new entries since `mark`, preceded by some that are known: they hold the calls
    /// whose outcomes are new.
    pub fn entries_since_with_context(
        &self,
        mark: &TranscriptMark,
        most: usize,
    ) -> Result<TranscriptExcerpt> {
        let mut new = self.entries_since(mark, most)?;
        // Known entries help only if the new ones follow them directly.
        if new.anew || !new.complete || new.entries.is_empty() {
            return Ok(new);
        }
        let mut entries = self.before(mark.offset()).with_context(|| self.doing())?;
        new.known = entries.len();
        entries.append(&mut new.entries);
        Ok(TranscriptExcerpt { entries, ..new })
    }

    fn before(&self, end: u64) -> io::Result<Vec<TranscriptEntry>> {
        let mut lines = ReverseLines::between(&self.file, 0, end, CONTEXT_BYTES);
        let mut entries = Vec::new();
        while entries.len() < CONTEXT_ENTRIES
            && let Some(line) = lines.next_line()?
        {
            entries.extend(parse_entries(self.client, line.text).into_iter().rev());
        }
        entries.reverse();
        Ok(entries)
    }

    fn read(&self, floor: u64, most: usize) -> io::Result<TranscriptExcerpt> {
        let mut lines = ReverseLines::between(&self.file, floor, self.file.size(), MAX_READ_BYTES);
        let (mut entries, mut complete) = (Vec::new(), true);
        while let Some(line) = lines.next_line()? {
            for entry in parse_entries(self.client, line.text).into_iter().rev() {
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
        let mark = TranscriptMark::at(&self.file, lines.complete_until())?;
        Ok(TranscriptExcerpt { entries, mark, complete, anew: false, known: 0 })
    }

    fn doing(&self) -> String {
        format!("reading the transcript {}", self.path.display())
    }
}

/// Position up to which a file was read. Detects that the file was replaced, truncated or
/// rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptMark {
    device: u64,
    inode: u64,
    offset: u64,
    /// Digest of the bytes just before it.
    print: u64,
}

impl TranscriptMark {
    /// Makes a mark at `offset` in a file.
    pub fn at(file: &RegularFile, offset: u64) -> io::Result<Self> {
        let (device, inode) = file.identity();
        Ok(Self { device, inode, offset, print: digest_before(file, offset)? })
    }

    /// Number of bytes that were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

fn digest_before(file: &RegularFile, offset: u64) -> io::Result<u64> {
    let len = usize::try_from(offset).unwrap_or(COMPARED_BYTES).min(COMPARED_BYTES);
    let mut known = vec![0; len];
    let read = file.read_at(&mut known, offset - len as u64)?;
    let digest = Sha256Digest::of(&known[..read]);
    Ok(digest.as_bytes()[..8].iter().fold(0, |print, byte| print << 8 | u64::from(*byte)))
}

/// Stored form: `DEVICE:INODE:OFFSET:PRINT`.
impl fmt::Display for TranscriptMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, offset, print } = self;
        write!(f, "{device:x}:{inode:x}:{offset}:{print:016x}")
    }
}

impl FromStr for TranscriptMark {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::new(ErrorKind::Invalid, format!("invalid transcript mark: {text:?}"));
        let parts: Vec<&str> = text.split(':').collect();
        let [device, inode, offset, print] = parts[..] else { return Err(wrong()) };
        let hex = |part: &str| u64::from_str_radix(part, 16).map_err(|_| wrong());
        Ok(Self {
            device: hex(device)?,
            inode: hex(inode)?,
            offset: offset.parse().map_err(|_| wrong())?,
            print: hex(print)?,
        })
    }
}
