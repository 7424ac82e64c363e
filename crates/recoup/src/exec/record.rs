//! Records a command's output while it passes, up to a limit.

use std::fmt;
use std::sync::Arc;

use recoup_core::cache::FillRefusal;
use recoup_core::entry::{Body, ChunkSource, INLINE_MAX};
use recoup_core::{Error, Result};

use super::spool::ByteSpool;
use super::transcript::{OutputStream, PieceLengths, opening};

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

    pub(super) fn push(&mut self, voice: OutputStream, bytes: &[u8]) {
        if self.lost.is_some() {
            return;
        }
        let taken = &mut self.taken;
        let done = if taken.len().saturating_add(bytes.len() as u64) > self.limit {
            Err(RecordingError::TooLarge(self.limit))
        } else {
            taken.push(voice, bytes).map_err(RecordingError::Spool)
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

    fn push(&mut self, voice: OutputStream, bytes: &[u8]) -> Result<()> {
        self.pieces.push(voice, bytes.len());
        match voice {
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
