//! Stored form of a command's output: one line of JSON with its exit code and the order of its
//! streams, then all of stdout, then all of stderr.
//!
//! ```text
//! {"v":1,"exit":0,"pieces":[12,5,3]}    12 bytes of stdout, 5 of stderr, 3 of stdout
//! ```
//! The streams are not interleaved: each stays valid text, even if a character arrived in two
//! halves with the other stream in between. If both went to one place, they came through one pipe
//! and are one stream: all of it is stdout, and `v` is 2.

use recoup_core::Result;
use recoup_core::entry::{Body, ChunkSource as _};
use serde::{Deserialize, Serialize};

use super::spool::ByteSpool;

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
pub(super) struct PieceLengths(Vec<u64>);

impl PieceLengths {
    /// Adds a piece; extends the last one if it is of the same stream. Beyond the limit the order
    /// of pieces is no longer kept.
    pub(super) fn push(&mut self, voice: OutputStream, len: usize) {
        let turn = usize::from(voice == OutputStream::Err);
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
        let voices = [OutputStream::Out, OutputStream::Err].into_iter().cycle();
        voices.zip(self.0.iter().copied())
    }

    fn sum(&self, of: OutputStream) -> Option<u64> {
        let mut lengths = self.each().filter(|(voice, _)| *voice == of).map(|(_, len)| len);
        lengths.try_fold(0, u64::checked_add)
    }
}

/// First line of a transcript.
pub(super) fn opening(exit: i32, pieces: &PieceLengths, streams_merged: bool) -> Vec<u8> {
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
        for (voice, len) in self.pieces.each() {
            let at = if voice == OutputStream::Out { &mut out } else { &mut err };
            let range = *at..*at + len;
            *at = range.end;
            self.streams.each_of(range, &mut |piece| visit(voice, piece))?;
        }
        Ok(())
    }
}
