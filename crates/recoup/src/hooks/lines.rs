//! The lines of a file from its end to its beginning, in a bounded buffer: a block is
//! read at a time, and a line that does not fit is passed over without being kept.

use std::io;

use recoup_core::base::fsx::Regular;

/// So much is read at once.
pub const BLOCK: usize = 64 << 10;

/// Longer lines are passed over. Whole prompts and pictures are; what was said and done
/// is not.
pub const MOST_LINE: usize = 1 << 20;

/// The buffer is never larger than this.
pub const MOST_BUFFER: usize = MOST_LINE + BLOCK;

/// What can be read at any place.
pub trait Source {
    /// Fills `room` with what stands at `at`; less where it ends.
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize>;
}

impl Source for Regular {
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        Self::read_at(self, room, at)
    }
}

impl Source for [u8] {
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or(&[]);
        let read = rest.len().min(room.len());
        room[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

/// A line that is complete, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins.
    pub at: u64,
    /// What it says.
    pub text: &'a [u8],
}

/// What becomes of the piece that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// It may still grow: whoever writes the file has not ended the line.
    Unfinished,
    /// It is a line.
    Kept,
    /// It is too long.
    PassedOver,
}

/// Gives the complete lines between two places, the last first.
#[derive(Debug)]
pub struct Lines<'a, S: Source + ?Sized> {
    source: &'a S,
    floor: u64,
    /// What stands behind this was read; the buffer begins here.
    from: u64,
    buffer: Vec<u8>,
    /// The end of the buffer that has no line end in it.
    searched: usize,
    /// The line that was given out last begins here in the buffer.
    given: Option<usize>,
    piece: Piece,
    whole_until: Option<u64>,
    room: u64,
}

impl<'a, S: Source + ?Sized> Lines<'a, S> {
    /// The lines from `floor`, where one begins, to `end`; `most` bytes are read.
    pub fn between(source: &'a S, floor: u64, end: u64, most: u64) -> Self {
        Self {
            source,
            floor: floor.min(end),
            from: end,
            buffer: Vec::new(),
            searched: 0,
            given: None,
            piece: Piece::Unfinished,
            whole_until: None,
            room: most,
        }
    }

    /// Where the last complete line ends. Known once a line was asked for.
    pub fn whole_until(&self) -> u64 {
        self.whole_until.unwrap_or(self.floor)
    }

    /// Whether everything down to the floor was given out.
    pub fn reached_floor(&self) -> bool {
        self.from == self.floor && self.buffer.is_empty()
    }

    /// How much memory it holds.
    pub fn buffered(&self) -> usize {
        self.buffer.capacity()
    }

    /// The line before the one that was given out last; none at the floor, or when
    /// enough was read.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        if let Some(start) = self.given.take() {
            self.end_piece(start);
        }
        loop {
            let unsearched = self.buffer.len() - self.searched;
            if let Some(end) = memchr::memrchr(b'\n', &self.buffer[..unsearched]) {
                if self.found(end + 1) {
                    return Ok(self.given());
                }
            } else if self.from == self.floor {
                let is_line = self.piece == Piece::Kept && !self.buffer.is_empty();
                if is_line {
                    self.given = Some(0);
                    return Ok(self.given());
                }
                self.buffer.clear();
                self.searched = 0;
                return Ok(None);
            } else if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    /// A piece begins at `start`, behind a line end. Whether it is a line.
    fn found(&mut self, start: usize) -> bool {
        match self.piece {
            Piece::Kept => {
                self.given = Some(start);
                return true;
            }
            Piece::Unfinished => self.whole_until = Some(self.from + start as u64),
            Piece::PassedOver => {}
        }
        self.end_piece(start);
        false
    }

    /// Drops the piece that begins at `start`, and the line end before it.
    fn end_piece(&mut self, start: usize) {
        self.buffer.truncate(start.saturating_sub(1));
        self.searched = 0;
        self.piece = Piece::Kept;
    }

    fn given(&self) -> Option<Line<'_>> {
        let start = self.given?;
        Some(Line { at: self.from + start as u64, text: &self.buffer[start..] })
    }

    /// Puts the block before it in front of the buffer. Whether there was room to.
    fn read_more(&mut self) -> io::Result<bool> {
        let len = usize::try_from(self.from - self.floor).unwrap_or(BLOCK).min(BLOCK);
        let Some(room) = self.room.checked_sub(len as u64) else { return Ok(false) };
        self.room = room;
        // All that is buffered has no line end in it, or it would have been found.
        if self.piece == Piece::Kept && self.buffer.len() > MOST_LINE {
            self.piece = Piece::PassedOver;
        }
        if self.piece != Piece::Kept {
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
                "it became shorter meanwhile",
            ));
        }
        Ok(true)
    }
}
