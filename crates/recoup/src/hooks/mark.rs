//! How far a transcript was read, so that the next time only what is new is. The mark
//! belongs to that file as it was: one that was replaced, cut or written anew is noticed.

use std::fmt;
use std::io;
use std::str::FromStr;

use recoup_core::base::digest::Digest;
use recoup_core::base::fsx::Regular;
use recoup_core::{Error, ErrorKind};

/// So many bytes before the mark are recognised.
const KNOWN: usize = 256;

/// A place in a file up to which it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    device: u64,
    inode: u64,
    offset: u64,
    /// What stood just before it.
    print: u64,
}

impl Mark {
    /// The place `offset` in that file.
    pub fn at(file: &Regular, offset: u64) -> io::Result<Self> {
        let (device, inode) = file.identity();
        Ok(Self { device, inode, offset, print: print_before(file, offset)? })
    }

    /// How many bytes were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether that is the file it was made for, with the same text before it.
    pub fn holds(&self, file: &Regular) -> io::Result<bool> {
        let same = file.identity() == (self.device, self.inode) && file.size() >= self.offset;
        Ok(same && print_before(file, self.offset)? == self.print)
    }
}

fn print_before(file: &Regular, offset: u64) -> io::Result<u64> {
    let len = usize::try_from(offset).unwrap_or(KNOWN).min(KNOWN);
    let mut known = vec![0; len];
    let read = file.read_at(&mut known, offset - len as u64)?;
    let digest = Digest::of(&known[..read]);
    Ok(digest.as_bytes()[..8].iter().fold(0, |print, byte| print << 8 | u64::from(*byte)))
}

/// One line of text, to be stored: `DEVICE:INODE:OFFSET:PRINT`.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, offset, print } = self;
        write!(f, "{device:x}:{inode:x}:{offset}:{print:016x}")
    }
}

impl FromStr for Mark {
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
