//! Which records are meant by a tag, an operation or a path, and what is kept of a record to
//! find that out without reading its header.

use globset::GlobSet;

use crate::base::glob::{self, Slash};
use crate::entry::{Header, Sources};
use crate::error::Result;
use crate::key::Part;

/// Which entries are meant. All that is given must be true of an entry; what is
/// empty means none, never all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    paths: Option<GlobSet>,
    tag: Option<String>,
    operation: Option<String>,
}

impl Selection {
    /// Entries that have all that is given; none where nothing is.
    pub fn of(
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

    /// Entries with a source that matches `glob`, in which `*` also crosses `/`.
    pub fn with_paths(mut self, glob: &str) -> Result<Self> {
        self.paths = Some(glob::compile(glob, Slash::IsCrossed)?);
        Ok(self)
    }

    /// Entries with that tag.
    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> Self {
        self.tag = Some(tag.to_owned());
        self
    }

    /// Entries whose key was made with that operation, and says so.
    #[must_use]
    pub fn with_operation(mut self, operation: &str) -> Self {
        self.operation = Some(operation.to_owned());
        self
    }

    /// True if a record with this header is meant.
    pub(crate) fn selects(&self, header: &Header) -> bool {
        self.selects_marks(MarkSet::of(header).as_str())
    }

    /// The same for the text of a [`MarkSet`].
    pub(super) fn selects_marks(&self, text: &str) -> bool {
        let Self { paths, tag, operation } = self;
        let marks = text.split(END).filter_map(|mark| mark.split_at_checked(1));
        let any = |sign: &str, is_meant: &dyn Fn(&str) -> bool| {
            marks.clone().any(|(own, value)| own == sign && is_meant(value))
        };
        (paths.is_some() || tag.is_some() || operation.is_some())
            && tag.as_ref().is_none_or(|tag| any(TAG, &|own| own == tag))
            && operation.as_ref().is_none_or(|name| {
                let wanted = Part::hidden("operation", name).digest.to_hex();
                any(OPERATION, &|own| own == wanted)
            })
            && paths.as_ref().is_none_or(|glob| any(SOURCE, &|own| glob.is_match(own)))
    }
}

/// The marks that select a record, as one text: tags, the operation of its key and the paths
/// of its sources, as they are kept and as they were given. Records that have all of it in
/// common share one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MarkSet(String);

const TAG: &str = "t";
const OPERATION: &str = "o";
const SOURCE: &str = "s";
/// Ends each mark: no path contains it.
const END: char = '\0';

impl MarkSet {
    pub(super) fn of(header: &Header) -> Self {
        let Sources { files, patterns, older, place: _ } = &header.sources;
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
