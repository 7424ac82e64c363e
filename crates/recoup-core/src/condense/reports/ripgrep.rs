//! `rg --json`: one event on each line. A match is a finding of no gravity.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Report, counted, line};
use crate::base::base64;
use crate::condense::finding::Finding;
use crate::condense::json::{self, Field};
use crate::error::Result;

const EVENTS: [&str; 5] = ["begin", "match", "context", "end", "summary"];

/// Whether ripgrep writes such lines.
pub(super) fn is_event(raw: &RawValue) -> bool {
    let [kind, data] = json::pick(raw, ["type", "data"]);
    json::string(kind).is_some_and(|kind| EVENTS.contains(&&*kind))
        && data.is_some_and(json::is_object)
}

pub(super) fn read<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Report<'a>> {
    let (mut findings, mut files) = (Vec::new(), 0);
    for (number, text) in lines {
        let [kind, data] = json::pick(line(number, text)?, ["type", "data"]);
        match json::string(kind).as_deref() {
            Some("match") => findings.extend(data.map(finding)),
            Some("begin") => files += 1,
            _ => {}
        }
    }
    // Files are searched side by side, and come in any order.
    findings.sort_by_cached_key(|found: &Finding<'_>| found.file.as_ref().map(Field::text));
    let found = findings.len();
    let matches = if found == 1 { "1 match".to_owned() } else { format!("{found} matches") };
    Ok(Report {
        verdict: if found > 0 { "FOUND" } else { "NOT_FOUND" },
        description: format!("{matches} in {}", counted(files, "file")),
        findings,
    })
}

fn finding(data: &RawValue) -> Finding<'_> {
    let [path, lines, number] = json::pick(data, ["path", "lines", "line_number"]);
    Finding {
        id: Some(Field::from("match")),
        severity: Some(Field::from("info")),
        file: path.and_then(text).map(Field::Text),
        line: json::first(&[number]).map(Field::Json),
        message: lines.and_then(text).map(|line| Cow::Owned(line.trim().to_owned())),
    }
}

/// Text is text, and what is no UTF-8 is base64.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let [text, bytes] = json::pick(raw, ["text", "bytes"]);
    json::string(text).or_else(|| {
        let bytes = base64::decode(json::string(bytes)?.as_bytes(), usize::MAX)?;
        Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
    })
}
