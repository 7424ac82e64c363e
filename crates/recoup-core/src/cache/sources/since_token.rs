//! Token for the state of the sources before the work, carried across two commands.
//!
//! `get --token` prints a short token on a miss; `set --since` takes it back and stores the result
//! only if the sources are unchanged. The token holds fingerprints of names and content only. The
//! second command may name more sources than the first.

use std::fmt;

use super::file::is_racy;
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::cache::outcome::MissReason;
use crate::cache::permit::FillRefusal;
use crate::entry::{RecordedSources, SourceFile};
use crate::error::{Error, Result};

/// Token version: a time and the state of the sources that will be named again.
const WHOLE: &str = "r1";
/// Token version: like [`WHOLE`], with fingerprints of the source names.
const NAMED: &str = "r2";

/// A time before the work and, if sources were named, their state then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceToken {
    time: Timestamp,
    before: Option<SourceSnapshot>,
}

/// State of some sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceSnapshot {
    pub(super) state: Sha256Digest,
    /// Fingerprints of their names; older tokens have none.
    pub(super) names: Option<Vec<NameFingerprint>>,
}

/// Short hash of a source name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameFingerprint(u32);

impl NameFingerprint {
    pub(super) fn of(name: &str) -> Self {
        let [a, b, c, d, ..] = *Sha256Digest::of(name.as_bytes()).as_bytes();
        Self(u32::from_be_bytes([a, b, c, d]))
    }

    fn parse(text: &str) -> Option<Self> {
        let is_print = text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_print.then(|| u32::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl SinceToken {
    /// A token without sources.
    pub(in crate::cache) fn at_time(time: Timestamp) -> Self {
        Self { time, before: None }
    }

    /// A token for the state of the named sources.
    pub(super) fn of(time: Timestamp, state: Sha256Digest, names: Vec<NameFingerprint>) -> Self {
        Self { time, before: Some(SourceSnapshot { state, names: Some(names) }) }
    }

    /// True if the token's time is in the future: no such token was issued.
    pub(in crate::cache) fn is_after(&self, now: Timestamp) -> bool {
        self.time > now
    }

    pub(super) fn before(&self) -> Option<&SourceSnapshot> {
        self.before.as_ref()
    }

    /// Parses the `Display` form.
    pub fn parse(text: &str) -> Result<Self> {
        let fields: Vec<&str> = text.split('-').collect();
        let time = |text: &str| text.parse().ok().map(Timestamp::from_millis);
        let read = match fields[..] {
            [WHOLE, at] => time(at).map(Self::at_time),
            [WHOLE, at, state] => {
                time(at).zip(Sha256Digest::from_hex(state)).map(|(time, state)| Self {
                    time,
                    before: Some(SourceSnapshot { state, names: None }),
                })
            }
            [NAMED, at, state, names] => {
                let names: Option<Vec<NameFingerprint>> =
                    names.split('.').map(NameFingerprint::parse).collect();
                time(at)
                    .zip(Sha256Digest::from_hex(state))
                    .zip(names)
                    .map(|((time, state), names)| Self::of(time, state, names))
            }
            _ => None,
        };
        read.ok_or_else(|| {
            Error::usage(
                "invalid --since: expected the token that `recoup cache get --token` printed",
            )
        })
    }

    /// The first source that may have changed since the token's time: each must be older by so much
    /// that no later change could carry an earlier timestamp.
    pub(super) fn first_changed_after(&self, sources: &RecordedSources) -> Option<FillRefusal> {
        let young = |file: &&SourceFile| is_racy(&file.stat, self.time);
        let file = sources.files.iter().find(young)?;
        Some(FillRefusal::SourceChanged(MissReason::SourceModified(file.path.clone())))
    }
}

/// `r1-MILLIS`, `r1-MILLIS-DIGEST` or `r2-MILLIS-DIGEST-NAME.NAME`
impl fmt::Display for SinceToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.before.as_ref().and_then(|before| before.names.as_deref());
        let version = if names.is_some() { NAMED } else { WHOLE };
        write!(f, "{version}-{}", self.time.as_millis())?;
        if let Some(SourceSnapshot { state, .. }) = &self.before {
            write!(f, "-{state}")?;
        }
        for (index, NameFingerprint(name)) in names.unwrap_or_default().iter().enumerate() {
            write!(f, "{}{name:08x}", if index == 0 { '-' } else { '.' })?;
        }
        Ok(())
    }
}
