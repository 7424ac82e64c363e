//! The file of one entry. Shared fields come first, our additions after them, and our head is last
//! (`tail.rs` says why):
//!
//! ```text
//! {"value":"TEXT","expires_at":SECONDS,
//!  "expires_at_ms":MILLIS,                    where it expires, exactly
//!  "full":"TEXT",                             where there is a full result
//!  "recoup":{"header":{…},"stored_at":"MILLIS","hits":"N","last_used":"MILLIS"}}
//! ```
//! Times count from 1970; `expires_at` 0 is never. All in one line, without spaces.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, de};

use super::shared_fields::{expiry, moment, whole_seconds};
use super::tail::{self, HEAD, RecoupHead, render_counters};
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::entry::{
    BodyEncoding, BodyInfo, EntryHead, EntryRecord, FORMAT, Header, ProducerIdentity,
    ProductionCost, RecordedSources,
};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Kind;
use crate::store::folder::payload_text;

/// Beginning of every file of ours; other programs' files may begin so, too.
const BEGINNING: &[u8] = br#"{"value":""#;

/// A file with the shared fields only, as written by `FileCache`.
pub(super) fn render_shared_fields(value: &str, expires: Option<Timestamp>) -> Vec<u8> {
    let mut json = render_opening(value, expires);
    json.push(b'}');
    json
}

/// The file of a record.
pub(super) fn render_entry(record: &EntryRecord) -> Result<Vec<u8>> {
    let header = &record.head.header;
    let value = payload_text(&record.payload, &header.body)?;
    let expires = Some(header.fresh_until()).filter(|at| *at < Timestamp::MAX);
    let mut json = render_opening(as_text(&value)?, expires);
    if let (Some(full), Some(info)) = (&record.full, &header.full) {
        json.extend_from_slice(br#","full":"#);
        push_text(&mut json, as_text(&payload_text(full, info)?)?);
    }
    json.extend_from_slice(HEAD);
    json.extend_from_slice(&header.to_json());
    json.extend_from_slice(render_counters(&record.head).as_bytes());
    Ok(json)
}

fn render_opening(value: &str, expires: Option<Timestamp>) -> Vec<u8> {
    let mut json = Vec::with_capacity(value.len() + value.len() / 16 + 512);
    json.extend_from_slice(br#"{"value":"#);
    push_text(&mut json, value);
    let times = match expires {
        None => r#","expires_at":0"#.to_owned(),
        Some(at) => {
            let (seconds, millis) = (whole_seconds(at), at.as_millis());
            format!(r#","expires_at":{seconds},"expires_at_ms":{millis}"#)
        }
    };
    json.extend_from_slice(times.as_bytes());
    json
}

fn push_text(json: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(json, text).expect("text always serializes, and memory takes it");
}

/// Infallible in practice: `payload_text` has checked it.
fn as_text(bytes: &Bytes) -> Result<&str> {
    str::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Invalid, "the result is not text").with_source(error)
    })
}

/// An entry, parsed from its whole file.
#[derive(Debug)]
pub(super) struct ParsedEntry {
    pub(super) head: EntryHead,
    pub(super) value: Bytes,
    pub(super) whose: EntryOwner,
}

/// Program that wrote an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryOwner {
    /// Written by us: it has our head.
    Ours,
    /// Written by another program of the same format.
    Guest,
}

#[derive(Deserialize)]
struct EntryFileJson<'a> {
    #[serde(borrow)]
    value: Cow<'a, str>,
    #[serde(deserialize_with = "moment")]
    expires_at: Timestamp,
    #[serde(default)]
    expires_at_ms: Option<i64>,
    #[serde(default)]
    recoup: Option<RecoupHead>,
}

/// Parses a file that was last written at `modified`, in one pass. `None` if it is not in the
/// format (an unrelated file with such a name). An error if it is one of ours and damaged or of a
/// later version.
pub(super) fn parse(json: &Bytes, modified: Timestamp) -> Result<Option<ParsedEntry>> {
    let EntryFileJson { value, expires_at, expires_at_ms, recoup } =
        match serde_json::from_slice(json) {
            Ok(whole) => whole,
            Err(error) => return parse_failure(json, error),
        };
    let value = match value {
        Cow::Borrowed(value) => json.slice_ref(value.as_bytes()),
        Cow::Owned(value) => Bytes::from(value),
    };
    let (head, whose) = match recoup {
        Some(book) if book.header.format > FORMAT => {
            return parse_failure(json, de::Error::custom("its format is newer"));
        }
        Some(book) => (book.into_head(), EntryOwner::Ours),
        None => (
            synthesize_head(&value, expiry(expires_at, expires_at_ms), modified),
            EntryOwner::Guest,
        ),
    };
    Ok(Some(ParsedEntry { head, value, whose }))
}

/// A head for an entry of a program without headers. It expires when its file says, whatever the
/// file's own times.
fn synthesize_head(value: &[u8], expires: Option<Timestamp>, modified: Timestamp) -> EntryHead {
    let created = expires.map_or(modified, |at| at.min(modified));
    let len = value.len() as u64;
    let body = BodyInfo {
        encoding: BodyEncoding::Plain,
        raw_len: len,
        stored_len: len,
        sha256: Sha256Digest::of(value),
    };
    let header = Header {
        created,
        ttl: expires.map(|at| at.millis_since(created)),
        grace: 0,
        sources: RecordedSources::default(),
        format: FORMAT,
        kind: Kind::AgentRun,
        body,
        full: None,
        identity: ProducerIdentity::default(),
        parts: Vec::new(),
        tags: Vec::new(),
        cost: ProductionCost::default(),
        failure: false,
        streams_merged: false,
        began: None,
    };
    EntryHead::new(header, modified)
}

/// Slow path, which few files take.
fn parse_failure(json: &[u8], why: serde_json::Error) -> Result<Option<ParsedEntry>> {
    if !looks_like_ours(json) {
        return Ok(None);
    }
    let whole = serde_json::from_slice::<serde_json::Value>(json).unwrap_or_default();
    let header = serde_json::to_vec(&whole["recoup"]["header"]).unwrap_or_default();
    match Header::from_json(&header) {
        Err(error) if error.kind() == ErrorKind::TooNew => Err(error),
        _ => Err(unreadable_error(why)),
    }
}

fn unreadable_error(why: serde_json::Error) -> Error {
    Error::new(ErrorKind::Corrupt, "the entry's file can't be read").with_source(why)
}

/// True if the file has exactly one head of ours, damaged or not, and one of our ends. Other
/// programs' files begin as ours do, so a file of ours that is cut before its head counts as
/// foreign: a miss until its owner removes it. That is rare (files are renamed when complete, so
/// only a power failure cuts one, and mostly leaves nothing), and the opposite error would remove a
/// foreign file.
fn looks_like_ours(json: &[u8]) -> bool {
    (json.starts_with(BEGINNING) || tail::ends_with_counters(json))
        && tail::has_one_head(json)
        && has_field_of_ours(json)
}

/// If the JSON is readable, our head must be at the top level.
fn has_field_of_ours(json: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(json)
        .map_or(true, |whole| whole["recoup"].get("header").is_some())
}

/// True if a long file may be in the format, judged by its two ends, so that foreign files are not
/// read whole.
pub(super) fn may_be_entry(start: &[u8], end: &[u8]) -> bool {
    let first = start.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let begins = first.is_some_and(|first| {
        first.starts_with(br#""value""#) || first.starts_with(br#""expires_at""#)
    });
    let ends = end.trim_ascii_end().ends_with(b"}") || tail::has_one_head(end);
    (begins && ends) || tail::ends_with_counters(end)
}

/// The full result in a file, if it has one.
pub(super) fn parse_full_result(json: &Bytes) -> Result<Option<Bytes>> {
    #[derive(Deserialize)]
    struct FullField<'a> {
        #[serde(borrow, default)]
        full: Option<FullText<'a>>,
    }
    #[derive(Deserialize)]
    struct FullText<'a>(#[serde(borrow)] Cow<'a, str>);
    match serde_json::from_slice::<FullField<'_>>(json) {
        Ok(FullField { full: None }) => Ok(None),
        Ok(FullField { full: Some(FullText(Cow::Borrowed(text))) }) => {
            Ok(Some(json.slice_ref(text.as_bytes())))
        }
        Ok(FullField { full: Some(FullText(Cow::Owned(text))) }) => Ok(Some(Bytes::from(text))),
        Err(_) if !looks_like_ours(json) => Ok(None),
        Err(error) => Err(unreadable_error(error)),
    }
}
