//! Buffer of any size: small contents in memory, large ones in an unnamed temporary file.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;

use recoup_core::Result;
use recoup_core::entry::INLINE_MAX;
use recoup_core::error::IoContext as _;
use rustix::fs::{MemfdFlags, memfd_create};

/// Size limit in memory: as much as stores keep in one piece.
const IN_MEMORY: usize = INLINE_MAX;
/// Bytes read from a file at once.
const PIECE: usize = 1 << 20;

/// Buffered bytes.
#[derive(Debug)]
pub(super) struct ByteSpool {
    memory: Vec<u8>,
    file: Option<File>,
    len: u64,
    /// Size limit in memory.
    room: usize,
}

impl Default for ByteSpool {
    fn default() -> Self {
        Self { memory: Vec::new(), file: None, len: 0, room: IN_MEMORY }
    }
}

impl ByteSpool {
    /// Never uses a file, for when there is no room for one.
    pub(super) fn in_memory() -> Self {
        Self { room: usize::MAX, ..Self::default() }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.len += bytes.len() as u64;
        if self.file.is_none() && self.memory.len() + bytes.len() <= self.room {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(temp_file_with(&std::mem::take(&mut self.memory))?);
        }
        let file = self.file.as_mut().expect("it was just made");
        file.write_all(bytes).with_context(spooling)
    }

    /// Visits everything, in order.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.each_of(0..self.len, visit)
    }

    /// Visits a range, which must exist, in order.
    pub(super) fn each_of(
        &self,
        Range { start, end }: Range<u64>,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(file) = &self.file else {
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            return visit(&self.memory[place(start)..place(end)]);
        };
        let length = |at: u64| usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
        let (mut piece, mut at) = (vec![0; length(start)], start);
        while at < end {
            let piece = &mut piece[..length(at)];
            file.read_exact_at(piece, at).with_context(spooling)?;
            visit(piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Opens the contents as a read-only file at its start. Contents in memory stay in memory.
    pub(super) fn to_file(&self) -> Result<File> {
        let in_memory = || {
            let file = memfd_create("input", MemfdFlags::CLOEXEC).map_err(std::io::Error::from)?;
            let mut file = File::from(file);
            file.write_all(&self.memory)?;
            Ok(file)
        };
        let file = match &self.file {
            Some(file) => file.try_clone(),
            None => in_memory(),
        };
        let file = file.with_context(spooling)?;
        File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).or_else(|_| rewound(file))
    }
}

/// Fallback if the file can't be reopened.
fn rewound(mut file: File) -> Result<File> {
    file.seek(SeekFrom::Start(0)).with_context(spooling)?;
    Ok(file)
}

fn temp_file_with(bytes: &[u8]) -> Result<File> {
    let mut file = tempfile::tempfile().with_context(spooling)?;
    file.write_all(bytes).with_context(spooling)?;
    Ok(file)
}

fn spooling() -> String {
    "setting it aside in a temporary file".to_owned()
}
