//! Severity of findings. The words of different tools are mapped to four levels, so that findings
//! can be ranked and counted.

use serde_json::value::RawValue;

use super::json;

/// Severity levels, most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingSeverity {
    Critical,
    High,
    Medium,
    Low,
    /// An unknown word.
    Other,
}

const WORDS: [(FindingSeverity, &[&str]); 4] = [
    (FindingSeverity::Critical, &["critical", "crit", "blocker", "fatal", "emergency"]),
    (
        FindingSeverity::High,
        &["high", "error", "err", "major", "severe", "important", "failed", "failure"],
    ),
    (FindingSeverity::Medium, &["medium", "moderate", "warning", "warn"]),
    (
        FindingSeverity::Low,
        &[
            "low",
            "minor",
            "note",
            "notice",
            "info",
            "informational",
            "information",
            "hint",
            "help",
            "none",
        ],
    ),
];

impl FindingSeverity {
    /// Number of ranks.
    pub(super) const RANKS: usize = 4;

    /// The severity for a tool's word.
    pub(super) fn of(word: &str) -> Self {
        let word = word.trim();
        let known = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        let found = WORDS.iter().find(|(_, words)| known(words));
        found.map_or(Self::Other, |(severity, _)| *severity)
    }

    /// The severity for a CVSS score from 0 to 10.
    pub(super) fn of_score(score: f64) -> Self {
        match score {
            _ if score >= 9.0 => Self::Critical,
            _ if score >= 7.0 => Self::High,
            _ if score >= 4.0 => Self::Medium,
            _ => Self::Low,
        }
    }

    /// Sort rank, most severe first. An unknown word may mean anything: it ranks in the middle.
    pub(super) fn rank(self) -> usize {
        match self {
            Self::Critical => 0,
            Self::High => 1,
            Self::Medium | Self::Other => 2,
            Self::Low => 3,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Other => "other",
        }
    }
}

/// Number of findings per severity.
#[derive(Debug, Default)]
pub(super) struct SeverityCounts([usize; 5]);

impl SeverityCounts {
    pub(super) fn add(&mut self, severity: FindingSeverity) {
        self.0[severity as usize] += 1;
    }

    /// `{"critical":0,…}`: the four levels always, others if there are any.
    pub(super) fn to_json(&self) -> String {
        use FindingSeverity::{Critical, High, Low, Medium, Other};
        let named = |severity: FindingSeverity| {
            let count = self.0[severity as usize];
            (severity != Other || count > 0).then(|| format!("\"{}\":{count}", severity.name()))
        };
        let counts: Vec<_> =
            [Critical, High, Medium, Low, Other].into_iter().filter_map(named).collect();
        format!("{{{}}}", counts.join(","))
    }
}

/// The counts that the input itself declares, if they are an object.
pub(super) fn declared_counts(counts: Option<&RawValue>) -> Option<String> {
    counts.filter(|raw| json::is_object(raw)).map(|raw| raw.get().to_owned())
}
