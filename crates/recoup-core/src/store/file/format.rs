//! The file of one entry. What every program that knows the format reads comes
//! first, what we add comes after it, and our head is last (`tail.rs` says why):
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
use serde::de::{Deserializer, Error as _, Unexpected, Visitor};
use serde::{Deserialize, de};

use super::tail::{Book, HEAD, closing, head_in};
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::entry::{BodyInfo, Cost, Encoding, FORMAT, Head, Header, Identity, Record, Sources};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Kind;
use crate::store::folder::text_of;

/// What every file of ours begins with, damaged or not.
const BEGINNING: &[u8] = br#"{"value":""#;

/// A file of the format that holds nothing else; what `FileCache` writes.
pub(super) fn answer(value: &str, expires: Option<Timestamp>) -> Vec<u8> {
    let mut json = opening(value, expires);
    json.push(b'}');
    json
}

/// The file of a record.
pub(super) fn entry(record: &Record) -> Result<Vec<u8>> {
    let header = &record.head.header;
    let value = text_of(&record.payload, &header.body)?;
    let expires = Some(header.fresh_until()).filter(|at| *at < Timestamp::MAX);
    let mut json = opening(as_text(&value)?, expires);
    if let (Some(full), Some(info)) = (&record.full, &header.full) {
        json.extend_from_slice(br#","full":"#);
        push_text(&mut json, as_text(&text_of(full, info)?)?);
    }
    json.extend_from_slice(HEAD);
    json.extend_from_slice(&header.to_json());
    json.extend_from_slice(closing(&record.head).as_bytes());
    Ok(json)
}

fn opening(value: &str, expires: Option<Timestamp>) -> Vec<u8> {
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

/// `text_of` has looked already.
fn as_text(bytes: &Bytes) -> Result<&str> {
    str::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Invalid, "the result is not text").with_source(error)
    })
}

/// Rounded up, so that nobody finds it expired too early; 0 would be never.
fn whole_seconds(at: Timestamp) -> i64 {
    let millis = at.as_millis();
    (millis.div_euclid(1_000) + i64::from(millis.rem_euclid(1_000) > 0)).max(1)
}

/// What every program reads.
#[derive(Debug, Deserialize)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub(super) value: Cow<'a, str>,
    #[serde(deserialize_with = "moment")]
    expires_at: Timestamp,
    #[serde(default)]
    expires_at_ms: Option<i64>,
}

impl<'a> Answer<'a> {
    /// `None` for what is not in the format.
    pub(super) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    pub(super) fn expires(&self) -> Option<Timestamp> {
        expiry(self.expires_at, self.expires_at_ms)
    }
}

/// The exact time counts only where it agrees with what everybody reads: another
/// program may have changed that and passed over ours.
fn expiry(at: Timestamp, exact: Option<i64>) -> Option<Timestamp> {
    if at == Timestamp::default() {
        return None;
    }
    let exact = exact.map(Timestamp::from_millis);
    let agrees = |exact: &Timestamp| at.as_millis() / 1_000 == whole_seconds(*exact);
    Some(exact.filter(agrees).unwrap_or(at))
}

/// Seconds since 1970; some programs write them with a fraction.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    struct Seconds;
    impl Visitor<'_> for Seconds {
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
    deserializer.deserialize_any(Seconds)
}

/// Digits in a string, always as many (`tail.rs` says why).
pub(super) fn digits<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr,
{
    let text = <&str>::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(text), &"a number"))
}

/// An entry, as its whole file has it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) head: Head,
    pub(super) value: Bytes,
    pub(super) whose: Whose,
}

/// Who wrote an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// It has our head.
    Ours,
    /// Another program of the same format.
    Guest,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    value: Cow<'a, str>,
    #[serde(deserialize_with = "moment")]
    expires_at: Timestamp,
    #[serde(default)]
    expires_at_ms: Option<i64>,
    #[serde(default)]
    recoup: Option<Book>,
}

/// Reads a file that was last written at `modified`, in one pass. `None` when it
/// is not in the format: somebody else's file, which only has such a name. An
/// error when it is one of ours, damaged or of a later version.
pub(super) fn parse(json: &Bytes, modified: Timestamp) -> Result<Option<Parsed>> {
    let Whole { value, expires_at, expires_at_ms, recoup } = match serde_json::from_slice(json) {
        Ok(whole) => whole,
        Err(error) => return refused(json, error),
    };
    let value = match value {
        Cow::Borrowed(value) => json.slice_ref(value.as_bytes()),
        Cow::Owned(value) => Bytes::from(value),
    };
    let (head, whose) = match recoup {
        Some(book) if book.header.format > FORMAT => {
            return refused(json, de::Error::custom("its format is newer"));
        }
        Some(book) => (book.into_head(), Whose::Ours),
        None => (guest_head(&value, expiry(expires_at, expires_at_ms), modified), Whose::Guest),
    };
    Ok(Some(Parsed { head, value, whose }))
}

/// What a program that has no headers would have said. Its entry expires when
/// its file says, whatever the file's own times.
fn guest_head(value: &[u8], expires: Option<Timestamp>, modified: Timestamp) -> Head {
    let created = expires.map_or(modified, |at| at.min(modified));
    let len = value.len() as u64;
    let body = BodyInfo {
        encoding: Encoding::Plain,
        raw_len: len,
        stored_len: len,
        sha256: Digest::of(value),
    };
    let header = Header {
        created,
        ttl: expires.map(|at| at.millis_since(created)),
        grace: 0,
        sources: Sources::default(),
        format: FORMAT,
        kind: Kind::AgentRun,
        body,
        full: None,
        identity: Identity::default(),
        parts: Vec::new(),
        tags: Vec::new(),
        cost: Cost::default(),
    };
    Head::new(header, modified)
}

/// Slowly: this happens to few files.
fn refused(json: &[u8], why: serde_json::Error) -> Result<Option<Parsed>> {
    if !looks_like_ours(json) {
        return Ok(None);
    }
    let whole = serde_json::from_slice::<serde_json::Value>(json).unwrap_or_default();
    let header = serde_json::to_vec(&whole["recoup"]["header"]).unwrap_or_default();
    match Header::from_json(&header) {
        Err(error) if error.kind() == ErrorKind::TooNew => Err(error),
        _ => Err(unreadable(why)),
    }
}

fn unreadable(why: serde_json::Error) -> Error {
    Error::new(ErrorKind::Corrupt, "the entry's file can't be read").with_source(why)
}

/// One end of it is enough. An empty file is what a power failure may leave of one.
fn looks_like_ours(json: &[u8]) -> bool {
    json.is_empty() || json.starts_with(BEGINNING) || matches!(head_in(json), Ok(Some(_)))
}

/// The full result in a file, if it has one.
pub(super) fn full(json: &Bytes) -> Result<Option<Bytes>> {
    #[derive(Deserialize)]
    struct Full<'a> {
        #[serde(borrow, default)]
        full: Option<Text<'a>>,
    }
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    match serde_json::from_slice::<Full<'_>>(json) {
        Ok(Full { full: None }) => Ok(None),
        Ok(Full { full: Some(Text(Cow::Borrowed(text))) }) => {
            Ok(Some(json.slice_ref(text.as_bytes())))
        }
        Ok(Full { full: Some(Text(Cow::Owned(text))) }) => Ok(Some(Bytes::from(text))),
        Err(_) if !looks_like_ours(json) => Ok(None),
        Err(error) => {
            Err(Error::new(ErrorKind::Corrupt, "the entry's file can't be read").with_source(error))
        }
    }
}
