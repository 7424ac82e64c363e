//! One finding: id, severity, place and message. Made from an object with any of the field names
//! that tools use, or by the reader of a tool's report. The words of different tools for a severity
//! are mapped to four levels, so that findings can be ranked and counted.

use std::borrow::Cow;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{self, FieldValue};

/// Maximum length of a message, in characters.
const MESSAGE_MOST: usize = 100;

/// One item of a list of findings.
#[derive(Debug, Clone, Default)]
pub(super) struct ReportFinding<'a> {
    pub(super) id: Option<FieldValue<'a>>,
    pub(super) severity: Option<FieldValue<'a>>,
    pub(super) file: Option<FieldValue<'a>>,
    pub(super) line: Option<FieldValue<'a>>,
    pub(super) message: Option<Cow<'a, str>>,
}

impl<'a> ReportFinding<'a> {
    /// Reads an object with the usual fields, or a string that is a message.
    pub(super) fn of(raw: &'a RawValue) -> Self {
        if json::is_string(raw) {
            return Self { message: Some(json::text(raw)), ..Self::default() };
        }
        #[rustfmt::skip]
        let names = [
            "id", "finding_id", "name", "severity", "level", "file", "path", "location", "line",
            "line_number", "message", "description", "title",
        ];
        let [id, finding_id, name, severity, level, rest @ ..] = json::pick(raw, names);
        let [file, path, location, line, line_number, message, description, title] = rest;
        let place = FindingPlace::of(&[file, path, location], &[line, line_number]);
        Self {
            id: json::first_meaningful(&[id, finding_id, name]).map(FieldValue::Json),
            severity: json::first_meaningful(&[severity, level]).map(FieldValue::Json),
            file: place.file.map(FieldValue::Json),
            line: place.line.map(FieldValue::Json),
            // A message is a text, or an object that contains one.
            message: json::first_meaningful(&[message, description, title]).map(|raw| {
                json::string(json::field(raw, "text")).unwrap_or_else(|| json::text(raw))
            }),
        }
    }

    pub(super) fn severity(&self) -> FindingSeverity {
        self.severity
            .as_ref()
            .map_or(FindingSeverity::Medium, |word| FindingSeverity::of(&word.text()))
    }

    /// `path:line`; `None` without a path.
    pub(super) fn identifier(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        let line = self.line.as_ref().map_or(Cow::Borrowed("0"), FieldValue::text);
        Some(format!("{}:{line}", file.text()))
    }
}

/// File and line, from two fields or from an object.
#[derive(Debug, Default)]
pub(super) struct FindingPlace<'a> {
    pub(super) file: Option<&'a RawValue>,
    pub(super) line: Option<&'a RawValue>,
}

impl<'a> FindingPlace<'a> {
    pub(super) fn of(files: &[Option<&'a RawValue>], lines: &[Option<&'a RawValue>]) -> Self {
        let is_path_or_object = |raw: &RawValue| is_path_or_number(raw) || json::is_object(raw);
        let (file, line) = (first(files, is_path_or_object), first(lines, is_path_or_number));
        let Some(object) = file.filter(|raw| json::is_object(raw)) else {
            return Self { file, line };
        };
        let [file, path, uri, inner, number, start_line] =
            json::pick(object, ["file", "path", "uri", "line", "line_number", "start_line"]);
        Self {
            file: first(&[file, path, uri], is_path_or_number),
            line: line.or_else(|| first(&[inner, number, start_line], is_path_or_number)),
        }
    }
}

fn first<'a>(
    candidates: &[Option<&'a RawValue>],
    fits: impl Fn(&RawValue) -> bool,
) -> Option<&'a RawValue> {
    candidates.iter().copied().flatten().find(|raw| fits(raw))
}

/// True if the value can be used in `path:line`.
fn is_path_or_number(raw: &RawValue) -> bool {
    json::is_number(raw) || (json::is_string(raw) && raw.get() != "\"\"")
}

/// The first `most` characters.
pub(super) fn truncate_chars(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// The form in `top_findings`: only the fields that the input has.
impl Serialize for ReportFinding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, severity, file, line, message } = self;
        let mut fields = serializer.serialize_map(None)?;
        for (name, value) in [("id", id), ("severity", severity), ("file", file), ("line", line)] {
            if let Some(value) = value.as_ref().filter(|value| !value.text().is_empty()) {
                fields.serialize_entry(name, value)?;
            }
        }
        if let Some(message) = message.as_deref().filter(|message| !message.is_empty()) {
            fields.serialize_entry("message", truncate_chars(message, MESSAGE_MOST))?;
        }
        fields.end()
    }
}

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

#[rustfmt::skip]
const LOW_WORDS: &[&str] = &[
    "low", "minor", "note", "notice", "info", "informational", "information", "hint", "help", "none",
];

const SEVERITY_WORDS: [(FindingSeverity, &[&str]); 4] = [
    (FindingSeverity::Critical, &["critical", "crit", "blocker", "fatal", "emergency"]),
    (
        FindingSeverity::High,
        &["high", "error", "err", "major", "severe", "important", "failed", "failure"],
    ),
    (FindingSeverity::Medium, &["medium", "moderate", "warning", "warn"]),
    (FindingSeverity::Low, LOW_WORDS),
];

impl FindingSeverity {
    /// Number of ranks.
    pub(super) const RANKS: usize = 4;

    /// The severity for a tool's word.
    pub(super) fn of(word: &str) -> Self {
        let word = word.trim();
        let known = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        let found = SEVERITY_WORDS.iter().find(|(_, words)| known(words));
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
