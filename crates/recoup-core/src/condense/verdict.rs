//! `structured_verdict`: verdict, severity counts and the most severe findings.

use super::document::InputDocument;
use super::finding::ReportFinding;
use super::output::CondensedResult;
use super::severity::{self, FindingSeverity, SeverityCounts};

pub(super) fn condense(document: &InputDocument<'_>, top: usize) -> CondensedResult {
    let mut gravest = TopFindings::new(top);
    let mut counts = SeverityCounts::default();
    document.findings(|finding| {
        let severity = finding.severity();
        counts.add(severity);
        gravest.offer(severity, finding);
    });
    let mut condensed = CondensedResult::default();
    condensed.set("verdict", &document.verdict());
    let given = severity::declared_counts(document.severity_counts());
    condensed.set_json("severity_counts", given.unwrap_or_else(|| counts.to_json()));
    condensed.set("top_findings", &gravest.into_list());
    condensed
}

/// The most severe findings; among equals the first ones.
struct TopFindings<'a> {
    most: usize,
    /// By rank, at most `most` of each.
    found: [Vec<ReportFinding<'a>>; FindingSeverity::RANKS],
}

impl<'a> TopFindings<'a> {
    fn new(most: usize) -> Self {
        Self { most, found: Default::default() }
    }

    fn offer(&mut self, severity: FindingSeverity, finding: ReportFinding<'a>) {
        let equals = &mut self.found[severity.rank()];
        if equals.len() < self.most {
            equals.push(finding);
        }
    }

    fn into_list(self) -> Vec<ReportFinding<'a>> {
        self.found.into_iter().flatten().take(self.most).collect()
    }
}
