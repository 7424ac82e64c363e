//! The header of an entry, and the source files that it remembers. Stored as JSON beside the body,
//! so that it can be listed, searched and explained without touching a body.
//!
//! How sources are captured and compared is policy, and lives in `cache/sources/`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    pub(crate) fn is_unknown(&self) -> bool {
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
    /// A header for a plain body of which hardly anything else is known.
    pub(crate) fn of_plain_body(
        kind: Kind,
        created: Timestamp,
        ttl: Option<u64>,
        raw_len: u64,
        sha256: Sha256Digest,
    ) -> Self {
        let encoding = BodyEncoding::Plain;
        Self {
            created,
            ttl,
            grace: 0,
            sources: RecordedSources::default(),
            format: FORMAT,
            kind,
            body: BodyInfo { encoding, raw_len, stored_len: raw_len, sha256 },
            full: None,
            identity: ProducerIdentity::default(),
            parts: Vec::new(),
            tags: Vec::new(),
            cost: ProductionCost::default(),
            failure: false,
            streams_merged: false,
            began: None,
        }
    }

    /// Stored bytes of the body and the full result.
    pub(crate) fn stored_len(&self) -> u64 {
        self.body.stored_len.saturating_add(self.full.map_or(0, |full| full.stored_len))
    }

    /// Start of the work: changes since then need not be in the result.
    pub(crate) fn work_began(&self) -> Timestamp {
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
            Err(error) => {
                // A later format, or an unknown kind or encoding, comes from a later version. Such
                // an entry is not damaged.
                let header: Value = serde_json::from_slice(json).unwrap_or_default();
                let unknown = |value: &Value, known: &dyn Fn(Value) -> bool| {
                    value.is_string() && !known(value.clone())
                };
                let (kind, encoding) = (&header["kind"], &header["body"]["encoding"]);
                let is_newer = header["format"].as_u64().is_some_and(|it| it > u64::from(FORMAT))
                    || unknown(kind, &|it| serde_json::from_value::<Kind>(it).is_ok())
                    || unknown(encoding, &|it| serde_json::from_value::<BodyEncoding>(it).is_ok());
                if is_newer {
                    return Err(newer_version_error());
                }
                let message = "the entry's header can't be read";
                Err(Error::new(ErrorKind::Corrupt, message).with_source(error))
            }
        }
    }
}

fn newer_version_error() -> Error {
    Error::new(ErrorKind::TooNew, "the entry was made by a newer version of recoup")
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The state of an entry's source files before the work began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSources {
    /// Place where the files were examined; `None` without files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SnapshotPlace>,
    /// Each file once, in order of path.
    pub files: Vec<SourceFile>,
    /// The directories and globs among them: a file that matches one of these
    /// and is not listed above is a change too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<SourcePattern>,
    /// Sources of which only a time is known, in entries that other tools made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<TimedSources>,
}

/// Sources without a snapshot: unchanged if all of them last changed before that second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedSources {
    /// Seconds since 1970. A change within that second may have come after the
    /// result, so it counts as one.
    pub than: i64,
    /// Files, directories and globs, relative to the project's root or absolute.
    pub paths: Vec<String>,
}

/// A source that stands for several files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePattern {
    /// Directory or glob.
    pub kind: PatternKind,
    /// Relative to the project's root with `/`; absolute outside it.
    pub path: String,
    /// As the caller wrote it, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
}

/// Meaning of a pattern's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    /// All files below a directory, whatever characters its name has.
    Directory,
    /// All files that match.
    Glob,
}

/// A directory on a machine. Stat data mean something only there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotPlace {
    /// A fingerprint of the machine, not its name.
    pub machine: String,
    /// The root that relative paths start from.
    pub root: String,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative to the project's root with `/`; absolute outside it.
    pub path: String,
    /// As the caller wrote it, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of its contents.
    pub sha256: Sha256Digest,
    /// True if its owner may execute it; entries of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
    /// File-system metadata.
    pub stat: FileStat,
}

/// Metadata that shows a change without reading the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// Modified, in nanoseconds since 1970.
    pub mtime: i64,
    /// Inode changed, in nanoseconds since 1970.
    pub ctime: i64,
    /// Inode number.
    pub inode: u64,
    /// The file had changed so shortly before it was looked at that another
    /// change could carry the same times: they do not prove that it is the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub racy: bool,
}
