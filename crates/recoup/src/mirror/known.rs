//! Recognizes our lines in an index: those that we wrote, and those about our files.

use std::collections::HashSet;

use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::memory::mirror::{Spliced, rule_tail, spliced};

use super::register::Place;

/// Larger than any file of ours.
const LARGEST: u64 = 1 << 20;

/// The lines of an index that are ours.
#[derive(Debug)]
pub(super) struct Lines {
    written: HashSet<Digest>,
    /// Endings of lines about files that are unchanged since we wrote them.
    tails: Vec<String>,
}

impl Lines {
    pub(super) fn of(place: &Place) -> Self {
        let tails = ours(place).filter_map(|(name, text)| rule_tail(name, &text));
        Self { written: place.lines.iter().copied().collect(), tails: tails.collect() }
    }

    /// Replaces our lines in an index by these.
    pub(super) fn splice(&self, index: &[u8], lines: &[String]) -> Spliced {
        spliced(index, lines, |line| self.have(line))
    }

    /// An index without our lines.
    pub(super) fn rest_of(&self, index: &[u8]) -> Vec<u8> {
        self.splice(index, &[]).bytes
    }

    fn have(&self, line: &str) -> bool {
        let is_of_file = || self.tails.iter().any(|tail| line.ends_with(tail));
        line.starts_with("- [") && is_of_file() || self.written.contains(&digest(line))
    }
}

/// The digest under which a line is registered.
pub(super) fn digest(line: &str) -> Digest {
    Digest::of(line.as_bytes())
}

/// The statements in a place's unchanged files.
pub(super) fn statements(place: &Place) -> HashSet<String> {
    let texts = ours(place).map(|(_, text)| text);
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    texts.flat_map(lines).filter(|line| line.starts_with("- ")).collect()
}

/// The files of a place that are unchanged since we wrote them.
fn ours(place: &Place) -> impl Iterator<Item = (&str, String)> {
    place.files.iter().filter_map(|(name, known)| {
        let file = fsx::read_regular(&place.dir.join(name), LARGEST).ok()??;
        let is_ours = known.contains(&Digest::of(&file));
        is_ours.then(|| String::from_utf8(file).ok().map(|text| (name.as_str(), text)))?
    })
}
