//! What is stored of a command: one line of JSON with its exit code and the
//! order in which its streams spoke, then all of stdout, then all of stderr.
//!
//! ```text
//! {"v":1,"exit":0,"pieces":[12,5,3]}    12 bytes of stdout, 5 of stderr, 3 of stdout
//! ```
//! The streams are not mixed: each stays the text that it was, although a
//! character may have arrived in two halves with the other stream in between.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The form that this code writes. Others are not read.
const VERSION: u32 = 1;

/// The most turns that are told apart; even, so that each stream has a last one.
const MAX_TURNS: usize = 1 << 16;

/// One of the two streams of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Out,
    Err,
}

#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    v: u32,
    exit: i32,
    pieces: Pieces,
}

/// Lengths, stdout and stderr by turns, stdout first.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pieces(Vec<u64>);

impl Pieces {
    /// The same stream again makes its last piece longer. Beyond so many turns nobody
    /// would notice whose was whose.
    pub(super) fn push(&mut self, voice: Voice, len: usize) {
        let turn = usize::from(voice == Voice::Err);
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

    fn each(&self) -> impl Iterator<Item = (Voice, u64)> + '_ {
        let voices = [Voice::Out, Voice::Err].into_iter().cycle();
        voices.zip(self.0.iter().copied())
    }

    fn sum(&self, of: Voice) -> Option<usize> {
        let lengths = self.each().filter(|(voice, _)| *voice == of).map(|(_, len)| len);
        let sum = lengths.into_iter().try_fold(0u64, u64::checked_add)?;
        usize::try_from(sum).ok()
    }
}

/// The line that a transcript begins with.
pub(super) fn opening(exit: i32, pieces: &Pieces) -> Vec<u8> {
    let opening = Opening { v: VERSION, exit, pieces: pieces.clone() };
    let mut line = serde_json::to_vec(&opening).expect("numbers always serialize");
    line.push(b'\n');
    line
}

/// A command as it is replayed.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) exit: i32,
    pieces: Pieces,
    out: Bytes,
    err: Bytes,
}

impl Transcript {
    /// None when it is not one of ours, or of another version.
    pub(super) fn parse(body: &Bytes) -> Option<Self> {
        let end = body.iter().position(|byte| *byte == b'\n')?;
        let Opening { v, exit, pieces } = serde_json::from_slice(&body[..end]).ok()?;
        let rest = body.slice(end + 1..);
        let (out, err) = (pieces.sum(Voice::Out)?, pieces.sum(Voice::Err)?);
        let whole = v == VERSION && out.checked_add(err)? == rest.len();
        whole.then(|| Self { exit, pieces, out: rest.slice(..out), err: rest.slice(out..) })
    }

    /// The pieces in the order in which they were heard.
    pub(super) fn each(&self) -> impl Iterator<Item = (Voice, Bytes)> + '_ {
        let (mut out, mut err) = (self.out.clone(), self.err.clone());
        self.pieces.each().map(move |(voice, len)| {
            let rest = if voice == Voice::Out { &mut out } else { &mut err };
            // As long as it was found to be.
            (voice, rest.split_to(usize::try_from(len).unwrap_or(0).min(rest.len())))
        })
    }
}
