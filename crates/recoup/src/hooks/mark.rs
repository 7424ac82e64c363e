//! Marks how far a transcript was read. A mark detects that its file was replaced, truncated or
//! rewritten.

use std::fmt;
use std::io;
use std::str::FromStr;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::RegularFile;
use recoup_core::{Error, ErrorKind};

/// Number of bytes before the mark that are compared.
const COMPARED_BYTES: usize = 256;

/// Position up to which a file was read.
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

    /// True if this is the marked file, with the same bytes before the mark.
    pub fn matches_file(&self, file: &RegularFile) -> io::Result<bool> {
        let same = file.identity() == (self.device, self.inode) && file.size() >= self.offset;
        Ok(same && digest_before(file, self.offset)? == self.print)
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
        let wrong = || Error::new(ErrorKind::Invalid, format!("not a transcript's mark: {text:?}"));
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
