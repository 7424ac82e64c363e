//! Selection of records by tag, operation or source path, and the marks by which stores evaluate it
//! without reading headers.

use globset::GlobSet;

use crate::base::glob::{self, SlashMatching};
use crate::entry::{Header, RecordedSources};
use crate::error::Result;
use crate::key::KeyPart;

/// Criteria that select entries; all given ones must match. An empty selection matches nothing.
#[derive(Debug, Clone, Default)]
pub struct EntrySelection {
    paths: Option<GlobSet>,
    tag: Option<String>,
    operation: Option<String>,
}

impl EntrySelection {
    /// A selection by the given criteria; `None` if there are none.
    pub fn from_criteria(
        paths: Option<&str>,
        tag: Option<&str>,
        operation: Option<&str>,
    ) -> Result<Option<Self>> {
        if paths.is_none() && tag.is_none() && operation.is_none() {
            return Ok(None);
        }
        let mut selection = Self::default();
        if let Some(glob) = paths {
            selection = selection.with_paths(glob)?;
        }
        if let Some(tag) = tag {
            selection = selection.with_tag(tag);
        }
        if let Some(operation) = operation {
            selection = selection.with_operation(operation);
        }
        Ok(Some(selection))
    }

    /// Selects entries with a source that matches `glob`, in which `*` also crosses `/`.
    pub fn with_paths(mut self, glob: &str) -> Result<Self> {
        self.paths = Some(glob::compile_glob(glob, SlashMatching::IsCrossed)?);
        Ok(self)
    }

    /// Selects entries with that tag.
    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> Self {
        self.tag = Some(tag.to_owned());
        self
    }

    /// Selects entries whose key was made with that operation.
    #[must_use]
    pub fn with_operation(mut self, operation: &str) -> Self {
        self.operation = Some(operation.to_owned());
        self
    }

    /// True if a record with this header matches.
    pub(crate) fn selects(&self, header: &Header) -> bool {
        self.selects_marks(MarkSet::of(header).as_str())
    }

    /// True if a record with the marks in `text` (see [`MarkSet`]) matches.
    pub(super) fn selects_marks(&self, text: &str) -> bool {
        let Self { paths, tag, operation } = self;
        let marks = text.split(END).filter_map(|mark| mark.split_at_checked(1));
        let any = |sign: &str, is_meant: &dyn Fn(&str) -> bool| {
            marks.clone().any(|(own, value)| own == sign && is_meant(value))
        };
        (paths.is_some() || tag.is_some() || operation.is_some())
            && tag.as_ref().is_none_or(|tag| any(TAG, &|own| own == tag))
            && operation.as_ref().is_none_or(|name| {
                let wanted = KeyPart::hidden("operation", name).digest.to_hex();
                any(OPERATION, &|own| own == wanted)
            })
            && paths.as_ref().is_none_or(|glob| any(SOURCE, &|own| glob.is_match(own)))
    }
}

/// The marks of a record, as one text: tags, the operation of its key and the paths of its sources,
/// as stored and as given. Records with equal marks share one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MarkSet(String);

const TAG: &str = "t";
const OPERATION: &str = "o";
const SOURCE: &str = "s";
/// Terminator of each mark: no path contains it.
const END: char = '\0';

impl MarkSet {
    pub(super) fn of(header: &Header) -> Self {
        let RecordedSources { files, patterns, older, place: _ } = &header.sources;
        let files = files.iter().flat_map(|file| [Some(&file.path), file.given.as_ref()]);
        let patterns = patterns.iter().flat_map(|it| [Some(&it.path), it.given.as_ref()]);
        let undated = older.iter().flat_map(|older| older.paths.iter().map(Some));
        let operations = header.parts.iter().filter(|part| part.name == "operation");
        let mut text = String::new();
        let mut add = |sign: &str, value: &str| text.extend([sign, value, "\0"]);
        for tag in &header.tags {
            add(TAG, tag);
        }
        for part in operations {
            add(OPERATION, &part.digest.to_hex());
        }
        for path in files.chain(patterns).chain(undated).flatten() {
            add(SOURCE, path);
        }
        Self(text)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}
