//! What was done, for people and programs.

use std::path::{Path, PathBuf};

use recoup_core::Error;
use recoup_core::memory::mirror::INDEX;
use serde::{Serialize, Serializer};

use super::register::Sort;

/// What became of everything.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Files that were written or removed.
    pub(crate) changes: Vec<Change>,
    /// Files that are as they were, though something else is wanted there.
    pub(crate) left: Vec<Left>,
    /// Why something was not done that was asked for.
    pub(crate) remarks: Vec<String>,
    /// What went wrong.
    pub(crate) faults: Vec<Fault>,
    /// Files that we wrote and that somebody has deleted since, in projects that are still there.
    #[serde(skip)]
    pub(crate) missed: Vec<PathBuf>,
    /// Files that git publishes.
    #[serde(skip)]
    pub(super) published: Vec<PathBuf>,
}

/// A file that is left as it is.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) path: PathBuf,
    pub(crate) why: Why,
}

/// Why it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Somebody has changed what we wrote.
    Changed,
    /// It was never ours.
    NotOurs,
    /// Somebody has changed lines of ours in it; the rest is done.
    Lines,
}

impl Serialize for Left {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        shown(&self.path, serializer)
    }
}

/// A file or a place that could not be brought in step, or not wholly.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    #[serde(serialize_with = "shown")]
    pub(crate) dir: PathBuf,
    pub(crate) why: String,
}

impl Fault {
    pub(super) fn new(dir: PathBuf, error: &Error) -> Self {
        Self { dir, why: error.to_string() }
    }
}

/// One file.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    #[serde(serialize_with = "shown")]
    pub(crate) path: PathBuf,
    pub(crate) did: Did,
    #[serde(skip)]
    pub(crate) of: Part,
}

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Did {
    Written,
    Removed,
}

/// What a file is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Rule,
    Skill,
    /// An index, a manifest, or what hides others.
    Around,
}

impl Part {
    pub(super) fn of(sort: Sort, name: &str) -> Self {
        match sort {
            Sort::Rules if name != INDEX => Self::Rule,
            Sort::Skills if name.ends_with("/SKILL.md") => Self::Skill,
            _ => Self::Around,
        }
    }
}

impl Report {
    /// Whether something of ours stays after all was to go.
    pub(crate) fn leaves_some(&self) -> bool {
        self.left.iter().any(|left| left.why != Why::NotOurs) || !self.faults.is_empty()
    }

    /// How many rules and skills it is about.
    pub(crate) fn count(&self) -> usize {
        self.changes.iter().filter(|change| change.of != Part::Around).count()
    }

    /// One line for a person; none where nothing has changed.
    pub(crate) fn notice(&self) -> Option<String> {
        let count = |part| self.changes.iter().filter(|change| change.of == part).count();
        let some = |count, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {one}s")),
        };
        let parts = [some(count(Part::Rule), "rule"), some(count(Part::Skill), "skill")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty())
            .then(|| format!("updated {} in the files that Claude Code reads", parts.join(" and ")))
    }
}

/// A path as it can be told, also where it is no UTF-8.
fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
