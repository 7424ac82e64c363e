//! Our head of an entry, in a file of its own: the header as sealed, times and hits.
//!
//! An entry is two files, which cannot be replaced atomically. So a head that replaces another
//! contains both until the body is written: whichever body a reader finds, one of the two heads
//! belongs to it.
//!
//! ```text
//! 1. heads/K.json    the new head, and inside it the one before
//! 2. full/….json     the new full result, named by a head from the start
//! 3. results/K.json  the new body
//! 4. heads/K.json    the new head alone
//! ```
//! If both heads have the same body, the previous one counts until it is gone.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::layout::{ScopeLayout, read_file};
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::base::name::SafeName;
use crate::entry::{EntryHead, Header};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;

/// A head as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HeadFile {
    /// Random number of the put, so that a reader notices a new one.
    pub(super) turn: u64,
    stored_at: Timestamp,
    hits: u64,
    last_used: Timestamp,
    /// The last batch whose hits are included: a repetition after a crash adds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batch: Option<String>,
    header: Box<RawValue>,
    /// The head that is being replaced, until that is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<Self>>,
}

impl HeadFile {
    pub(super) fn of(head: &EntryHead) -> Self {
        let EntryHead { header, stored_at, hits, last_used } = head;
        Self {
            turn: fastrand::u64(..),
            stored_at: *stored_at,
            hits: *hits,
            last_used: *last_used,
            batch: None,
            header: serde_json::value::to_raw_value(header)
                .expect("a header has only strings and numbers, which always serialize"),
            before: None,
        }
    }

    /// The stored head; an error if it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let Some(json) = read_file(path)? else { return Ok(None) };
        serde_json::from_slice(&json).map(Some).map_err(|error| {
            Error::new(ErrorKind::Corrupt, "the entry's head can't be read").with_source(error)
        })
    }

    pub(super) fn write(&self, layout: &ScopeLayout, key: &Key) -> Result<()> {
        let json = serde_json::to_vec(self).expect("what was read or made as JSON serializes");
        layout.write(&layout.head(key), &json).map(drop)
    }

    /// Both heads, until the body is replaced.
    pub(super) fn with_previous(&self, before: Self) -> Self {
        let before = Some(Box::new(Self { before: None, ..before }));
        Self { before, ..self.clone() }
    }

    /// True if a put was interrupted, so that the body decides which head applies.
    pub(super) fn is_unsettled(&self) -> bool {
        self.before.is_some()
    }

    /// The one of the two heads that the body belongs to, alone.
    pub(super) fn settle_for(self, body: Sha256Digest) -> Self {
        let is_its = |head: EntryHead| head.header.body.sha256 == body;
        match self.before {
            Some(before) if before.parse_head().is_ok_and(is_its) => *before,
            _ => Self { before: None, ..self },
        }
    }

    /// The head of that body, if one of the two is.
    pub(super) fn head_for_body(&self, body: Sha256Digest) -> Result<Option<EntryHead>> {
        let is_its = |head: &EntryHead| head.header.body.sha256 == body;
        let before =
            self.before.as_ref().and_then(|before| before.parse_head().ok()).filter(is_its);
        match before {
            Some(before) => Ok(Some(before)),
            None => self.parse_head().map(|head| Some(head).filter(is_its)),
        }
    }

    /// The parsed head.
    pub(super) fn parse_head(&self) -> Result<EntryHead> {
        let header = Header::from_json(self.header.get().as_bytes())?;
        let Self { stored_at, hits, last_used, .. } = *self;
        Ok(EntryHead { header, stored_at, hits, last_used })
    }

    /// Size of the header.
    pub(super) fn header_len(&self) -> u64 {
        self.header.get().len() as u64
    }

    /// Counts the hits of a batch, once.
    pub(super) fn add_hits(&mut self, batch: &SafeName, hits: u64, last: Timestamp) {
        if self.batch.as_deref() != Some(batch.as_str()) {
            self.hits = self.hits.saturating_add(hits);
            self.last_used = self.last_used.max(last);
            self.batch = Some(batch.to_string());
        }
    }
}
