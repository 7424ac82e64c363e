//! Regular files and nothing else: a link in their place is not followed, and a
//! pipe is not waited for.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{read_buffer, shared_dir};
use crate::base::clock::Timestamp;
use crate::error::{IoContext as _, Result};

/// Result of opening a path that should be a regular file.
#[derive(Debug)]
pub enum FileLookup {
    /// No file at all.
    Nothing,
    /// A directory, a link, a pipe or the like.
    Other,
    /// No permission to open it.
    Denied,
    /// A regular file.
    Regular(RegularFile),
}

/// A regular file that was opened for reading.
#[derive(Debug)]
pub struct RegularFile {
    file: File,
    metadata: Metadata,
}

/// Identity of a file, whatever its name and contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// From the metadata of the file.
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// Identity of one version of a file: the file, its length and time of modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersionStamp {
    file: FileIdentity,
    len: u64,
    written: (i64, i64),
}

impl FileVersionStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            file: FileIdentity::of(metadata),
            len: metadata.len(),
            written: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Opens `path` for reading, if it is a regular file.
pub fn open_regular(path: &Path) -> Result<FileLookup> {
    open_with_access(path, OFlags::RDONLY)
}

fn open_with_access(path: &Path, access: OFlags) -> Result<FileLookup> {
    let flags = access | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let opening = || format!("cannot open {}", path.display());
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(FileLookup::Nothing),
        // A link, a socket, a directory that was to be written.
        Err(Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::ISDIR) => {
            return Ok(FileLookup::Other);
        }
        Err(Errno::ACCESS | Errno::PERM) => return Ok(FileLookup::Denied),
        Err(error) => return Err(io::Error::from(error)).with_context(opening),
    };
    let metadata = file.metadata().with_context(opening)?;
    Ok(if metadata.is_file() {
        FileLookup::Regular(RegularFile { file, metadata })
    } else {
        FileLookup::Other
    })
}

impl RegularFile {
    /// Length when it was opened.
    pub fn size(&self) -> u64 {
        self.metadata.len()
    }

    /// Time of the last modification.
    pub(crate) fn modified(&self) -> Timestamp {
        let (seconds, nanos) = (self.metadata.mtime(), self.metadata.mtime_nsec());
        Timestamp::from_millis(seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
    }

    /// Identity of this version of the file.
    pub fn stamp(&self) -> FileVersionStamp {
        FileVersionStamp::of(&self.metadata)
    }

    /// Device and inode.
    pub fn identity(&self) -> (u64, u64) {
        (self.metadata.dev(), self.metadata.ino())
    }

    /// Fills `room` from offset `at`; returns less at the end of the file.
    pub fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < room.len() {
            match self.file.read_at(&mut room[read..], at + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// Reads the file, up to its length when it was opened.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut content = read_buffer(self.size());
        (&self.file).take(self.size()).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Reads at most `most` bytes from the start.
    pub fn read_start(&self, most: usize) -> io::Result<Vec<u8>> {
        self.read_range(most, |_| 0)
    }

    /// Reads at most `most` bytes from the end.
    pub fn read_end(&self, most: usize) -> io::Result<Vec<u8>> {
        self.read_range(most, |len| self.size() - len)
    }

    fn read_range(&self, most: usize, at: impl FnOnce(u64) -> u64) -> io::Result<Vec<u8>> {
        let most = most.min(usize::try_from(self.size()).unwrap_or(most));
        let mut range = vec![0; most];
        let read = self.file.read_at(&mut range, at(most as u64))?;
        range.truncate(read);
        Ok(range)
    }
}

/// Changes the last `len` bytes of a regular file in place, if `change` returns others for them.
/// Not atomic: a reader may see some of the old bytes and some of the new ones.
///
/// A file with several names is replaced instead, unless another has taken its place by then: its
/// other names are copies (`cp -al`) that stay as they are.
pub fn rewrite_tail(
    path: &Path,
    len: usize,
    change: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> Result<()> {
    let FileLookup::Regular(regular) = open_with_access(path, OFlags::RDWR)? else { return Ok(()) };
    let changing = || format!("cannot update the end of {}", path.display());
    let end = regular.read_end(len).with_context(changing)?;
    let Some(new) = change(&end).filter(|new| new.len() == end.len()) else { return Ok(()) };
    if regular.metadata.nlink() > 1 {
        let mut all = regular.read().with_context(changing)?;
        all.truncate(all.len().saturating_sub(new.len()));
        all.extend_from_slice(&new);
        let replaced = shared_dir::replace_if_unchanged(path, &all, regular.stamp());
        return replaced.map(drop).with_context(changing);
    }
    regular.file.write_all_at(&new, regular.size() - new.len() as u64).with_context(changing)
}
