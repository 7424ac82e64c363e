//! Reads the lines of a file backwards in a bounded buffer, one block at a time. A line that does
//! not fit is skipped.

use std::io;

use recoup_core::base::fsx::RegularFile;

/// Bytes read at once.
pub const BLOCK: usize = 64 << 10;

/// Longer lines are skipped. Whole requests and pictures are longer; messages and calls are not.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Upper limit of the buffer.
pub const MAX_BUFFER_BYTES: usize = MAX_LINE_BYTES + BLOCK;

/// Random access to bytes.
pub trait ReadAt {
    /// Fills `room` with the bytes at `at`; returns fewer at the end.
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize>;
}

impl ReadAt for RegularFile {
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        Self::read_at(self, room, at)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or(&[]);
        let read = rest.len().min(room.len());
        room[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

/// A complete line, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLine<'a> {
    /// Offset of the line in the file.
    pub at: u64,
    /// Bytes of the line.
    pub text: &'a [u8],
}

/// State of the piece that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceState {
    /// Not terminated yet: the client may still be writing it.
    Unfinished,
    /// A complete line.
    Kept,
    /// Too long to be buffered.
    PassedOver,
}

/// Iterates over the complete lines between two offsets, last first.
#[derive(Debug)]
pub struct ReverseLines<'a, S: ReadAt + ?Sized> {
    source: &'a S,
    floor: u64,
    /// Offset of the buffer's first byte; everything behind it was read.
    from: u64,
    buffer: Vec<u8>,
    /// Length of the buffer's tail that was searched and has no line end.
    searched: usize,
    /// Start of the last returned line within the buffer.
    given: Option<usize>,
    piece: PieceState,
    whole_until: Option<u64>,
    room: u64,
}

impl<'a, S: ReadAt + ?Sized> ReverseLines<'a, S> {
    /// Lines from `floor`, which must be the start of a line, to `end`; reads at most `most` bytes.
    pub fn between(source: &'a S, floor: u64, end: u64, most: u64) -> Self {
        Self {
            source,
            floor: floor.min(end),
            from: end,
            buffer: Vec::new(),
            searched: 0,
            given: None,
            piece: PieceState::Unfinished,
            whole_until: None,
            room: most,
        }
    }

    /// Offset of the end of the last complete line. Known after the first call of `next_line`.
    pub fn complete_until(&self) -> u64 {
        self.whole_until.unwrap_or(self.floor)
    }

    /// True if all lines down to the floor were returned.
    pub fn reached_floor(&self) -> bool {
        self.from == self.floor && self.buffer.is_empty()
    }

    /// Allocated size of the buffer.
    pub fn buffered(&self) -> usize {
        self.buffer.capacity()
    }

    /// Returns the line before the last returned one; none at the floor or when the read limit is
    /// reached.
    pub fn next_line(&mut self) -> io::Result<Option<FileLine<'_>>> {
        if let Some(start) = self.given.take() {
            self.end_piece(start);
        }
        loop {
            let unsearched = self.buffer.len() - self.searched;
            if let Some(end) = memchr::memrchr(b'\n', &self.buffer[..unsearched]) {
                let start = end + 1;
                match self.piece {
                    PieceState::Kept => {
                        self.given = Some(start);
                        return Ok(self.current_line());
                    }
                    PieceState::Unfinished => self.whole_until = Some(self.from + start as u64),
                    PieceState::PassedOver => {}
                }
                self.end_piece(start);
            } else if self.from == self.floor {
                let is_line = self.piece == PieceState::Kept && !self.buffer.is_empty();
                if is_line {
                    self.given = Some(0);
                    return Ok(self.current_line());
                }
                self.buffer.clear();
                self.searched = 0;
                return Ok(None);
            } else if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    /// Drops the piece at `start`, and the line end before it.
    fn end_piece(&mut self, start: usize) {
        self.buffer.truncate(start.saturating_sub(1));
        self.searched = 0;
        self.piece = PieceState::Kept;
    }

    fn current_line(&self) -> Option<FileLine<'_>> {
        let start = self.given?;
        Some(FileLine { at: self.from + start as u64, text: &self.buffer[start..] })
    }

    /// Reads the previous block into the front of the buffer. Returns false if the read limit is
    /// reached.
    fn read_more(&mut self) -> io::Result<bool> {
        let len = usize::try_from(self.from - self.floor).unwrap_or(BLOCK).min(BLOCK);
        let Some(room) = self.room.checked_sub(len as u64) else { return Ok(false) };
        self.room = room;
        // The buffer has no line end in it, or it would have been found.
        if self.piece == PieceState::Kept && self.buffer.len() > MAX_LINE_BYTES {
            self.piece = PieceState::PassedOver;
        }
        if self.piece != PieceState::Kept {
            self.buffer.clear();
        }
        let held = self.buffer.len();
        self.searched = held;
        self.buffer.reserve_exact(len);
        self.buffer.resize(held + len, 0);
        self.buffer.copy_within(..held, len);
        self.from -= len as u64;
        let read = self.source.read_at(&mut self.buffer[..len], self.from)?;
        if read < len {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file was truncated while it was read",
            ));
        }
        Ok(true)
    }
}
