//! `rg --json`: one event per line and, with `2>&1`, error messages between them. A match is a
//! finding of the lowest severity.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{ToolReport, UNKNOWN, parse_object_line, pluralize};
use crate::base::text::decode_base64;
use crate::condense::finding::ReportFinding;
use crate::condense::json::{self, FieldValue};

const EVENTS: [&str; 4] = ["begin", "match", "context", "end"];

/// True if the value is an event of ripgrep: all but the summary have a path.
pub(super) fn is_event(raw: &RawValue) -> bool {
    let [kind, data] = json::pick(raw, ["type", "data"]);
    let (Some(kind), Some(data)) = (json::string(kind), data) else { return false };
    let [path, stats] = json::pick(data, ["path", "stats"]);
    if kind == "summary" {
        return stats.is_some_and(json::is_object);
    }
    EVENTS.contains(&&*kind) && path.is_some_and(|path| text(path).is_some())
}

pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> ToolReport<'a> {
    let (mut findings, mut files, mut finished, mut broken) = (Vec::new(), 0, false, false);
    for line in lines {
        let Some(event) = parse_object_line(line).filter(|raw| is_event(raw)) else {
            broken |= line.starts_with("{\"type\":");
            continue;
        };
        let [kind, data] = json::pick(event, ["type", "data"]);
        match json::string(kind).as_deref() {
            Some("match") => findings.extend(data.map(finding)),
            Some("begin") => files += 1,
            Some("summary") => finished = true,
            _ => {}
        }
    }
    // Files are searched in parallel, and reported in any order.
    findings
        .sort_by_cached_key(|found: &ReportFinding<'_>| found.file.as_ref().map(FieldValue::text));
    let found = findings.len();
    let matches = if found == 1 { "1 match".to_owned() } else { format!("{found} matches") };
    let whole = finished && !broken;
    let cut_off = if whole { "" } else { ", cut off" };
    ToolReport {
        verdict: match found {
            1.. => "FOUND",
            0 if whole => "NOT_FOUND",
            0 => UNKNOWN,
        },
        description: format!("{matches} in {}{cut_off}", pluralize(files, "file")),
        findings,
    }
}

fn finding(data: &RawValue) -> ReportFinding<'_> {
    let [path, lines, number] = json::pick(data, ["path", "lines", "line_number"]);
    ReportFinding {
        id: Some(FieldValue::from("match")),
        severity: Some(FieldValue::from("info")),
        file: path.and_then(text).map(FieldValue::Text),
        line: json::first_meaningful(&[number]).map(FieldValue::Json),
        message: lines.and_then(text).map(|line| Cow::Owned(line.trim().to_owned())),
    }
}

/// The text; bytes that are not UTF-8 are base64.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let [text, bytes] = json::pick(raw, ["text", "bytes"]);
    json::string(text).or_else(|| {
        let bytes = decode_base64(json::string(bytes)?.as_bytes(), usize::MAX)?;
        Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
    })
}
