//! One finding: id, severity, place and message. Made from an object with any of the field names
//! that tools use, or by the reader of a tool's report.

use std::borrow::Cow;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{self, FieldValue};
use super::severity::FindingSeverity;

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
        let names = [
            "id",
            "finding_id",
            "name",
            "severity",
            "level",
            "file",
            "path",
            "location",
            "line",
            "line_number",
            "message",
            "description",
            "title",
        ];
        let [id, finding_id, name, severity, level, rest @ ..] = json::pick(raw, names);
        let [file, path, location, line, line_number, message, description, title] = rest;
        let place = FindingPlace::of(&[file, path, location], &[line, line_number]);
        Self {
            id: json::first_meaningful(&[id, finding_id, name]).map(FieldValue::Json),
            severity: json::first_meaningful(&[severity, level]).map(FieldValue::Json),
            file: place.file.map(FieldValue::Json),
            line: place.line.map(FieldValue::Json),
            message: json::first_meaningful(&[message, description, title]).map(message_text),
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

fn is_path_or_object(raw: &RawValue) -> bool {
    is_path_or_number(raw) || json::is_object(raw)
}

/// A message is a text, or an object that contains one.
fn message_text(raw: &RawValue) -> Cow<'_, str> {
    json::string(json::field(raw, "text")).unwrap_or_else(|| json::text(raw))
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
