//! The file of one entry. Shared fields come first, our additions after them, and our head is last:
//!
//! ```text
//! {"value":"TEXT","expires_at":SECONDS,
//!  "expires_at_ms":MILLIS,                    where it expires, exactly
//!  "full":"TEXT",                             where there is a full result
//!  "recoup":{"header":{…},"stored_at":"MILLIS","hits":"N","last_used":"MILLIS"}}
//! ```
//! Times count from 1970; `expires_at` 0 is never. All in one line, without spaces.
//!
//! Our head is last, so that it is found without reading a long value; the counters that change are
//! at the very end and of fixed width, so that they are changed in place. In place, because rewriting
//! the file would undo what another program stored meanwhile; and as digit strings, because any mix
//! of old and new digits is still a number: a concurrent reader sees one that is slightly off.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{self, Deserializer, Error as _, Unexpected, Visitor};

use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::entry::{EntryHead, EntryRecord, FORMAT, Header};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Kind;
use crate::store::folder::payload_text;

const STORED_AT: &str = r#","stored_at":""#;
const HITS: &str = r#"","hits":""#;
const LAST_USED: &str = r#"","last_used":""#;
const END: &str = r#""}}"#;
/// Width of a number: 20 digits, or a sign and 19.
const DIGITS: usize = 20;
/// The length of what follows the header.
pub(super) const CLOSING: usize =
    STORED_AT.len() + HITS.len() + LAST_USED.len() + END.len() + 3 * DIGITS;

/// Precedes the header. It occurs nowhere else in a file of ours: within a string its quotes would
/// be escaped.
const HEAD: &[u8] = br#","recoup":{"header":"#;

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
    let EntryHead { stored_at, hits, last_used, .. } = &record.head;
    let (stored_at, last_used) = (stored_at.as_millis(), last_used.as_millis());
    let counters =
        format!("{STORED_AT}{stored_at:+020}{HITS}{hits:020}{LAST_USED}{last_used:+020}{END}");
    json.extend_from_slice(counters.as_bytes());
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
        // An entry of a program without headers expires when its file says, whatever the file's own
        // times.
        None => {
            let expires = expiry(expires_at, expires_at_ms);
            let created = expires.map_or(modified, |at| at.min(modified));
            let (ttl, len) = (expires.map(|at| at.millis_since(created)), value.len() as u64);
            let sha256 = Sha256Digest::of(&value);
            let header = Header::of_plain_body(Kind::AgentRun, created, ttl, len, sha256);
            (EntryHead::new(header, modified), EntryOwner::Guest)
        }
    };
    Ok(Some(ParsedEntry { head, value, whose }))
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
    (json.starts_with(BEGINNING) || ends_with_counters(json))
        && has_one_head(json)
        // If the JSON is readable, our head must be at the top level.
        && serde_json::from_slice::<serde_json::Value>(json)
            .map_or(true, |whole| whole["recoup"].get("header").is_some())
}

/// True if a long file may be in the format, judged by its two ends, so that foreign files are not
/// read whole.
pub(super) fn may_be_entry(start: &[u8], end: &[u8]) -> bool {
    let first = start.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let begins = first.is_some_and(|first| {
        first.starts_with(br#""value""#) || first.starts_with(br#""expires_at""#)
    });
    let ends = end.trim_ascii_end().ends_with(b"}") || has_one_head(end);
    (begins && ends) || ends_with_counters(end)
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

/// Rounded up, so that nothing expires too early. At least 1, because 0 means never.
fn whole_seconds(at: Timestamp) -> i64 {
    let millis = at.as_millis();
    (millis.div_euclid(1_000) + i64::from(millis.rem_euclid(1_000) > 0)).max(1)
}

/// The fields that every program reads.
#[derive(Debug, Deserialize)]
pub(super) struct SharedFields<'a> {
    #[serde(borrow)]
    pub(super) value: Cow<'a, str>,
    #[serde(deserialize_with = "moment")]
    expires_at: Timestamp,
    #[serde(default)]
    expires_at_ms: Option<i64>,
}

impl<'a> SharedFields<'a> {
    /// `None` if the file is not in the format.
    pub(super) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    pub(super) fn expires(&self) -> Option<Timestamp> {
        expiry(self.expires_at, self.expires_at_ms)
    }
}

/// The exact expiry counts only if it agrees with `expires_at`: another program may have changed
/// that one alone.
pub(super) fn expiry(at: Timestamp, exact: Option<i64>) -> Option<Timestamp> {
    if at == Timestamp::default() {
        return None;
    }
    let exact = exact.map(Timestamp::from_millis);
    let agrees = |exact: &Timestamp| at.as_millis() / 1_000 == whole_seconds(*exact);
    Some(exact.filter(agrees).unwrap_or(at))
}

/// Seconds since 1970, with a fraction in some programs' files.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    struct SecondsVisitor;
    impl Visitor<'_> for SecondsVisitor {
        type Value = Timestamp;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("seconds since 1970")
        }

        fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timestamp, E> {
            Ok(Timestamp::from_millis(seconds.saturating_mul(1_000)))
        }

        fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Timestamp, E> {
            self.visit_i64(i64::try_from(seconds).unwrap_or(i64::MAX))
        }

        #[expect(clippy::cast_possible_truncation, reason = "it stops at the ends of time")]
        fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Timestamp, E> {
            Ok(Timestamp::from_millis((seconds * 1_000.0).ceil() as i64))
        }
    }
    deserializer.deserialize_any(SecondsVisitor)
}

/// A number as a string of fixed width.
fn digits<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr,
{
    let text = <&str>::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(text), &"a number"))
}

/// The JSON form of a head.
#[derive(Deserialize)]
struct RecoupHead {
    pub(super) header: Header,
    #[serde(deserialize_with = "digits")]
    stored_at: i64,
    #[serde(deserialize_with = "digits")]
    hits: u64,
    #[serde(deserialize_with = "digits")]
    last_used: i64,
}

impl RecoupHead {
    fn into_head(self) -> EntryHead {
        EntryHead {
            header: self.header,
            stored_at: Timestamp::from_millis(self.stored_at),
            hits: self.hits,
            last_used: Timestamp::from_millis(self.last_used),
        }
    }
}

/// Adds `hits`, the last of them at `at`, to the counters; `None` if this is not the end of a file
/// of ours.
pub(super) fn with_hits(closing: &[u8], hits: u64, at: Timestamp) -> Option<Vec<u8>> {
    let (before, hits_so_far, last_used) = parse_counters(closing)?;
    let hits = hits_so_far.saturating_add(hits);
    let last_used = last_used.max(at.as_millis());
    Some(format!("{before}{HITS}{hits:020}{LAST_USED}{last_used:+020}{END}").into_bytes())
}

fn parse_counters(closing: &[u8]) -> Option<(&str, u64, i64)> {
    let text = str::from_utf8(closing).ok().filter(|text| text.len() == CLOSING)?;
    let (before, rest) = text.split_once(HITS)?;
    let (hits, rest) = rest.split_once(LAST_USED)?;
    let last_used = rest.strip_suffix(END)?;
    Some((before, hits.parse().ok()?, last_used.parse().ok()?))
}

/// True if this is the end of a file of ours.
fn ends_with_counters(end: &[u8]) -> bool {
    end.len().checked_sub(CLOSING).and_then(|at| parse_counters(&end[at..])).is_some()
}

/// True if the beginning of our head occurs exactly once: a file made of several of ours is not
/// one.
fn has_one_head(json: &[u8]) -> bool {
    json.windows(HEAD.len()).filter(|window| *window == HEAD).take(2).count() == 1
}

/// The head begins before the bytes that were read.
#[derive(Debug)]
pub(super) struct HeadBeforeTail;

/// Parses the head from the end of a file; `None` if it is not the end of an intact file of ours.
pub(super) fn head_in(end: &[u8]) -> Result<Option<EntryHead>, HeadBeforeTail> {
    if !ends_with_counters(end) {
        return Ok(None);
    }
    let at = end.windows(HEAD.len()).rposition(|window| window == HEAD).ok_or(HeadBeforeTail)?;
    let object = at + HEAD.len() - br#"{"header":"#.len();
    let book = serde_json::from_slice::<RecoupHead>(&end[object..end.len() - 1]).ok();
    Ok(book.filter(|book| book.header.format <= FORMAT).map(RecoupHead::into_head))
}
