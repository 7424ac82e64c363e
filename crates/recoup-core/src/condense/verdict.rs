//! `structured_verdict`: verdict, severity counts and the most severe findings.

use super::document::Document;
use super::finding::Finding;
use super::output::Condensed;
use super::severity::{self, Counts, Severity};

pub(super) fn condense(document: &Document<'_>, top: usize) -> Condensed {
    let mut gravest = Gravest::new(top);
    let mut counts = Counts::default();
    document.findings(|finding| {
        let severity = finding.severity();
        counts.add(severity);
        gravest.offer(severity, finding);
    });
    let mut condensed = Condensed::default();
    condensed.set("verdict", &document.verdict());
    let given = severity::given(document.severity_counts());
    condensed.set_json("severity_counts", given.unwrap_or_else(|| counts.to_json()));
    condensed.set("top_findings", &gravest.into_list());
    condensed
}

/// The most severe findings; among equals the first ones.
struct Gravest<'a> {
    most: usize,
    /// By rank, at most `most` of each.
    found: [Vec<Finding<'a>>; Severity::RANKS],
}

impl<'a> Gravest<'a> {
    fn new(most: usize) -> Self {
        Self { most, found: Default::default() }
    }

    fn offer(&mut self, severity: Severity, finding: Finding<'a>) {
        let equals = &mut self.found[severity.rank()];
        if equals.len() < self.most {
            equals.push(finding);
        }
    }

    fn into_list(self) -> Vec<Finding<'a>> {
        self.found.into_iter().flatten().take(self.most).collect()
    }
}
