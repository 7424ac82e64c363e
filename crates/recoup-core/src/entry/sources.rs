//! The files that an entry was made from, as its header remembers them. How
//! they are taken and compared is policy, and lives in `cache/sources/`.

use serde::{Deserialize, Serialize};

use crate::base::digest::Sha256Digest;

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
