//! Recognizes our lines in an index: those that we wrote, and those about our files.

use std::collections::HashSet;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::memory::mirror::{SplicedIndex, rule_line_end, splice_index};

use super::register::MirrorPlace;

/// Larger than any file of ours.
const LARGEST: u64 = 1 << 20;

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
        let file = fsx::read_regular(&place.dir.join(name), LARGEST).ok()??;
        let is_ours = known.contains(&Sha256Digest::of(&file));
        is_ours.then(|| String::from_utf8(file).ok().map(|text| (name.as_str(), text)))?
    })
}
