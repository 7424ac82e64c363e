//! Records a command's output while it passes, up to a limit, and reads it back. Stored is one line
//! of JSON with its exit code and the order of its streams, then all of stdout, then all of stderr:
//!
//! ```text
//! {"v":1,"exit":0,"pieces":[12,5,3]}    12 bytes of stdout, 5 of stderr, 3 of stdout
//! ```
//! The streams are not interleaved: each stays valid text, even if a character arrived in two
//! halves with the other stream in between. If both went to one place, they came through one pipe
//! and are one stream: all of it is stdout, and `v` is 2.

use std::fmt;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use recoup_core::cache::FillRefusal;
use recoup_core::entry::{Body, ChunkSource, INLINE_MAX};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Recorded output of a command.
#[derive(Debug)]
pub(super) struct OutputRecording {
    taken: RecordedStreams,
    /// True if both streams share one pipe, which counts as stdout.
    pub(super) streams_merged: bool,
    limit: u64,
    lost: Option<RecordingError>,
}

/// Reason why nothing was recorded.
#[derive(Debug)]
pub(super) enum RecordingError {
    /// Output over the limit, in bytes.
    TooLarge(u64),
    /// The temporary file failed.
    Spool(Error),
}

impl RecordingError {
    /// Converts to the cache's reason, if it has one.
    pub(super) fn refusal(&self) -> Option<FillRefusal> {
        match self {
            // Recording stopped at the first byte over the limit.
            Self::TooLarge(limit) => {
                Some(FillRefusal::TooLarge { bytes: limit.saturating_add(1), limit: *limit })
            }
            Self::Spool(_) => None,
        }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(limit) => {
                let limit = limit >> 20;
                write!(f, "its output is larger than the limit of {limit} MiB (cache.max_size_mb)")
            }
            Self::Spool(error) => error.fmt(f),
        }
    }
}

#[derive(Debug, Default)]
struct RecordedStreams {
    pieces: PieceLengths,
    out: ByteSpool,
    err: ByteSpool,
}

impl OutputRecording {
    /// Records at most `limit` bytes.
    pub(super) fn new(limit: u64, streams_merged: bool) -> Self {
        Self { taken: RecordedStreams::default(), streams_merged, limit, lost: None }
    }

    pub(super) fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        if self.lost.is_some() {
            return;
        }
        let taken = &mut self.taken;
        let done = if taken.len().saturating_add(bytes.len() as u64) > self.limit {
            Err(RecordingError::TooLarge(self.limit))
        } else {
            taken.push(stream, bytes).map_err(RecordingError::Spool)
        };
        if let Err(lost) = done {
            // Freed at once: the command may run for long.
            (self.lost, self.taken) = (Some(lost), RecordedStreams::default());
        }
    }

    /// All of stdout, if it has at most `most` bytes.
    pub(super) fn stdout_up_to(&self, most: u64) -> Option<Vec<u8>> {
        let out = &self.taken.out;
        if self.lost.is_some() || out.len() > most {
            return None;
        }
        let mut all = Vec::new();
        let copied = out.each(&mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        });
        copied.ok().map(|()| all)
    }

    /// Builds the body of the cache entry.
    pub(super) fn into_body(self, exit: i32) -> Result<Body, RecordingError> {
        let Self { taken, streams_merged, limit: _, lost } = self;
        if let Some(lost) = lost {
            return Err(lost);
        }
        let opening = opening(exit, &taken.pieces, streams_merged);
        let len = opening.len() as u64 + taken.len();
        let body = RecordedBody { opening, taken };
        if len > INLINE_MAX as u64 {
            return Ok(Body::Large(Arc::new(body)));
        }
        let mut all = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let copied = body.for_each_chunk(&mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        });
        copied.map(|()| Body::from(all)).map_err(RecordingError::Spool)
    }
}

impl RecordedStreams {
    fn len(&self) -> u64 {
        self.out.len() + self.err.len()
    }

    fn push(&mut self, stream: OutputStream, bytes: &[u8]) -> Result<()> {
        self.pieces.push(stream, bytes.len());
        match stream {
            OutputStream::Out => self.out.push(bytes),
            OutputStream::Err => self.err.push(bytes),
        }
    }
}

#[derive(Debug)]
struct RecordedBody {
    opening: Vec<u8>,
    taken: RecordedStreams,
}

impl ChunkSource for RecordedBody {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        visit(&self.opening)?;
        self.taken.out.each(visit)?;
        self.taken.err.each(visit)
    }
}

/// Version with two separate streams. Versions other than these two are not read.
const APART: u32 = 1;
/// Version with both streams merged into one.
const MERGED: u32 = 2;

/// Limit of alternations between the streams; even, so that each stream has a last one.
const MAX_TURNS: usize = 1 << 16;
/// Limit of the first line: as many lengths of up to 20 digits.
const MAX_LINE: usize = MAX_TURNS * 21 + 64;

/// One of the two streams of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputStream {
    Out,
    Err,
}

#[derive(Debug, Serialize, Deserialize)]
struct TranscriptHeader {
    v: u32,
    exit: i32,
    pieces: PieceLengths,
}

/// Lengths of pieces, alternating between stdout and stderr, stdout first.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct PieceLengths(Vec<u64>);

impl PieceLengths {
    /// Adds a piece; extends the last one if it is of the same stream. Beyond the limit the order
    /// of pieces is no longer kept.
    fn push(&mut self, stream: OutputStream, len: usize) {
        let turn = usize::from(stream == OutputStream::Err);
        if self.0.len() == MAX_TURNS {
            self.0[MAX_TURNS - 2 + turn] += len as u64;
            return;
        }
        while self.0.len() % 2 == turn || self.0.is_empty() {
            self.0.push(0);
        }
        if let Some(last) = self.0.last_mut() {
            *last += len as u64;
        }
    }

    fn each(&self) -> impl Iterator<Item = (OutputStream, u64)> + '_ {
        let streams = [OutputStream::Out, OutputStream::Err].into_iter().cycle();
        streams.zip(self.0.iter().copied())
    }

    fn sum(&self, of: OutputStream) -> Option<u64> {
        let mut lengths = self.each().filter(|(stream, _)| *stream == of).map(|(_, len)| len);
        lengths.try_fold(0, u64::checked_add)
    }
}

/// First line of a transcript.
fn opening(exit: i32, pieces: &PieceLengths, streams_merged: bool) -> Vec<u8> {
    let v = if streams_merged { MERGED } else { APART };
    let opening = TranscriptHeader { v, exit, pieces: pieces.clone() };
    let mut line = serde_json::to_vec(&opening).expect("numbers always serialize");
    line.push(b'\n');
    line
}

/// Transcript of a command, ready for replay.
#[derive(Debug)]
pub(super) struct CommandTranscript {
    pub(super) exit: i32,
    /// True if both streams were recorded as one.
    pub(super) streams_merged: bool,
    pieces: PieceLengths,
    /// All of stdout, then all of stderr.
    streams: ByteSpool,
}

impl CommandTranscript {
    /// Reads and verifies all of `body`, into `streams`. None if it is not a transcript, or of
    /// another version.
    pub(super) fn read(body: &Body, mut streams: ByteSpool) -> Result<Option<Self>> {
        let (mut line, mut is_line) = (Vec::new(), true);
        body.for_each_chunk(&mut |mut chunk| {
            if is_line {
                let end = chunk.iter().position(|byte| *byte == b'\n');
                let (now, later) = chunk.split_at(end.map_or(chunk.len(), |end| end + 1));
                line.extend_from_slice(now);
                (is_line, chunk) = (end.is_none() && line.len() < MAX_LINE, later);
            }
            streams.push(chunk)
        })?;
        let parsed = || {
            let TranscriptHeader { v, exit, pieces } = serde_json::from_slice(&line).ok()?;
            let sum = pieces.sum(OutputStream::Out)?.checked_add(pieces.sum(OutputStream::Err)?)?;
            let whole = !is_line && matches!(v, APART | MERGED) && sum == streams.len();
            whole.then_some((exit, v == MERGED, pieces))
        };
        Ok(parsed().map(|(exit, streams_merged, pieces)| Self {
            exit,
            streams_merged,
            pieces,
            streams,
        }))
    }

    /// Visits the pieces in their original order.
    pub(super) fn each(
        &self,
        visit: &mut dyn FnMut(OutputStream, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut out, mut err) = (0, self.pieces.sum(OutputStream::Out).unwrap_or(0));
        for (stream, len) in self.pieces.each() {
            let at = if stream == OutputStream::Out { &mut out } else { &mut err };
            let range = *at..*at + len;
            *at = range.end;
            self.streams.each_of(range, &mut |piece| visit(stream, piece))?;
        }
        Ok(())
    }
}

/// Bytes read from a file at once.
const PIECE: usize = 1 << 20;

/// Buffer of any size: small contents in memory, large ones in an unnamed temporary file.
#[derive(Debug)]
pub(super) struct ByteSpool {
    memory: Vec<u8>,
    file: Option<File>,
    len: u64,
    /// Size limit in memory: by default as much as stores keep in one piece.
    room: usize,
}

impl Default for ByteSpool {
    fn default() -> Self {
        Self { memory: Vec::new(), file: None, len: 0, room: INLINE_MAX }
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
            let mut file = tempfile::tempfile().with_context(spooling)?;
            file.write_all(&std::mem::take(&mut self.memory)).with_context(spooling)?;
            self.file = Some(file);
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
            let mut file = memory_file()?;
            file.write_all(&self.memory)?;
            Ok(file)
        };
        let file = match &self.file {
            Some(file) => file.try_clone(),
            None => in_memory(),
        };
        let mut file = file.with_context(spooling)?;
        if let Ok(reopened) = File::open(format!("/proc/self/fd/{}", file.as_raw_fd())) {
            return Ok(reopened);
        }
        file.seek(SeekFrom::Start(0)).with_context(spooling)?;
        Ok(file)
    }
}

#[cfg(target_os = "linux")]
fn memory_file() -> std::io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("input", MemfdFlags::CLOEXEC)?.into())
}

/// An unnamed file on the disk: other systems have none in memory.
#[cfg(not(target_os = "linux"))]
fn memory_file() -> std::io::Result<File> {
    tempfile::tempfile()
}

fn spooling() -> String {
    "buffering the output in a temporary file".to_owned()
}
