//! Remembering, across two commands, how the sources were before the work.
//!
//! `get --token` gives out a short token on a miss; `set --since` takes it back
//! and stores only what was made from an unchanged state. It names no file and
//! holds no content: the same sources are looked at again and compared.

use std::fmt;

use super::file::is_racy;
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::cache::outcome::Reason;
use crate::cache::permit::Refusal;
use crate::entry::{Source, Sources};
use crate::error::{Error, Result};

const PREFIX: &str = "r1";

/// A moment before the work and, where sources were named, their state then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    time: Timestamp,
    state: Option<Digest>,
}

impl Since {
    pub(in crate::cache) fn new(time: Timestamp, state: Option<Digest>) -> Self {
        Self { time, state }
    }

    /// Whether it claims to come from the future: such a token was not given out.
    pub(in crate::cache) fn is_after(&self, now: Timestamp) -> bool {
        self.time > now
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Result<Self> {
        let mut fields = text.split('-');
        let (prefix, time, state) = (fields.next(), fields.next(), fields.next());
        let time = time.and_then(|time| time.parse().ok()).map(Timestamp::from_millis);
        match (prefix, time, state.map(Digest::from_hex), fields.next()) {
            (Some(PREFIX), Some(time), None, None) => Ok(Self::new(time, None)),
            (Some(PREFIX), Some(time), Some(Some(state)), None) => Ok(Self::new(time, Some(state))),
            _ => Err(Error::usage(
                "invalid --since: expected the token that `recoup cache get --token` printed",
            )),
        }
    }

    /// Why the sources are not those of that moment. With a state, all must be
    /// as they were then; with only a time, each must be older than that, by so
    /// much that no change after it could carry an earlier time.
    pub(super) fn compare(&self, sources: &Sources, state: Digest) -> Option<Refusal> {
        if let Some(before) = self.state {
            return (before != state).then_some(Refusal::SourcesDiffer);
        }
        let young = |file: &&Source| is_racy(&file.stat, self.time);
        let file = sources.files.iter().find(young)?;
        Some(Refusal::SourceChanged(Reason::SourceModified(file.path.clone())))
    }
}

/// `r1-MILLIS` or `r1-MILLIS-DIGEST`
impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}-{}", self.time.as_millis())?;
        self.state.map_or(Ok(()), |state| write!(f, "-{state}"))
    }
}
