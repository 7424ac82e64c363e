//! Our lines in files that belong to someone else: which are ours, and how they are replaced. Ours
//! are those that we wrote, and in an index those about our files.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::mirror::{SplicedIndex, rule_line_end, splice_index};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};

use super::LARGEST_FILE;
use super::register::MirrorPlace;
use super::report::{MirrorAction, MirrorChange, MirrorPart};

/// A planned change to our lines in a file that belongs to someone else.
#[derive(Debug)]
pub(super) struct FileSplice {
    pub(super) path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

impl FileSplice {
    /// Plans a change; none if the content stays the same.
    pub(super) fn of(path: PathBuf, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Result<Option<Self>> {
        fsx::is_real_dir(fsx::parent(&path))?;
        if path.is_symlink() {
            let message =
                format!("{} is a symbolic link: recoup does not write through it", path.display());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let before = fsx::read_regular(&path, LARGEST_FILE)?;
        let after = change(before.as_deref().unwrap_or_default());
        let same = before.as_deref().unwrap_or_default() == after;
        Ok((!same).then_some(Self { path, before, after }))
    }

    /// True if this creates the file.
    pub(super) fn creates_file(&self) -> bool {
        self.before.is_none()
    }

    /// True if this empties a file that we created.
    fn removes_file(&self, place: &MirrorPlace) -> bool {
        self.after.is_empty() && place.spliced.get(&self.path) == Some(&true)
    }

    /// The change, for a report.
    pub(super) fn to_change(&self, place: &MirrorPlace) -> MirrorChange {
        let did =
            if self.removes_file(place) { MirrorAction::Removed } else { MirrorAction::Written };
        MirrorChange { path: self.path.clone(), did, of: MirrorPart::Around }
    }

    /// Writes the file, unless it has changed since it was read: then an error asks to try again.
    pub(super) fn apply(&self, place: &MirrorPlace) -> Result<()> {
        let path = &self.path;
        if fsx::read_regular(path, LARGEST_FILE)? != self.before {
            let message =
                format!("{} was changed by another program just now; try again", path.display());
            return Err(Error::new(ErrorKind::Locked, message));
        }
        if self.removes_file(place) {
            return fsx::remove(path).map(drop);
        }
        fsx::ensure_dir(fsx::parent(path))?;
        fsx::write_output(path, &self.after)
    }
}

/// The lines of an index that are ours.
#[derive(Debug)]
pub(super) struct OwnIndexLines {
    written: HashSet<Sha256Digest>,
    /// Endings of lines about files that are unchanged since we wrote them.
    tails: Vec<String>,
}

impl OwnIndexLines {
    pub(super) fn of(place: &MirrorPlace) -> Self {
        let tails = unchanged_files(place).filter_map(|(name, text)| rule_line_end(name, &text));
        Self { written: place.lines.iter().copied().collect(), tails: tails.collect() }
    }

    /// Replaces our lines in an index by these.
    pub(super) fn splice(&self, index: &[u8], lines: &[String]) -> SplicedIndex {
        splice_index(index, lines, |line| self.contains(line))
    }

    /// An index without our lines.
    pub(super) fn without_ours(&self, index: &[u8]) -> Vec<u8> {
        self.splice(index, &[]).bytes
    }

    fn contains(&self, line: &str) -> bool {
        let is_of_file = || self.tails.iter().any(|tail| line.ends_with(tail));
        line.starts_with("- [") && is_of_file() || self.written.contains(&line_digest(line))
    }
}

/// The digest under which a line is registered.
pub(super) fn line_digest(line: &str) -> Sha256Digest {
    Sha256Digest::of(line.as_bytes())
}

/// The statements in a place's unchanged files.
pub(super) fn written_statements(place: &MirrorPlace) -> HashSet<String> {
    let texts = unchanged_files(place).map(|(_, text)| text);
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    texts.flat_map(lines).filter(|line| line.starts_with("- ")).collect()
}

/// The files of a place that are unchanged since we wrote them.
fn unchanged_files(place: &MirrorPlace) -> impl Iterator<Item = (&str, String)> {
    place.files.iter().filter_map(|(name, known)| {
        let file = fsx::read_regular(&place.dir.join(name), LARGEST_FILE).ok()??;
        let is_ours = known.contains(&Sha256Digest::of(&file));
        is_ours.then(|| String::from_utf8(file).ok().map(|text| (name.as_str(), text)))?
    })
}
