//! The header of an entry. Stored as JSON beside the body, so that it can be listed, searched and
//! explained without touching a body.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sources::RecordedSources;
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{KeyPart, Kind};

/// The version of the format that this code writes; older ones are read too.
pub const FORMAT: u32 = 1;

/// Everything that is known about an entry without reading its body.
///
/// In this order in memory too: what every hit needs comes first, beside the reference count that a
/// hit touches anyway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Header {
    /// When the entry was filled.
    pub created: Timestamp,
    /// TTL in milliseconds; `None` is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// Time beyond the TTL in which it may be served while it is refreshed, in milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grace: u64,
    /// The files it was made from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sources: RecordedSources,
    /// [`FORMAT`] at the time of writing.
    pub format: u32,
    /// Kind of work.
    pub kind: Kind,
    /// The body's sizes, form and checksum.
    pub body: BodyInfo,
    /// Sizes, form and checksum of the full result, where the body is only its short form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<BodyInfo>,
    /// The producer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub identity: ProducerIdentity,
    /// The named inputs of its key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parts: Vec<KeyPart>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tags: Vec<String>,
    /// Cost of producing it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost: ProductionCost,
    /// True for a failure, which is served only to callers that accept failures.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failure: bool,
    /// True if both streams of a command were recorded as one, which is served only to callers
    /// whose own streams go to one place.
    #[serde(default, skip_serializing_if = "is_default")]
    pub streams_merged: bool,
    /// Start of the work, if that was before `created`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Timestamp>,
}

/// Sizes, form and checksum of a stored body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// The form it is stored in.
    pub encoding: BodyEncoding,
    /// Its plain length.
    pub raw_len: u64,
    /// The length of what is stored.
    pub stored_len: u64,
    /// SHA-256 of the plain bytes.
    pub sha256: Sha256Digest,
}

/// The form in which a body is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyEncoding {
    /// As it is.
    Plain,
    /// Compressed.
    Gzip,
    /// Too large to compress: as it is, in frames with checksums of their own.
    Framed,
}

/// Producer of an entry: names and hashes, never content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducerIdentity {
    /// The agent's, tool's or command's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace that defines the name, such as an MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The hash of its definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// Cost of producing an entry, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductionCost {
    /// Time that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// Tokens that went in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Millionths of a dollar: money is not counted in floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_dollars: Option<u64>,
}

impl ProductionCost {
    /// True if nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// Converts dollars to millionths; `None` for anything but a sum of money.
pub fn to_micro_dollars(dollars: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is in the range that was just looked at"
    )]
    let micros = |dollars: f64| (dollars * 1e6).round() as u64;
    (0.0..=1e9).contains(&dollars).then(|| micros(dollars))
}

impl Header {
    /// Stored bytes of the body and the full result.
    pub fn stored_len(&self) -> u64 {
        self.body.stored_len.saturating_add(self.full.map_or(0, |full| full.stored_len))
    }

    /// Start of the work: changes since then need not be in the result.
    pub fn work_began(&self) -> Timestamp {
        self.began.unwrap_or(self.created)
    }

    /// Time at which the TTL ends.
    pub fn fresh_until(&self) -> Timestamp {
        self.ttl.map_or(Timestamp::MAX, |ttl| self.created.plus_millis(ttl))
    }

    /// Time at which it may be deleted: its TTL and its grace have passed.
    pub fn deletable_at(&self) -> Option<Timestamp> {
        self.ttl.map(|ttl| self.created.plus_millis(ttl).plus_millis(self.grace))
    }

    /// The stored form.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self)
            .expect("a header has only strings and numbers, which always serialize")
    }

    /// Reads the stored form; unknown fields of later versions are ignored.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        match serde_json::from_slice::<Self>(json) {
            Ok(header) if header.format <= FORMAT => Ok(header),
            Ok(_) => Err(newer_version_error()),
            Err(_) if is_newer(json) => Err(newer_version_error()),
            Err(error) => Err(Error::new(ErrorKind::Corrupt, "the entry's header can't be read")
                .with_source(error)),
        }
    }
}

fn newer_version_error() -> Error {
    Error::new(ErrorKind::TooNew, "the entry was made by a newer version of recoup")
}

/// True if an unreadable header is a later version's: of a later format, or with an unknown kind or
/// encoding. Such an entry is not damaged.
fn is_newer(json: &[u8]) -> bool {
    let Ok(header) = serde_json::from_slice::<Value>(json) else { return false };
    let unknown =
        |value: &Value, known: &dyn Fn(Value) -> bool| value.is_string() && !known(value.clone());
    header["format"].as_u64().is_some_and(|format| format > u64::from(FORMAT))
        || unknown(&header["kind"], &|kind| serde_json::from_value::<Kind>(kind).is_ok())
        || unknown(&header["body"]["encoding"], &|it| {
            serde_json::from_value::<BodyEncoding>(it).is_ok()
        })
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
